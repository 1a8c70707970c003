// `orbit token create|list|delete`: bootstrap tokens, by which new nodes join a cluster.
import { formatTime, systemClock } from "../api/clock.ts";
import { splitCertificates } from "../api/pki/pem.ts";
import type { Secret } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/create-client.ts";
import { createHttpTransport } from "../client/http-transport.ts";
import { endpointSlices, secrets } from "../client/resources.ts";
import { isAlreadyExists, isNotFound } from "../api/errors.ts";
import {
  authorityPin,
  createToken,
  parseToken,
  tokenText,
  type BootstrapToken,
} from "./join/bootstrap-token.ts";
import { ensureJoinObjects, joiningGroup } from "./join/cluster-objects.ts";
import { createLogger } from "./logging.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import {
  DependencyError,
  UsageError,
  type OptionTable,
} from "./options/table.ts";
import { urlHost } from "./parts/addresses.ts";
import { readKubeconfig } from "./parts/connect.ts";
import { kubeconfigPath } from "./ctl/connection.ts";

const namespace = "kube-system";
const tokenType = "bootstrap.kubernetes.io/token";
const usage =
  "orbit token create [TOKEN] | orbit token list | orbit token delete TOKEN|ID...";

const tokenOptions: OptionTable = [
  group(
    "Options",
    option(
      "kubeconfig",
      "string",
      "",
      "Connection and credentials of an administrator; default: as orbitctl's.",
    ),
    option(
      "ttl",
      "duration",
      "24h0m0s",
      "How long a new token can be used; 0: always.",
      { min: 0 },
    ),
    option("description", "string", "", "What a new token is for."),
    option(
      "server",
      "strings",
      "",
      "URLs at which nodes reach the API servers; not given: the endpoints of the Service kubernetes.",
    ),
    option(
      "print-join-command",
      "bool",
      "false",
      "Print the command that a new node runs instead of the token.",
    ),
  ),
];

interface Administrator {
  readonly client: Client;
  /** PEM. */
  readonly authority: string | undefined;
  readonly server: string;
}

async function administrator(values: OptionValues): Promise<Administrator> {
  const connection = await readKubeconfig(
    kubeconfigPath(values) ?? "",
    "kubeconfig",
  );
  const logger = createLogger({ format: "text", verbosity: -1 });
  const client = createClient(createHttpTransport({ ...connection, logger }), {
    clock: systemClock,
    logger,
  });
  return {
    client,
    authority: connection.tls?.ca,
    server: connection.server,
  };
}

/** Where nodes reach the API servers. */
async function serversOf(
  values: OptionValues,
  { client, server }: Administrator,
): Promise<readonly string[]> {
  const given = values.list("server");
  if (given.length > 0) return given.map(httpsUrl);
  const slices = await client.resource(endpointSlices).list({
    namespace: "default",
    labelSelector: "kubernetes.io/service-name=kubernetes",
  });
  const found = slices.items.flatMap(({ endpoints = [], ports }) =>
    (endpoints ?? []).flatMap(({ addresses = [] }) =>
      (addresses ?? []).map(
        (address) =>
          `https://${urlHost(address)}:${ports?.find(({ name }) => name === "https")?.port ?? 6443}`,
      ),
    ),
  );
  return found.length > 0 ? [...new Set(found)].toSorted() : [server];
}

/** `HOST:PORT` is `https://HOST:PORT`. @throws UsageError */
function httpsUrl(text: string): string {
  const url = text.includes("://") ? text : `https://${text}`;
  if (!URL.canParse(url) || !url.startsWith("https://"))
    throw new UsageError(
      `invalid argument "${text}" for "--server": must be an https URL`,
    );
  return new URL(url).origin;
}

function tokenSecret(token: BootstrapToken, values: OptionValues): Secret {
  const ttlMs = values.number("ttl");
  const description = values.optionalText("description");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: tokenType,
    metadata: { name: `bootstrap-token-${token.id}`, namespace },
    stringData: {
      "token-id": token.id,
      "token-secret": token.secret,
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": joiningGroup,
      ...(description ? { description } : {}),
      ...(ttlMs > 0
        ? { expiration: formatTime(systemClock.now() + ttlMs) }
        : {}),
    },
  };
}

async function create(
  values: OptionValues,
  admin: Administrator,
  given: string | undefined,
): Promise<void> {
  const token =
    given === undefined ? createToken() : parseToken(given, "TOKEN");
  const { authority, client } = admin;
  if (!authority)
    throw new UsageError(
      "--kubeconfig: it names no certificate authority, which joining nodes are to trust",
    );
  const servers = await serversOf(values, admin);
  await ensureJoinObjects(client, servers[0]!, authority);
  await client
    .resource(secrets)
    .create(tokenSecret(token, values))
    .catch((error: unknown) => {
      if (isAlreadyExists(error))
        throw new UsageError(
          `a token with the ID ${token.id} exists already: delete it first`,
        );
      throw error;
    });
  if (!values.flag("print-join-command")) {
    process.stdout.write(`${tokenText(token)}\n`);
    return;
  }
  const pins = splitCertificates(authority).map(
    (each) => ` --discovery-token-ca-cert-hash ${authorityPin(each)}`,
  );
  process.stdout.write(
    `orbit agent --server ${servers.join(",")} --token ${tokenText(token)}${pins.join("")}\n`,
  );
}

function timeLeft(expiration: string): string {
  if (expiration === "") return "<forever>";
  const leftMs = Date.parse(expiration) - systemClock.now();
  if (!(leftMs > 0)) return "<expired>";
  const minutes = Math.floor(leftMs / 60_000);
  return minutes >= 60 ? `${Math.floor(minutes / 60)}h` : `${minutes}m`;
}

async function list({ client }: Administrator): Promise<void> {
  const { items } = await client.resource(secrets).list({
    namespace,
    fieldSelector: `type=${tokenType}`,
  });
  const rows = items.map(({ data }) => {
    const field = (name: string): string =>
      Buffer.from(data?.[name] ?? "", "base64").toString("utf8");
    const usages = ["authentication", "signing"].filter(
      (each) => field(`usage-bootstrap-${each}`) === "true",
    );
    return [
      // The secret half is shown to administrators, as kubeadm does: they can read it anyway.
      `${field("token-id")}.${field("token-secret")}`,
      timeLeft(field("expiration")),
      field("expiration") || "<never>",
      usages.join(",") || "<none>",
      field("description") || "<none>",
    ];
  });
  const table = [["TOKEN", "TTL", "EXPIRES", "USAGES", "DESCRIPTION"], ...rows];
  const widths = table[0]!.map((_, column) =>
    Math.max(...table.map((row) => row[column]!.length)),
  );
  for (const row of table)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("   ")
        .trimEnd()}\n`,
    );
}

async function remove(
  { client }: Administrator,
  tokens: readonly string[],
): Promise<void> {
  if (tokens.length === 0)
    throw new UsageError("token delete needs a token or its ID");
  for (const text of tokens) {
    const id = /^[a-z0-9]{6}$/.test(text) ? text : parseToken(text, "TOKEN").id;
    await client
      .resource(secrets)
      .delete(`bootstrap-token-${id}`, namespace)
      .catch((error: unknown) => {
        if (isNotFound(error))
          throw new UsageError(`there is no token with the ID ${id}`);
        throw error;
      });
    process.stdout.write(`bootstrap token "${id}" deleted\n`);
  }
}

export async function runToken(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, tokenOptions) || argv.length === 0) {
    process.stdout.write(
      helpText(usage, "Tokens by which new nodes join.", tokenOptions),
    );
    return 0;
  }
  const values = parseOptions(tokenOptions, argv, { operands: true });
  const [command, ...operands] = values.operands;
  if (command === "create" && operands.length > 1)
    throw new UsageError(`token create takes one token: ${usage}`);
  if (command === "list" && operands.length > 0)
    throw new UsageError(`token list takes no operands: ${usage}`);
  if (!["create", "list", "delete"].includes(command ?? ""))
    throw new UsageError(
      `unknown command "token ${command ?? ""}"; there are: create, list, delete`,
    );
  const admin = await administrator(values);
  try {
    if (command === "create") await create(values, admin, operands[0]);
    else if (command === "list") await list(admin);
    else await remove(admin, operands);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new DependencyError((error as Error).message);
  } finally {
    await admin.client.close();
  }
}
