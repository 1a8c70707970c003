// Reads kubeconfig files: which server, and with which credentials. Several files (KUBECONFIG=a:b) are merged as the
// reference does: the first that names something wins. Files named in a kubeconfig are relative to it. Of credential
// helpers exec and auth-provider are refused by name.
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import type { TlsOptions } from "./http-pools.ts";
import type { HttpTransportOptions } from "./http-transport.ts";

interface KubeconfigChoice {
  /** An explicit file; then no other is looked at. */
  path?: string;
  context?: string;
  cluster?: string;
  user?: string;
}

/** What createHttpTransport takes, and the context's namespace. */
export type KubeconfigConnection = Pick<
  HttpTransportOptions,
  | "server"
  | "tls"
  | "token"
  | "tokenFile"
  | "username"
  | "password"
  | "impersonate"
> & {
  namespace: string;
};

class KubeconfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KubeconfigError";
  }
}

type Fields = Record<string, unknown>;
interface Named {
  name: string;
  fields: Fields;
  directory: string;
  file: string;
}
interface Kubeconfig {
  currentContext: string;
  clusters: Map<string, Named>;
  contexts: Map<string, Named>;
  users: Map<string, Named>;
}

/** Files are: choice.path, else $KUBECONFIG, else ~/.kube/config. Rejects with a KubeconfigError naming file and field. */
export async function loadKubeconfig(
  choice: KubeconfigChoice = {},
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<KubeconfigConnection> {
  const explicit = choice.path !== undefined && choice.path !== "";
  const paths = explicit
    ? [choice.path!]
    : (environment["KUBECONFIG"] || join(homedir(), ".kube", "config"))
        .split(delimiter)
        .filter((path) => path !== "");
  const config: Kubeconfig = {
    currentContext: "",
    clusters: new Map(),
    contexts: new Map(),
    users: new Map(),
  };
  for (const path of paths) {
    let text: string;
    try {
      text = await readFile(path, "utf8");
    } catch (error) {
      const absent = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (absent && !explicit) continue;
      throw new KubeconfigError(`kubeconfig ${path}: cannot be read`, {
        cause: error,
      });
    }
    await merge(config, text, resolve(path));
  }
  return connect(config, choice, paths.join(delimiter));
}

/** As loadKubeconfig, of a text; relative files are looked for in `directory`. */
export async function parseKubeconfig(
  text: string,
  directory = ".",
  choice: KubeconfigChoice = {},
): Promise<KubeconfigConnection> {
  const config: Kubeconfig = {
    currentContext: "",
    clusters: new Map(),
    contexts: new Map(),
    users: new Map(),
  };
  await merge(config, text, join(resolve(directory), "kubeconfig"));
  return connect(config, choice, "kubeconfig");
}

/** Who a connection is made as. */
export type UserCredentials = Pick<
  KubeconfigConnection,
  "token" | "username" | "password"
> & { readonly tls?: Pick<TlsOptions, "cert" | "key"> };

export interface KubeconfigUsers {
  readonly users: ReadonlyMap<string, UserCredentials>;
  /** The user of the current context. */
  readonly current: string | undefined;
}

/** All users of a kubeconfig, token files read now. Rejects with a KubeconfigError naming the field. */
export async function parseKubeconfigUsers(
  text: string,
  directory = ".",
): Promise<KubeconfigUsers> {
  const config: Kubeconfig = {
    currentContext: "",
    clusters: new Map(),
    contexts: new Map(),
    users: new Map(),
  };
  await merge(config, text, join(resolve(directory), "kubeconfig"));
  const users = new Map<string, UserCredentials>();
  for (const [name, named] of config.users) {
    const tls: TlsOptions = {};
    const { token, tokenFile, username, password, impersonate } =
      await credentials(named, tls);
    if (impersonate)
      throw new KubeconfigError(
        `kubeconfig ${named.file}: users ${name}: as is not supported here`,
      );
    const read = token ?? (tokenFile && (await tokenIn(tokenFile, named)));
    users.set(name, {
      tls,
      ...(read ? { token: read } : {}),
      ...(username ? { username, password: password ?? "" } : {}),
    });
  }
  const context = config.contexts.get(config.currentContext);
  return {
    users,
    current: context && textOf(context.fields, "user", context.file),
  };
}

async function tokenIn(path: string, user: Named): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw new KubeconfigError(
      `kubeconfig ${user.file}: users ${user.name}: tokenFile: cannot read ${path}`,
      { cause: error },
    );
  }
}

/** The connection a pod's service account gives, from the files and variables every pod has. */
export async function inClusterConnection(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  directory = "/var/run/secrets/kubernetes.io/serviceaccount",
): Promise<KubeconfigConnection> {
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const port = environment["KUBERNETES_SERVICE_PORT"];
  if (!host || !port)
    throw new KubeconfigError(
      "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
    );
  const shown = host.includes(":") ? `[${host}]` : host;
  const [ca, namespace] = await Promise.all([
    readFile(join(directory, "ca.crt"), "utf8"),
    readFile(join(directory, "namespace"), "utf8").catch(() => "default"),
  ]);
  return {
    server: `https://${shown}:${port}`,
    tls: { ca },
    tokenFile: join(directory, "token"),
    namespace: namespace.trim(),
  };
}

async function merge(
  config: Kubeconfig,
  text: string,
  file: string,
): Promise<void> {
  if (text.trim() === "") return;
  let document: unknown;
  try {
    document = text.trimStart().startsWith("{")
      ? JSON.parse(text)
      : (await import("js-yaml")).load(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new KubeconfigError(`kubeconfig ${file}: ${why}`, { cause: error });
  }
  if (document === undefined || document === null) return;
  if (typeof document !== "object" || Array.isArray(document))
    throw new KubeconfigError(`kubeconfig ${file}: must be a mapping`);
  const fields = document as Fields;
  config.currentContext ||= textOf(fields, "current-context", file) ?? "";
  collect(config.clusters, fields, "clusters", "cluster", file);
  collect(config.contexts, fields, "contexts", "context", file);
  collect(config.users, fields, "users", "user", file);
}

function collect(
  into: Map<string, Named>,
  fields: Fields,
  list: string,
  part: string,
  file: string,
): void {
  const entries = fields[list] ?? [];
  if (!Array.isArray(entries))
    throw new KubeconfigError(`kubeconfig ${file}: ${list}: must be a list`);
  entries.forEach((entry: unknown, index) => {
    const where = `kubeconfig ${file}: ${list}[${index}]`;
    if (typeof entry !== "object" || entry === null)
      throw new KubeconfigError(`${where}: must be a mapping`);
    const { name, [part]: value } = entry as Fields;
    if (typeof name !== "string" || name === "")
      throw new KubeconfigError(`${where}.name: required`);
    if (value !== undefined && value !== null && typeof value !== "object")
      throw new KubeconfigError(`${where}.${part}: must be a mapping`);
    if (!into.has(name))
      into.set(name, {
        name,
        fields: (value ?? {}) as Fields,
        directory: dirname(file),
        file,
      });
  });
}

function textOf(
  fields: Fields,
  field: string,
  where: string,
): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string")
    throw new KubeconfigError(`kubeconfig ${where}: ${field}: must be a text`);
  return value;
}

async function connect(
  config: Kubeconfig,
  choice: KubeconfigChoice,
  files: string,
): Promise<KubeconfigConnection> {
  const contextName = choice.context || config.currentContext;
  const context = config.contexts.get(contextName);
  if (!context && (contextName !== "" || !choice.cluster))
    throw new KubeconfigError(
      contextName === ""
        ? `kubeconfig ${files}: current-context is not set`
        : `kubeconfig ${files}: context "${contextName}" does not exist`,
    );
  const pick = (part: "cluster" | "user", chosen?: string): string =>
    chosen ||
    (context ? (textOf(context.fields, part, context.file) ?? "") : "");
  const clusterName = pick("cluster", choice.cluster);
  const cluster = config.clusters.get(clusterName);
  if (!cluster)
    throw new KubeconfigError(
      `kubeconfig ${files}: cluster "${clusterName}" does not exist`,
    );
  const server = textOf(cluster.fields, "server", cluster.file);
  if (!server)
    throw new KubeconfigError(
      `kubeconfig ${cluster.file}: clusters ${clusterName}: server: required`,
    );
  const userName = pick("user", choice.user);
  const user = config.users.get(userName);
  if (!user && userName !== "")
    throw new KubeconfigError(
      `kubeconfig ${files}: user "${userName}" does not exist`,
    );
  const tls: TlsOptions = {};
  const ca = await pem(cluster, "certificate-authority");
  if (ca) tls.ca = ca;
  const serverName = textOf(cluster.fields, "tls-server-name", cluster.file);
  if (serverName) tls.serverName = serverName;
  if (cluster.fields["insecure-skip-tls-verify"] === true)
    tls.insecureSkipVerify = true;
  const namespace =
    (context && textOf(context.fields, "namespace", context.file)) || "default";
  return { server, tls, ...(await credentials(user, tls)), namespace };
}

async function credentials(
  user: Named | undefined,
  tls: TlsOptions,
): Promise<Omit<KubeconfigConnection, "server" | "namespace" | "tls">> {
  if (!user) return {};
  const { fields, file, directory } = user;
  for (const helper of ["exec", "auth-provider"])
    if (fields[helper])
      throw new KubeconfigError(
        `kubeconfig ${file}: users ${user.name}: ${helper} is not supported; use a certificate, a token or a token file`,
      );
  const [cert, key] = await Promise.all([
    pem(user, "client-certificate"),
    pem(user, "client-key"),
  ]);
  if (cert) tls.cert = cert;
  if (key) tls.key = key;
  const tokenFile = textOf(fields, "tokenFile", file);
  const token = textOf(fields, "token", file);
  const username = textOf(fields, "username", file);
  const password = textOf(fields, "password", file);
  const asUser = textOf(fields, "as", file);
  const groups = fields["as-groups"];
  return {
    ...(tokenFile ? { tokenFile: resolve(directory, tokenFile) } : {}),
    ...(token ? { token } : {}),
    ...(username ? { username, password: password ?? "" } : {}),
    ...(asUser
      ? {
          impersonate: {
            user: asUser,
            ...(Array.isArray(groups) ? { groups: groups.map(String) } : {}),
          },
        }
      : {}),
  };
}

/** `<field>-data` in base64, or the file named by `<field>`. */
async function pem(named: Named, field: string): Promise<string | undefined> {
  const data = textOf(named.fields, `${field}-data`, named.file);
  if (data) return Buffer.from(data, "base64").toString("utf8");
  const path = textOf(named.fields, field, named.file);
  if (!path) return undefined;
  const file = resolve(named.directory, path);
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new KubeconfigError(
      `kubeconfig ${named.file}: ${named.name}: ${field}: cannot read ${file}`,
      { cause: error },
    );
  }
}
