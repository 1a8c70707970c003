// Whose certificates the port of a part that runs alone believes: --client-ca-file and --requestheader-*, and for what they
// leave out, with --authentication-kubeconfig, what the API server publishes, which is followed as the files are.
import type { Logger } from "pino";
import { ClientCertificateVerifier } from "../../../http-kit/authentication/client-certificate.ts";
import type { FrontProxy } from "../../../http-kit/part-port.ts";
import { RequestHeaderAuthenticator } from "../../../http-kit/authentication/request-header.ts";
import {
  authenticationConfigName,
  readAuthentication,
  type PublishedAuthentication,
} from "../../../client/access/authentication-config.ts";
import { systemClock } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { ConfigMap } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { configMaps } from "../../../client/resources.ts";
import type { OptionValues } from "../../options/parse.ts";
import { DependencyError } from "../../options/table.ts";
import { readAuthorityFile } from "../option-files.ts";

interface ClientAuthentication {
  /** PEM. */
  readonly clientCa?: string;
  readonly frontProxy?: FrontProxy;
  /**
   * Calls back with what the API server publishes from now on, until the result is called; undefined where nothing of it
   * is believed.
   */
  follow?(changed: (published: PublishedAuthentication) => void): () => void;
}

const lower = (names: readonly string[]): string[] =>
  names.map((name) => name.toLowerCase());

/**
 * What the options' own files say, each PEM.
 * @throws UsageError for a file that can't be used
 */
export function givenAuthorities(values: OptionValues): {
  clientCa?: string;
  frontProxyCa?: string;
} {
  const clientFile = values.optionalText("client-ca-file");
  const header = givenRequestHeader(values);
  return {
    ...(clientFile
      ? { clientCa: readAuthorityFile("client-ca-file", clientFile) }
      : {}),
    ...(header ? { frontProxyCa: header.authority } : {}),
  };
}

/** undefined: not asked for. */
function givenRequestHeader(
  values: OptionValues,
): PublishedAuthentication["requestHeader"] {
  const file =
    values.has("requestheader-client-ca-file") &&
    values.optionalText("requestheader-client-ca-file");
  if (!file) return undefined;
  return {
    authority: readAuthorityFile("requestheader-client-ca-file", file),
    allowedNames: values.list("requestheader-allowed-names"),
    usernameHeaders: values.list("requestheader-username-headers"),
    groupHeaders: values.list("requestheader-group-headers"),
    uidHeaders: values.list("requestheader-uid-headers"),
    extraPrefixes: values.list("requestheader-extra-headers-prefix"),
  };
}

function frontProxyOf({
  authority,
  allowedNames,
  usernameHeaders,
  groupHeaders,
  uidHeaders,
  extraPrefixes,
}: NonNullable<PublishedAuthentication["requestHeader"]>): FrontProxy {
  const verifier = new ClientCertificateVerifier(authority, systemClock);
  const authenticator = new RequestHeaderAuthenticator({
    verifier,
    allowedNames,
    usernameHeaders: lower(usernameHeaders),
    groupHeaders: lower(groupHeaders),
    uidHeaders: lower(uidHeaders),
    extraPrefixes: lower(extraPrefixes),
  });
  return { authority, verifier, authenticator };
}

/** What the API server published; nothing where it did not. */
async function published(
  client: Client,
  values: OptionValues,
  logger: Logger,
): Promise<PublishedAuthentication> {
  try {
    const { data } = await client
      .resource(configMaps)
      .get(authenticationConfigName, "kube-system");
    return readAuthentication(data ?? {});
  } catch (error) {
    if (isNotFound(error)) {
      logger.warn(
        `the API server publishes no configmap ${authenticationConfigName}`,
      );
      return {};
    }
    const message = `unable to load configmap based request-header-client-ca-file: ${(error as Error).message}`;
    if (!values.flag("authentication-tolerate-lookup-failure"))
      throw new DependencyError(
        `--authentication-kubeconfig: ${message} (--authentication-tolerate-lookup-failure goes on without, --authentication-skip-lookup does not ask)`,
      );
    logger.warn(message);
    return {};
  }
}

/** What can't be read is logged and changes nothing, nor does the ConfigMap's deletion. */
function followPublished(
  client: Client,
  logger: Logger,
  changed: (published: PublishedAuthentication) => void,
): () => void {
  const use = ({ data }: ConfigMap): void => {
    try {
      changed(readAuthentication(data ?? {}));
    } catch (error) {
      logger.error({ err: error }, "published authorities are not used");
    }
  };
  return client
    .informer(configMaps, {
      namespace: "kube-system",
      fieldSelector: `metadata.name=${authenticationConfigName}`,
    })
    .addHandler({ onAdd: use, onUpdate: (_old, object) => use(object) });
}

/** @param client of --authentication-kubeconfig */
export async function clientAuthentication(
  values: OptionValues,
  client: Client | undefined,
  logger: Logger,
): Promise<ClientAuthentication> {
  const { clientCa: ownCa } = givenAuthorities(values);
  const ownHeader = givenRequestHeader(values);
  const looksUp =
    client !== undefined &&
    !values.flag("authentication-skip-lookup") &&
    (!ownCa || !ownHeader);
  const found = looksUp ? await published(client, values, logger) : {};
  const clientCa = ownCa || found.clientCa;
  const header = ownHeader ?? found.requestHeader;
  return {
    ...(clientCa ? { clientCa } : {}),
    ...(header ? { frontProxy: frontProxyOf(header) } : {}),
    ...(looksUp
      ? { follow: (changed) => followPublished(client, logger, changed) }
      : {}),
  };
}
