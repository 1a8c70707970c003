// Where orbitctl talks to: flags over the kubeconfig's context. Kubeconfig: --kubeconfig, $KUBECONFIG, ~/.kube/config,
// then the file `orbit server` writes by default.
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { loadKubeconfig } from "../../client/kubeconfig.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { optionDurationMs } from "../options/values/value.ts";
import type { CtlConnection } from "./http.ts";

const serverKubeconfig = "/etc/orbit/orbit.yaml";

export function kubeconfigPath(values: OptionValues): string | undefined {
  const given = values.optionalText("kubeconfig");
  if (given || process.env.KUBECONFIG) return given;
  const own = path.join(os.homedir(), ".kube", "config");
  if (!fs.existsSync(own) && fs.existsSync(serverKubeconfig))
    return serverKubeconfig;
  return undefined;
}

function readFileOption(
  values: OptionValues,
  name: string,
): string | undefined {
  const file = values.optionalText(name);
  if (!file) return undefined;
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
}

function requestTimeoutMs(text: string): number {
  const valueMs = /^\d+$/.test(text)
    ? Number(text) * 1000
    : optionDurationMs(text);
  if (valueMs === undefined || valueMs < 0)
    throw new UsageError(
      `invalid argument "${text}" for "--request-timeout": must be a number with a time unit`,
    );
  return valueMs;
}

export async function chooseConnection(
  values: OptionValues,
): Promise<CtlConnection> {
  const given = values.optionalText("server");
  const file = kubeconfigPath(values);
  const choice = {
    ...(file ? { path: file } : {}),
    ...(values.optionalText("context")
      ? { context: values.text("context") }
      : {}),
    ...(values.optionalText("cluster")
      ? { cluster: values.text("cluster") }
      : {}),
    ...(values.optionalText("user") ? { user: values.text("user") } : {}),
  };
  let connection: CtlConnection;
  try {
    connection = await loadKubeconfig(choice);
  } catch (error) {
    // A server by flag needs no kubeconfig, unless one was asked for.
    if (!given || file) throw new UsageError((error as Error).message);
    connection = { server: given, namespace: "default" };
  }
  if (given)
    connection.server = /^https?:\/\//.test(given) ? given : `https://${given}`;
  const tls = { ...connection.tls };
  const ca = readFileOption(values, "certificate-authority");
  const cert = readFileOption(values, "client-certificate");
  const key = readFileOption(values, "client-key");
  if (ca) tls.ca = ca;
  if (cert) tls.cert = cert;
  if (key) tls.key = key;
  if (values.flag("insecure-skip-tls-verify")) {
    tls.insecureSkipVerify = true;
    delete tls.ca;
  }
  const serverName = values.optionalText("tls-server-name");
  if (serverName) tls.serverName = serverName;
  const user = values.optionalText("as");
  if (
    !user &&
    (values.list("as-group").length > 0 || values.optionalText("as-uid"))
  ) {
    throw new UsageError("--as-group and --as-uid need --as");
  }
  return {
    ...connection,
    tls,
    ...(values.optionalText("token") ? { token: values.text("token") } : {}),
    ...(values.optionalText("username")
      ? { username: values.text("username"), password: values.text("password") }
      : {}),
    ...(user
      ? {
          impersonate: {
            user,
            groups: values.list("as-group"),
            ...(values.optionalText("as-uid")
              ? { uid: values.text("as-uid") }
              : {}),
          },
        }
      : {}),
    namespace: values.optionalText("namespace") ?? connection.namespace,
    requestTimeoutMs: requestTimeoutMs(values.text("request-timeout")),
    warningsAsErrors: values.flag("warnings-as-errors"),
  };
}
