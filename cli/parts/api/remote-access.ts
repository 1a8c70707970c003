// Who else decides at the API server: the token webhook, the OpenID Connect issuer, the authorization webhook and the ABAC
// policy, from their options. Files are read before the server starts; what can't be read or does not belong together is
// a UsageError.
import * as path from "node:path";
import type { Logger } from "pino";
import {
  AbacAuthorizer,
  DEFAULT_ISSUER,
  Issuer,
  OidcAuthenticator,
  plainMapping,
  parsePolicyFile,
} from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Authorizer, TokenAuthenticator } from "../../../api/contracts.ts";
import type { TokenReview } from "../../../api/types/authentication-v1.ts";
import type { SubjectAccessReview } from "../../../api/types/authorization-v1.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import { parseKubeconfig } from "../../../client/kubeconfig.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readAuthorityFile, readOptionFile } from "../option-files.ts";
import { structuredAuthentication } from "./structured-authentication.ts";
import { createTokenReviewer } from "../../../client/access/token-reviewer.ts";
import { createWebhookAuthorizer } from "../../../client/access/access-reviewer.ts";

export interface RemoteAccess {
  readonly tokens: readonly TokenAuthenticator[];
  /** By --authorization-mode's name. */
  readonly authorizers: Readonly<
    Record<"Webhook" | "ABAC", Authorizer | undefined>
  >;
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
): Promise<JsonWebhook | undefined> {
  const file = values.optionalText(optionName);
  if (!file) return undefined;
  const text = readOptionFile(optionName, file);
  try {
    return new JsonWebhook(await parseKubeconfig(text, path.dirname(file)), {
      timeoutMs: TIMEOUT_MS,
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
): TokenAuthenticator {
  const version = values.text("authentication-token-webhook-version");
  return createTokenReviewer({
    async review(spec) {
      const answer = await webhook.post(
        JSON.stringify({
          kind: "TokenReview",
          apiVersion: `authentication.k8s.io/${version}`,
          metadata: { creationTimestamp: null },
          spec,
        }),
      );
      return (JSON.parse(answer) as TokenReview).status;
    },
    ttlMs: values.number("authentication-token-webhook-cache-ttl"),
    audiences: apiAudiences(values),
    keepBad: true,
  });
}

/** v1beta1 calls the user's groups `group`. */
const accessSpec = (
  { groups, ...spec }: SubjectAccessReview["spec"],
  version: string,
): object =>
  version === "v1beta1" ? { ...spec, group: groups } : { ...spec, groups };

function accessWebhook(
  webhook: JsonWebhook,
  values: OptionValues,
  logger: Logger,
): Authorizer {
  const version = values.text("authorization-webhook-version");
  const reviewing = createWebhookAuthorizer({
    async review(spec) {
      const answer = await webhook.post(
        JSON.stringify({
          kind: "SubjectAccessReview",
          apiVersion: `authorization.k8s.io/${version}`,
          metadata: { creationTimestamp: null },
          spec: accessSpec(spec, version),
        }),
      );
      return (JSON.parse(answer) as SubjectAccessReview).status;
    },
    authorizedTtlMs: values.number(
      "authorization-webhook-cache-authorized-ttl",
    ),
    unauthorizedTtlMs: values.number(
      "authorization-webhook-cache-unauthorized-ttl",
    ),
  });
  return {
    async authorize(attributes) {
      try {
        return await reviewing.authorize(attributes);
      } catch (err) {
        logger.error({ err }, "Failed to make webhook authorizer request");
        return { decision: "no-opinion", reason: "" };
      }
    },
  };
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
    clock,
    logger,
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

function abac(values: OptionValues): Authorizer | undefined {
  const file = values.optionalText("authorization-policy-file");
  if (!file) return undefined;
  const text = readOptionFile("authorization-policy-file", file);
  try {
    return new AbacAuthorizer(parsePolicyFile(text, file));
  } catch (error) {
    throw new UsageError(
      `--authorization-policy-file: ${(error as Error).message}`,
    );
  }
}

/** A mode needs its file, and a file its mode. */
function checkModes(values: OptionValues): void {
  const modes = values.list("authorization-mode");
  for (const [mode, optionName] of [
    ["ABAC", "authorization-policy-file"],
    ["Webhook", "authorization-webhook-config-file"],
  ] as const) {
    const hasMode = modes.includes(mode);
    const hasFile = values.optionalText(optionName) !== undefined;
    if (hasMode && !hasFile)
      throw new UsageError(
        `--authorization-mode=${mode} needs --${optionName}`,
      );
    if (hasFile && !hasMode)
      throw new UsageError(
        `--${optionName} needs --authorization-mode=${mode}`,
      );
  }
}

export async function remoteAccess(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): Promise<RemoteAccess> {
  checkModes(values);
  const tokenHook = await webhookOf(
    values,
    "authentication-token-webhook-config-file",
  );
  const accessHook = await webhookOf(
    values,
    "authorization-webhook-config-file",
  );
  const connect = oidc(values, clock, logger);
  const issuers = values.list("service-account-issuer");
  const structured = await structuredAuthentication({
    values,
    audiences: apiAudiences(values),
    ownIssuers: issuers.length > 0 ? issuers : [DEFAULT_ISSUER],
    clock,
    logger,
  });
  if (structured)
    for (const name of ["oidc-issuer-url", ...oidcNames])
      if (values.isSet(name))
        throw new UsageError(
          `--authentication-config and --${name} exclude each other`,
        );
  const policy = abac(values);
  return {
    tokens: [
      ...(connect ? [connect.authenticator] : []),
      ...(structured ? [structured] : []),
      ...(tokenHook ? [tokenWebhook(tokenHook, values)] : []),
    ],
    authorizers: {
      Webhook: accessHook && accessWebhook(accessHook, values, logger),
      ABAC: policy,
    },
    anonymous: structured?.anonymous,
    start() {
      connect?.issuer.start();
      structured?.start();
    },
    async close() {
      await Promise.all([
        connect?.issuer.close(),
        structured?.close(),
        tokenHook?.close(),
        accessHook?.close(),
      ]);
    },
  };
}
