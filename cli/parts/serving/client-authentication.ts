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

/** Whom a port believes. */
interface Believed {
  /** PEM. */
  readonly clientCa?: string;
  readonly frontProxy?: FrontProxy;
}

/** What the options' own files say, each PEM. */
export interface GivenAuthorities {
  readonly clientCa: string | undefined;
  readonly headerCa: string | undefined;
}

interface ClientAuthentication {
  /** What the API server published before the start; empty where nothing of it is believed. */
  readonly published: PublishedAuthentication;
  /** Calls back with what it publishes from now on, until the result is called; undefined where nothing of it is believed. */
  follow?(changed: (published: PublishedAuthentication) => void): () => void;
}

const lower = (names: readonly string[]): string[] =>
  names.map((name) => name.toLowerCase());

/** Front proxies of the options, by an authority of theirs. */
const givenRequestHeader = (
  values: OptionValues,
  authority: string,
): NonNullable<PublishedAuthentication["requestHeader"]> => ({
  authority,
  allowedNames: values.list("requestheader-allowed-names"),
  usernameHeaders: values.list("requestheader-username-headers"),
  groupHeaders: values.list("requestheader-group-headers"),
  uidHeaders: values.list("requestheader-uid-headers"),
  extraPrefixes: values.list("requestheader-extra-headers-prefix"),
});

/** What the options say comes before what is published. */
export function believed(
  values: OptionValues,
  given: GivenAuthorities,
  published: PublishedAuthentication,
): Believed {
  const clientCa = given.clientCa ?? published.clientCa;
  const header = given.headerCa
    ? givenRequestHeader(values, given.headerCa)
    : published.requestHeader;
  return {
    ...(clientCa ? { clientCa } : {}),
    ...(header ? { frontProxy: frontProxyOf(header) } : {}),
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
  const authenticator = new RequestHeaderAuthenticator({
    verifier: new ClientCertificateVerifier(authority, systemClock),
    allowedNames,
    usernameHeaders: lower(usernameHeaders),
    groupHeaders: lower(groupHeaders),
    uidHeaders: lower(uidHeaders),
    extraPrefixes: lower(extraPrefixes),
  });
  return { authority, authenticator };
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

/**
 * @param client of --authentication-kubeconfig
 * @param given what needs no look-up
 */
export async function clientAuthentication(
  values: OptionValues,
  client: Client | undefined,
  given: GivenAuthorities,
  logger: Logger,
): Promise<ClientAuthentication> {
  const looksUp =
    client !== undefined &&
    !values.flag("authentication-skip-lookup") &&
    (!given.clientCa || !given.headerCa);
  if (!looksUp) return { published: {} };
  return {
    published: await published(client, values, logger),
    follow: (changed) => followPublished(client, logger, changed),
  };
}
