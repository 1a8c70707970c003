// How a joining node comes to trust a cluster, as kubeadm does it: it reads the ConfigMap cluster-info without credentials
// and without trust, checks that the token's secret signed it and that the authority in it is the one of the pin, and reads
// it again over a connection that this authority vouches for.
// Invariant: the token's secret never leaves this machine here, and nothing is believed before both checks.
import { load } from "js-yaml";
import type { Logger } from "pino";
import { ApiError } from "../../api/errors.ts";
import { splitCertificates } from "../../api/pki/pem.ts";
import { verifyDetached } from "../../api/pki/detached-jws.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import type { TlsOptions } from "../../client/http-pools.ts";
import { createHttpTransport } from "../../client/http-transport.ts";
import { configMaps } from "../../client/resources.ts";
import { DependencyError, UsageError } from "../options/table.ts";
import { authorityPin, type BootstrapToken } from "./bootstrap-token.ts";

const answerTimeoutMs = 10_000;

interface Discovery {
  /** The first of the servers that answered. */
  readonly server: string;
  /** PEM bundle. */
  readonly authority: string;
}

interface DiscoveryOptions {
  readonly servers: readonly string[];
  readonly token: BootstrapToken;
  /** Empty: any authority that the token vouches for. */
  readonly pins: readonly string[];
  readonly logger: Logger;
}

async function clusterInfo(
  server: string,
  tls: TlsOptions,
  logger: Logger,
): Promise<Readonly<Record<string, string>>> {
  const transport = createHttpTransport({
    server,
    tls,
    requestTimeoutMs: answerTimeoutMs,
    logger,
  });
  try {
    const { data = {} } = (await transport.request({
      verb: "get",
      resource: configMaps,
      namespace: "kube-public",
      name: "cluster-info",
    })) as ConfigMap;
    return data;
  } finally {
    await transport.close();
  }
}

/** Of the first cluster; undefined: the text is no such kubeconfig. */
function authorityOf(kubeconfig: string): string | undefined {
  try {
    const { clusters } = load(kubeconfig) as {
      clusters: { cluster: Record<string, string> }[];
    };
    const data = clusters[0]?.cluster["certificate-authority-data"];
    return data && Buffer.from(data, "base64").toString("utf8");
  } catch {
    return undefined;
  }
}

/** @throws UsageError: what was read is not to be trusted */
function trusted(
  server: string,
  data: Readonly<Record<string, string>>,
  { token, pins }: Pick<DiscoveryOptions, "token" | "pins">,
): string {
  const { kubeconfig = "" } = data;
  const signature = data[`jws-kubeconfig-${token.id}`];
  if (signature === undefined)
    throw new UsageError(
      `--token: ${server} knows no token ${token.id}: it was deleted, has expired, or is of another cluster (orbit token create makes a new one)`,
    );
  if (!verifyDetached(signature, kubeconfig, token.id, token.secret))
    throw new UsageError(
      `--token: the secret of token ${token.id} is not the one that ${server} has`,
    );
  const authority = authorityOf(kubeconfig);
  const certificates = splitCertificates(authority ?? "");
  if (authority === undefined || certificates.length === 0)
    throw new UsageError(
      `--server: the ConfigMap cluster-info of ${server} names no authority`,
    );
  const strange = certificates
    .map(authorityPin)
    .find((pin) => pins.length > 0 && !pins.includes(pin));
  if (strange !== undefined)
    throw new UsageError(
      `--discovery-token-ca-cert-hash: the authority of ${server} has the hash ${strange}, which is none of the given ones`,
    );
  return authority;
}

/** Why a server is of no use; undefined: it could not be reached, and another may be tried. */
function refusal(server: string, error: unknown): Error | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.reason === "NotFound")
    return new UsageError(
      `--server: ${server} has no ConfigMap cluster-info: run orbit token create on it first`,
    );
  return new UsageError(
    `--server: ${server} does not show its ConfigMap cluster-info: ${error.message}`,
  );
}

/** @throws UsageError when a server is not to be trusted, DependencyError when none answers */
export async function discoverCluster(
  options: DiscoveryOptions,
): Promise<Discovery> {
  const { servers, logger } = options;
  const failures: string[] = [];
  for (const server of servers) {
    try {
      const first = await clusterInfo(
        server,
        { insecureSkipVerify: true },
        logger,
      );
      const authority = trusted(server, first, options);
      const second = await clusterInfo(server, { ca: authority }, logger);
      if (second["kubeconfig"] !== first["kubeconfig"])
        throw new UsageError(
          `--server: ${server} showed another ConfigMap cluster-info over a trusted connection`,
        );
      return { server, authority };
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const final = refusal(server, error);
      if (final) throw final;
      failures.push(`${server}: ${(error as Error).message}`);
    }
  }
  throw new DependencyError(
    `--server: no API server answers: ${failures.join("; ")}`,
  );
}
