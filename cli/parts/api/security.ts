// Who may come in and what they may do: authentication, authorization, the review resources and ServiceAccount tokens of
// an API server, made from its options and the cluster's PKI.
import type { Authorizer, TokenAuthenticator } from "../../../api/contracts.ts";
import {
  type AdmissionPlugin,
  createAccessReview,
  createAuthenticator,
  createEscalationCheck,
  createRulesReview,
  createTokenReview,
  fixedKeys,
  NodeAuthorizer,
  type PublicKeys,
  RbacAuthorizer,
  reconcileBootstrapPolicy,
  type ResourceStrategy,
  RoleAggregator,
  selfSubjectReview,
} from "../../../apiserver-lite/index.ts";
import type { RequestAuthenticator } from "../../../http-kit/authentication/authenticator.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "../../../http-kit/authentication/client-certificate.ts";
import { RequestHeaderAuthenticator } from "../../../http-kit/authentication/request-header.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import type { Transport } from "../../../client/transport.ts";
import { createTokens, type TokenOptions } from "./authentication/tokens.ts";
import type { Family } from "../../../api/metrics/family.ts";
import type { OptionValues } from "../../options/parse.ts";
import type { ClientAuthorities } from "./certificates.ts";

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
  updateAuthorities(authorities: ClientAuthorities): void;
  stop(): Promise<void>;
}

/** What a joining node reads first; whether it may is the authorizer's decision. */
const clusterInfoPath =
  "/api/v1/namespaces/kube-public/configmaps/cluster-info";

/** Paths a cluster that is secure by default shows to anybody. */
const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

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

/** Whether requests without credentials pass: on every path, on these, or on none. */
function anonymousAccess({
  values,
  pki,
  remote,
  logger,
}: TokenOptions): boolean | readonly string[] {
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
  featureGates,
}: TokenOptions): Authorization {
  const { types } = authorizers;
  const roles = new RbacAuthorizer(state);
  const bySelectors = featureGates["AuthorizeNodeWithSelectors"] ?? true;
  const node = types.has("Node")
    ? new NodeAuthorizer(state, bySelectors)
    : undefined;
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

/** @param authorities believed from the start */
export function createSecurity(
  options: TokenOptions,
  { clientCa, headerCa }: ClientAuthorities,
): Security {
  const { values, state, clock, logger } = options;
  const verifier = clientCa
    ? new ClientCertificateVerifier(clientCa, clock)
    : undefined;
  const header = requestHeaderOf(values, headerCa);
  const headerVerifier =
    header && new ClientCertificateVerifier(header.authority, clock);
  const requestHeader =
    headerVerifier &&
    new RequestHeaderAuthenticator({ ...header, verifier: headerVerifier });
  const tokens = createTokens(options);
  const { identity, lastUsed } = tokens;
  const authenticator = createAuthenticator({
    ...(requestHeader ? { requestHeader } : {}),
    ...(verifier
      ? { clientCertificate: new ClientCertificateAuthenticator(verifier) }
      : {}),
    tokens: tokens.chain,
    anonymous: anonymousAccess(options),
  });
  const access = authorization(options);
  const { authorizer, roles, rbac, node } = access;
  const reviews = reviewStrategies(tokens.chain, identity.audiences, access);
  const token = tokens.subresource;
  let aggregator: RoleAggregator | undefined;

  return {
    authenticator,
    tokens: {
      async authenticateToken(bearer, wanted) {
        for (const each of tokens.chain) {
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
    families: () => [
      ...(verifier?.families() ?? []),
      ...tokens.metrics.families(),
    ],
    updateAuthorities(renewed) {
      if (renewed.clientCa) verifier?.setAuthorities(renewed.clientCa);
      if (renewed.headerCa) headerVerifier?.setAuthorities(renewed.headerCa);
    },
    async stop() {
      await lastUsed.stop();
      await aggregator?.stop();
      roles.stop();
      node?.stop();
    },
  };
}
