// How an agent becomes a node of a cluster by --server and --token: it finds out whom to trust, checks that no other machine
// has its name, and asks for a client certificate with the token; afterwards the kubeconfig in its directory is all it
// needs, and the token is not looked at again.
import { existsSync, rmSync } from "node:fs";
import * as path from "node:path";
import type { Logger } from "pino";
import { bootstrapClientCertificate } from "../../agent/certificates/client-certificate.ts";
import { systemClock } from "../../api/clock.ts";
import { trimEnd } from "../../api/patterns/trim.ts";
import { ApiError, isNotFound } from "../../api/errors.ts";
import { findCondition } from "../../api/objects/conditions.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import { createHttpTransport } from "../../client/http-transport.ts";
import {
  loadKubeconfig,
  type KubeconfigConnection,
} from "../../client/kubeconfig.ts";
import { nodes } from "../../client/resources.ts";
import { writePrivateFile } from "../../http-kit/certificates/private-files.ts";
import { UsageError } from "../options/table.ts";
import { checkPin, parseToken, tokenText } from "./bootstrap-token.ts";
import { discoverCluster } from "./discovery.ts";

export interface JoinOptions {
  readonly servers: readonly string[];
  /** Undefined: only for a machine that has joined before. */
  readonly token: string | undefined;
  readonly pins: readonly string[];
  /** Trust any authority that the token vouches for. */
  readonly unsafeWithoutPin: boolean;
  readonly nodeName: string;
  readonly kubeconfig: string;
  readonly certificateDirectory: string;
  readonly logger: Logger;
}

/** Where the authority of the cluster is kept, for the agent's own port. */
function authorityFile(certificateDirectory: string): string {
  return path.join(certificateDirectory, "cluster-ca.crt");
}

/** @throws UsageError for what is not an https URL */
export function serverUrls(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const url = text.includes("://") ? text : `https://${text}`;
    if (!URL.canParse(url) || !url.startsWith("https://"))
      throw new UsageError(
        `invalid argument "${text}" for "--server": must be an https URL`,
      );
    return trimEnd(url, "/");
  });
}

async function withClient<T>(
  connection: KubeconfigConnection,
  logger: Logger,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(createHttpTransport({ ...connection, logger }), {
    clock: systemClock,
    logger,
  });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function inUse(node: Node, sinceMs: number): boolean {
  const ready = findCondition(node.status?.conditions, "Ready");
  return (
    ready?.status === "True" ||
    Date.parse(node.metadata.creationTimestamp ?? "") > sinceMs
  );
}

/**
 * Refuses a name that a node has which is Ready, or that was registered while this one joined: it is another machine's.
 * A node that is not Ready may be this machine before its directory was lost.
 */
async function checkName(
  connection: KubeconfigConnection,
  { nodeName, logger }: JoinOptions,
  sinceMs: number,
): Promise<void> {
  await withClient(connection, logger, async (client) => {
    const node = await client
      .resource(nodes)
      .get(nodeName)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (node && inUse(node, sinceMs))
      throw new UsageError(
        `--hostname-override: the cluster has a node with the name "${nodeName}": give this one another name, or delete that node (orbitctl delete node ${nodeName}) when it is gone`,
      );
  });
}

/** A refusal of the token's permissions is the user's to fix; what else fails is tried again. */
function tokenProblem(error: unknown): Error | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.reason === "Unauthorized")
    return new UsageError(
      "--token: the API server does not accept the token: it was deleted or has expired, or the API server runs without --enable-bootstrap-token-auth",
    );
  if (error.reason === "Forbidden")
    return new UsageError(
      `--token: the token may not be used to join: ${error.message}`,
    );
  return undefined;
}

async function refusing<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw tokenProblem(error) ?? error;
  });
}

/** Resolves when the kubeconfig is there. @throws UsageError, DependencyError */
export async function joinCluster(options: JoinOptions): Promise<void> {
  const { kubeconfig, certificateDirectory, nodeName, logger } = options;
  if (existsSync(kubeconfig)) return;
  if (options.token === undefined)
    throw new UsageError(
      `--server needs --token the first time: this machine has not joined yet (there is no ${kubeconfig})`,
    );
  const token = parseToken(options.token);
  const pins = options.pins.map(checkPin);
  if (pins.length === 0 && !options.unsafeWithoutPin)
    throw new UsageError(
      "--token needs --discovery-token-ca-cert-hash, by which the cluster's authority is recognized (orbit token create --print-join-command prints it), or --discovery-token-unsafe-skip-ca-verification",
    );
  const startedMs = systemClock.now();
  const { server, authority } = await discoverCluster({
    servers: options.servers,
    token,
    pins,
    logger,
  });
  const connection: KubeconfigConnection = {
    server,
    namespace: "default",
    tls: { ca: authority },
    token: tokenText(token),
  };
  await refusing(checkName(connection, options, startedMs));
  writePrivateFile(authorityFile(certificateDirectory), authority);
  await bootstrapClientCertificate(connection, kubeconfig, {
    nodeName,
    directory: certificateDirectory,
    clock: systemClock,
    logger,
    giveUp: tokenProblem,
  });
  try {
    await checkName(
      await loadKubeconfig({ path: kubeconfig }),
      options,
      startedMs,
    );
  } catch (error) {
    if (error instanceof UsageError) rmSync(kubeconfig, { force: true });
    throw error;
  }
  logger.info({ server, node: nodeName }, "joined the cluster");
}
