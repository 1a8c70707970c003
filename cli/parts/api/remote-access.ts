// Who else decides at the API server: the token webhook and the OpenID Connect issuers who a user is, the authorizers what
// users may do, from their options. Files are read before the server starts; what can't be read or does not belong
// together is a UsageError.
import * as path from "node:path";
import type { Logger } from "pino";
import {
  DEFAULT_ISSUER,
  Issuer,
  OidcAuthenticator,
  plainMapping,
} from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { TokenAuthenticator } from "../../../api/contracts.ts";
import type { TokenReview } from "../../../api/types/authentication-v1.ts";
import { askedAgain } from "../../../client/webhook/asked-again.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import { parseKubeconfig } from "../../../client/kubeconfig.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readAuthorityFile, readOptionFile } from "../option-files.ts";
import {
  readAuthorizers,
  type Authorizers,
} from "./authorization/authorizers.ts";
import { gatesOfPart } from "./emulated-version.ts";
import { structuredAuthentication } from "./authentication/structured-authentication.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import { createTokenReviewer } from "../../../client/access/token-reviewer.ts";

export interface RemoteAccess {
  readonly tokens: readonly TokenAuthenticator[];
  readonly authorizers: Authorizers;
  /** What --authentication-config says of requests without credentials: on every path, on these, or on none. */
  readonly anonymous: boolean | readonly string[] | undefined;
  /** Begins to fetch what the issuers publish. */
  start(): void;
  close(): Promise<void>;
}

const TIMEOUT_MS = 30_000;

async function webhookOf(
  values: OptionValues,
  optionName: string,
  dial: Dial | undefined,
): Promise<JsonWebhook | undefined> {
  const file = values.optionalText(optionName);
  if (!file) return undefined;
  const text = readOptionFile(optionName, file);
  try {
    return new JsonWebhook(await parseKubeconfig(text, path.dirname(file)), {
      ...{ timeoutMs: TIMEOUT_MS, dial },
    });
  } catch (error) {
    throw new UsageError(`--${optionName}: ${(error as Error).message}`);
  }
}

/** Audiences this server answers to. */
export function apiAudiences(values: OptionValues): readonly string[] {
  const asked = values.list("api-audiences");
  if (asked.length > 0) return asked;
  const issuers = values.list("service-account-issuer");
  return issuers.length > 0 ? issuers : [DEFAULT_ISSUER];
}

function tokenWebhook(
  webhook: JsonWebhook,
  values: OptionValues,
  clock: Clock,
): TokenAuthenticator {
  const version = values.text("authentication-token-webhook-version");
  return createTokenReviewer({
    async review(spec) {
      const asked = JSON.stringify({
        kind: "TokenReview",
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: { creationTimestamp: null },
        spec,
      });
      const answer = await askedAgain(() => webhook.post(asked), clock);
      return (JSON.parse(answer) as TokenReview).status;
    },
    ttlMs: values.number("authentication-token-webhook-cache-ttl"),
    audiences: apiAudiences(values),
    keepBad: true,
  });
}

const oidcNames = [
  "oidc-client-id",
  "oidc-ca-file",
  "oidc-username-claim",
  "oidc-username-prefix",
  "oidc-groups-claim",
  "oidc-groups-prefix",
  "oidc-required-claim",
  "oidc-signing-algs",
];

/** Without the option the issuer's URL and #, but not for the claim email; "-" is none. */
function usernamePrefix(values: OptionValues, issuerUrl: string): string {
  const given = values.optionalText("oidc-username-prefix");
  if (given === "-") return "";
  if (given !== undefined) return given;
  return values.text("oidc-username-claim") === "email" ? "" : `${issuerUrl}#`;
}

function oidc(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
  dial: Dial | undefined,
): { issuer: Issuer; authenticator: TokenAuthenticator } | undefined {
  const url = values.optionalText("oidc-issuer-url");
  const clientId = values.optionalText("oidc-client-id");
  if (!url) {
    const [lonely] = oidcNames.filter(
      (name) => values.isSet(name) && values.text(name) !== "",
    );
    if (lonely) throw new UsageError(`--${lonely} needs --oidc-issuer-url`);
    return undefined;
  }
  if (!clientId)
    throw new UsageError(
      "--oidc-issuer-url and --oidc-client-id must be specified together",
    );
  if (values.list("service-account-issuer").includes(url))
    throw new UsageError(
      "--oidc-issuer-url must not be one of --service-account-issuer",
    );
  const authorityFile = values.optionalText("oidc-ca-file");
  const issuer = new Issuer({
    url,
    ...(authorityFile
      ? { authority: readAuthorityFile("oidc-ca-file", authorityFile) }
      : {}),
    ...{ clock, logger, dial },
  });
  return {
    issuer,
    authenticator: new OidcAuthenticator({
      issuer,
      clientIds: [clientId],
      algorithms: values.list("oidc-signing-algs"),
      mapping: plainMapping({
        usernameClaim: values.text("oidc-username-claim"),
        usernamePrefix: usernamePrefix(values, url),
        groupsClaim: values.optionalText("oidc-groups-claim"),
        groupsPrefix: values.text("oidc-groups-prefix"),
        requiredClaims: values.map("oidc-required-claim"),
      }),
      audiences: apiAudiences(values),
      clock,
    }),
  };
}

/** @param dial how connections leave; undefined: directly */
export async function remoteAccess(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
  dial?: Dial,
): Promise<RemoteAccess> {
  const authorizers = await readAuthorizers({ values, clock, logger, dial });
  const tokenHook = await webhookOf(
    values,
    "authentication-token-webhook-config-file",
    dial,
  );
  const connect = oidc(values, clock, logger, dial);
  const issuers = values.list("service-account-issuer");
  const structured = await structuredAuthentication({
    values,
    audiences: apiAudiences(values),
    ownIssuers: issuers.length > 0 ? issuers : [DEFAULT_ISSUER],
    anonymousPaths:
      gatesOfPart(values, () => {})["AnonymousAuthConfigurableEndpoints"] ??
      true,
    ...{ clock, logger, dial },
  });
  if (structured)
    for (const name of ["oidc-issuer-url", ...oidcNames])
      if (values.isSet(name))
        throw new UsageError(
          `--authentication-config and --${name} exclude each other`,
        );
  return {
    tokens: [
      ...(connect ? [connect.authenticator] : []),
      ...(structured ? [structured] : []),
      ...(tokenHook ? [tokenWebhook(tokenHook, values, clock)] : []),
    ],
    authorizers,
    anonymous: structured?.anonymous,
    start() {
      authorizers.start();
      connect?.issuer.start();
      structured?.start();
    },
    async close() {
      await Promise.all([
        connect?.issuer.close(),
        structured?.close(),
        tokenHook?.close(),
        authorizers.close(),
      ]);
    },
  };
}
