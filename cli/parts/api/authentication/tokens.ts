// The tokens an API server takes and signs, from its options and the cluster's PKI: the authenticators in their order, and
// the token subresource of service accounts.
import type { TokenAuthenticator } from "../../../../api/contracts.ts";
import type { Clock } from "../../../../api/clock.ts";
import {
  JwtSigner,
  type TokenSigner,
  verificationKey,
} from "../../../../api/pki/jwt.ts";
import { publicKeyPem } from "../../../../api/pki/keys.ts";
import type { Logger } from "pino";
import {
  BootstrapTokenAuthenticator,
  type ClusterPki,
  type ClusterState,
  createTokenSubresource,
  DEFAULT_ISSUER,
  type ExternalSigner,
  fixedKeys,
  LastUsedLabels,
  LegacyTokenAuthenticator,
  parseTokenFile,
  type PublicKeys,
  ServiceAccountAuthenticator,
  StaticTokenAuthenticator,
  TokenMetrics,
} from "../../../../apiserver-lite/index.ts";
import { apiAudiences, type RemoteAccess } from "../remote-access.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { readKeyFile, readOptionFile } from "../../option-files.ts";

export interface TokenOptions {
  values: OptionValues;
  /** The cluster's own; without it (orbit apiserver) the option files are all there is. */
  pki: ClusterPki | undefined;
  /** Who else decides, and the authorizers in their order. */
  remote: RemoteAccess;
  /** Signs tokens in place of a key of this server's. */
  externalSigner: ExternalSigner | undefined;
  featureGates: Readonly<Record<string, boolean>>;
  /** Attached before the first request. */
  state: ClusterState;
  clock: Clock;
  logger: Logger;
}

interface Tokens {
  readonly identity: TokenIdentity;
  readonly chain: readonly TokenAuthenticator[];
  readonly metrics: TokenMetrics;
  readonly lastUsed: LastUsedLabels;
  /** Undefined without anything to sign with. */
  readonly subresource: ReturnType<typeof createTokenSubresource> | undefined;
}

export function createTokens(options: TokenOptions): Tokens {
  const identity = tokenIdentity(options);
  const metrics = new TokenMetrics();
  const lastUsed = new LastUsedLabels(options.logger);
  return {
    ...{ identity, metrics, lastUsed },
    chain: tokenAuthenticators(options, identity, lastUsed, metrics),
    subresource: tokenSubresource(options, identity),
  };
}

/** Keys and names of service account tokens. */
interface TokenIdentity {
  /** The first signs, all are accepted. */
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly signer: TokenSigner | undefined;
  /** Undefined: no token is accepted. */
  readonly keys: PublicKeys | undefined;
}

function tokenIdentity(options: TokenOptions): TokenIdentity {
  const { values, externalSigner } = options;
  const given = values.list("service-account-issuer");
  return {
    issuers: given.length > 0 ? given : [DEFAULT_ISSUER],
    audiences: apiAudiences(values),
    ...(externalSigner
      ? { signer: externalSigner, keys: externalSigner.keys }
      : ownTokenKeys(options)),
  };
}

function ownTokenKeys({
  values,
  pki,
}: TokenOptions): Pick<TokenIdentity, "signer" | "keys"> {
  const signingFile = values.optionalText("service-account-signing-key-file");
  const signingKey = signingFile
    ? readKeyFile("service-account-signing-key-file", signingFile, "private")
    : pki?.serviceAccountKey;
  const keyFiles = values.list("service-account-key-file");
  if (signingFile && keyFiles.length === 0)
    throw new UsageError(
      "--service-account-signing-key-file needs --service-account-key-file",
    );
  const own = signingKey ? [publicKeyPem(signingKey)] : [];
  const keys = keyFiles.map((file) =>
    readKeyFile("service-account-key-file", file, "public"),
  );
  const verifying = keys.length > 0 ? keys : own;
  return {
    signer: signingKey ? new JwtSigner(signingKey) : undefined,
    keys:
      verifying.length > 0
        ? fixedKeys(verifying.map((key) => verificationKey(key)))
        : undefined,
  };
}

function staticTokens(values: OptionValues): TokenAuthenticator[] {
  const file = values.optionalText("token-auth-file");
  if (!file) return [];
  const text = readOptionFile("token-auth-file", file);
  try {
    return [new StaticTokenAuthenticator(parseTokenFile(text, file))];
  } catch (error) {
    throw new UsageError(`--token-auth-file: ${(error as Error).message}`);
  }
}

/** In the order in which they are asked. */
function tokenAuthenticators(
  { values, remote, state, clock }: TokenOptions,
  { issuers, audiences, keys }: TokenIdentity,
  lastUsed: LastUsedLabels,
  metrics: TokenMetrics,
): TokenAuthenticator[] {
  const ofAccounts = keys && {
    ...{ issuers, keys, audiences, state, clock, metrics },
  };
  return [
    ...staticTokens(values),
    ...(ofAccounts
      ? [
          // First: it knows the tokens it has seen, where the next one would read the claims of each.
          new ServiceAccountAuthenticator(ofAccounts),
          new LegacyTokenAuthenticator({
            ...ofAccounts,
            lookup: values.flag("service-account-lookup"),
            noteUse: lastUsed.note.bind(lastUsed),
          }),
        ]
      : []),
    ...(values.flag("enable-bootstrap-token-auth")
      ? [new BootstrapTokenAuthenticator(state, clock)]
      : []),
    ...remote.tokens,
  ];
}

/** serviceaccounts/token; undefined without anything to sign with. */
function tokenSubresource(
  { values, externalSigner, featureGates }: TokenOptions,
  { issuers, audiences, signer }: TokenIdentity,
): ReturnType<typeof createTokenSubresource> | undefined {
  if (!signer) return undefined;
  const maxSeconds =
    externalSigner?.maxExpirationSeconds ??
    values.number("service-account-max-token-expiration") / 1000;
  return createTokenSubresource({
    issuer: issuers[0]!,
    ...{ signer, audiences },
    bindsToNodes: featureGates["ServiceAccountTokenNodeBinding"] ?? true,
    extendsToMaximum: externalSigner !== undefined,
    extendExpiration: values.flag("service-account-extend-token-expiration"),
    ...(maxSeconds > 0 ? { maxExpirationSeconds: maxSeconds } : {}),
  });
}
