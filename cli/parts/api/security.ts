// Who may come in and what they may do: authentication, authorization, the review resources and ServiceAccount tokens of
// an API server, made from its options and the cluster's PKI.
import type { Authorizer, TokenAuthenticator } from "../../../api/contracts.ts";
import type { Clock } from "../../../api/clock.ts";
import {
  JwtSigner,
  type TokenSigner,
  verificationKey,
} from "../../../api/pki/jwt.ts";
import { publicKeyPem } from "../../../api/pki/keys.ts";
import type { Logger } from "pino";
import {
  type AdmissionPlugin,
  BootstrapTokenAuthenticator,
  type ClusterPki,
  type ClusterState,
  createAccessReview,
  createAuthenticator,
  createEscalationCheck,
  createRulesReview,
  createTokenReview,
  createTokenSubresource,
  DEFAULT_ISSUER,
  type ExternalSigner,
  fixedKeys,
  LastUsedLabels,
  LegacyTokenAuthenticator,
  NodeAuthorizer,
  parseTokenFile,
  type PublicKeys,
  RbacAuthorizer,
  reconcileBootstrapPolicy,
  type ResourceStrategy,
  RoleAggregator,
  selfSubjectReview,
  ServiceAccountAuthenticator,
  StaticTokenAuthenticator,
} from "../../../apiserver-lite/index.ts";
import type { RequestAuthenticator } from "../../../http-kit/authentication/authenticator.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "../../../http-kit/authentication/client-certificate.ts";
import { RequestHeaderAuthenticator } from "../../../http-kit/authentication/request-header.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import type { Transport } from "../../../client/transport.ts";
import { apiAudiences, type RemoteAccess } from "./remote-access.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import {
  readAuthorityFile,
  readKeyFile,
  readOptionFile,
} from "../option-files.ts";

interface SecurityOptions {
  values: OptionValues;
  /** The cluster's own; without it (orbit apiserver) the option files are all there is. */
  pki: ClusterPki | undefined;
  /** Who else decides, and the authorizers in their order. */
  remote: RemoteAccess;
  /** Signs tokens in place of a key of this server's. */
  externalSigner: ExternalSigner | undefined;
  /** Attached before the first request. */
  state: ClusterState;
  clock: Clock;
  logger: Logger;
}

export interface Security {
  readonly authenticator: RequestAuthenticator;
  readonly tokens: TokenAuthenticator;
  readonly authorizer: Authorizer;
  readonly admission: readonly AdmissionPlugin[];
  /** Of service account tokens. */
  readonly issuer: string;
  readonly issuerKeys: PublicKeys;
  /** Reviews and the token subresource, over the strategies of resources/. */
  strategyFor(
    group: string,
    resource: string,
    base: ResourceStrategy | undefined,
  ): ResourceStrategy | undefined;
  families(): readonly Family[];
  /** After the state is loaded. */
  start(): Promise<void>;
  /** Writes the bootstrap roles and keeps aggregated ones; from now on legacy tokens' use is noted. */
  startPolicy(
    transport: Pick<Transport, "request">,
    featureGates: Readonly<Record<string, boolean>>,
  ): Promise<void>;
  updatePki(pki: ClusterPki): void;
  stop(): Promise<void>;
}

/** What a joining node reads first; whether it may is the authorizer's decision. */
const clusterInfoPath =
  "/api/v1/namespaces/kube-public/configmaps/cluster-info";

/** Paths a cluster that is secure by default shows to anybody. */
const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/** PEM: of clients, and of proxies that speak for clients. */
export function clientAuthorities(
  values: OptionValues,
  pki: ClusterPki | undefined,
): { clientCa: string | undefined; headerCa: string | undefined } {
  const given = (option: string): string | undefined => {
    const file = values.optionalText(option);
    return file && readAuthorityFile(option, file);
  };
  return {
    clientCa: given("client-ca-file") ?? pki?.clusterCa.certificate,
    headerCa:
      given("requestheader-client-ca-file") ?? pki?.frontProxyCa.certificate,
  };
}

/** Front proxies: as the options say, else as the cluster's own are. Header names in lower case. */
export function requestHeaderOf(
  values: OptionValues,
  authority: string | undefined,
): PublishedAuthentication["requestHeader"] {
  if (!authority) return undefined;
  const own = values.optionalText("requestheader-client-ca-file") === undefined;
  const names = (option: string, otherwise: string): string[] => {
    const given = values.list(`requestheader-${option}`);
    return (given.length > 0 ? given : [otherwise]).map((each) =>
      each.toLowerCase(),
    );
  };
  return {
    authority,
    allowedNames: own
      ? ["front-proxy-client"]
      : values.list("requestheader-allowed-names"),
    usernameHeaders: names("username-headers", "x-remote-user"),
    groupHeaders: names("group-headers", "x-remote-group"),
    uidHeaders: names("uid-headers", "x-remote-uid"),
    extraPrefixes: names("extra-headers-prefix", "x-remote-extra-"),
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

function tokenIdentity(options: SecurityOptions): TokenIdentity {
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
}: SecurityOptions): Pick<TokenIdentity, "signer" | "keys"> {
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
  { values, remote, state, clock }: SecurityOptions,
  { issuers, audiences, keys }: TokenIdentity,
  lastUsed: LastUsedLabels,
): TokenAuthenticator[] {
  const ofAccounts = keys && { issuers, keys, audiences, state, clock };
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

/** Whether requests without credentials pass: on every path, on these, or on none. */
function anonymousAccess({
  values,
  pki,
  remote,
  logger,
}: SecurityOptions): boolean | readonly string[] {
  const everything = remote.authorizers.types.has("AlwaysAllow");
  const anonymous =
    remote.anonymous ??
    (values.isSet("anonymous-auth") || !pki
      ? values.flag("anonymous-auth")
      : values.flag("enable-bootstrap-token-auth") && !everything
        ? [...publicPaths, clusterInfoPath]
        : publicPaths);
  if (anonymous !== true || !everything) return anonymous;
  logger.warn(
    "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer",
  );
  return false;
}

interface Authorization {
  readonly authorizer: Authorizer;
  /** Roles are guarded against escalation in every mode: another server on the same store may decide by them. */
  readonly roles: RbacAuthorizer;
  /** Undefined where these modes are off. */
  readonly rbac: RbacAuthorizer | undefined;
  readonly node: NodeAuthorizer | undefined;
}

function authorization({
  remote: { authorizers },
  state,
}: SecurityOptions): Authorization {
  const { types } = authorizers;
  const roles = new RbacAuthorizer(state);
  const node = types.has("Node") ? new NodeAuthorizer(state) : undefined;
  return {
    authorizer: authorizers.attach({ rbac: roles, node }),
    roles,
    rbac: types.has("RBAC") ? roles : undefined,
    node,
  };
}

/** By group and resource: kinds that are answered and never stored. */
function reviewStrategies(
  tokens: readonly TokenAuthenticator[],
  audiences: readonly string[],
  { authorizer, rbac }: Authorization,
): Readonly<Record<string, ResourceStrategy>> {
  return {
    "authentication.k8s.io/tokenreviews": {
      virtual: createTokenReview({ tokens, audiences }),
    },
    "authentication.k8s.io/selfsubjectreviews": { virtual: selfSubjectReview },
    "authorization.k8s.io/subjectaccessreviews": {
      virtual: createAccessReview("SubjectAccessReview", authorizer),
    },
    "authorization.k8s.io/selfsubjectaccessreviews": {
      virtual: createAccessReview("SelfSubjectAccessReview", authorizer),
    },
    "authorization.k8s.io/localsubjectaccessreviews": {
      virtual: createAccessReview("LocalSubjectAccessReview", authorizer),
    },
    "authorization.k8s.io/selfsubjectrulesreviews": {
      virtual: createRulesReview(rbac),
    },
  };
}

/** serviceaccounts/token; undefined without anything to sign with. */
function tokenSubresource(
  { values, externalSigner }: SecurityOptions,
  { issuers, audiences, signer }: TokenIdentity,
): ReturnType<typeof createTokenSubresource> | undefined {
  if (!signer) return undefined;
  const maxSeconds =
    externalSigner?.maxExpirationSeconds ??
    values.number("service-account-max-token-expiration") / 1000;
  return createTokenSubresource({
    issuer: issuers[0]!,
    ...{ signer, audiences },
    extendsToMaximum: externalSigner !== undefined,
    extendExpiration: values.flag("service-account-extend-token-expiration"),
    ...(maxSeconds > 0 ? { maxExpirationSeconds: maxSeconds } : {}),
  });
}

export function createSecurity(options: SecurityOptions): Security {
  const { values, pki, state, clock, logger } = options;
  const { clientCa, headerCa } = clientAuthorities(values, pki);
  const verifier = clientCa
    ? new ClientCertificateVerifier(clientCa, clock)
    : undefined;
  const header = requestHeaderOf(values, headerCa);
  const requestHeader =
    header &&
    new RequestHeaderAuthenticator({
      ...header,
      verifier: new ClientCertificateVerifier(header.authority, clock),
    });
  const identity = tokenIdentity(options);
  const lastUsed = new LastUsedLabels(logger);
  const tokenChain = tokenAuthenticators(options, identity, lastUsed);
  const authenticator = createAuthenticator({
    ...(requestHeader ? { requestHeader } : {}),
    ...(verifier
      ? { clientCertificate: new ClientCertificateAuthenticator(verifier) }
      : {}),
    tokens: tokenChain,
    anonymous: anonymousAccess(options),
  });
  const access = authorization(options);
  const { authorizer, roles, rbac, node } = access;
  const reviews = reviewStrategies(tokenChain, identity.audiences, access);
  const token = tokenSubresource(options, identity);
  let aggregator: RoleAggregator | undefined;

  return {
    authenticator,
    tokens: {
      async authenticateToken(bearer, wanted) {
        for (const each of tokenChain) {
          const user = await each.authenticateToken(bearer, wanted);
          if (user) return user;
        }
        return undefined;
      },
    },
    authorizer,
    issuer: identity.issuers[0]!,
    issuerKeys: identity.keys ?? fixedKeys([]),
    admission: [createEscalationCheck(roles, authorizer)],
    strategyFor(group, resource, base) {
      const review = reviews[`${group}/${resource}`];
      if (review) return { ...base, ...review };
      if (group === "" && resource === "serviceaccounts" && token)
        return { ...base, subresources: { ...base?.subresources, token } };
      return base;
    },
    async start() {
      roles.start();
      await node?.start();
    },
    async startPolicy(transport, featureGates) {
      lastUsed.start(transport);
      if (!rbac) return;
      await reconcileBootstrapPolicy({
        ...{ state, transport, logger },
        featureGates,
      });
      aggregator = new RoleAggregator({ state, transport, clock, logger });
      aggregator.start();
    },
    families: () => verifier?.families() ?? [],
    updatePki(renewed) {
      if (!values.optionalText("client-ca-file"))
        verifier?.setAuthorities(renewed.clusterCa.certificate);
    },
    async stop() {
      await lastUsed.stop();
      await aggregator?.stop();
      roles.stop();
      node?.stop();
    },
  };
}
