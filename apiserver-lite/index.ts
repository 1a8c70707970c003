// The only door of the API server: all that the commands and the library may use of it. No other room imports anything from
// here, and no room imports another file (test/unit/structure). It loads the whole server, so modules that only sometimes
// need it import it dynamically, or are themselves imported so.

// The server, and what it is composed of.
export type { WebhookClientsOptions } from "./webhook-client/webhook-clients.ts";
export { type ApiServer, createApiServer, superuser } from "./server.ts";
export { authorizedTransport } from "./in-process/authorized-transport.ts";
export type { AggregationOptions } from "./aggregation/aggregator.ts";
export type { DialerOptions } from "./proxy/dialer.ts";
export { ProxyHandler } from "./proxy/proxy-handler.ts";
export { type AllowedOrigins, compileOrigins } from "./front/origins.ts";
export {
  issuerDiscoveryPaths,
  jwksPath,
} from "./discovery/issuer-discovery.ts";
export {
  createMetricsReader,
  serveNodeMetrics,
} from "./node-metrics/install-metrics.ts";
export { inSharedForm } from "./registry/value-codec.ts";
export { createTokenTracking } from "./bootstrap/system-objects.ts";

// Certificates and kubeconfigs.
export { type ClusterPki, loadClusterPki } from "./bootstrap/cluster-pki.ts";
export { apiServerId } from "./bootstrap/identity-lease.ts";
export { kubeconfigText, writeKubeconfig } from "./bootstrap/kubeconfig.ts";
export { PkiKeeper } from "./bootstrap/pki-keeper.ts";

// Authentication.
export { BootstrapTokenAuthenticator } from "./authentication/bootstrap-token.ts";
export { createAuthenticator } from "./authentication/create-authenticator.ts";
export { Issuer } from "./authentication/oidc/issuer.ts";
export {
  plainMapping,
  type ClaimMapping,
} from "./authentication/oidc/claim-mapping.ts";
export {
  expressionMapping,
  loadExpressionCompiler,
  type ClaimExpression,
  type ExpressionCompiler,
  type MappingRules,
} from "./authentication/oidc/expression-mapping.ts";
export { OidcAuthenticator } from "./authentication/oidc/oidc-authenticator.ts";
export {
  createTokenReview,
  selfSubjectReview,
} from "./authentication/reviews.ts";
export {
  connectExternalSigner,
  type ExternalSigner,
} from "./authentication/external-signer/external-signer.ts";
export {
  fixedKeys,
  type PublicKeys,
} from "./authentication/service-account/public-keys.ts";
export { DEFAULT_ISSUER } from "./authentication/service-account/claims.ts";
export { LastUsedLabels } from "./authentication/service-account/last-used-labels.ts";
export { LegacyTokenAuthenticator } from "./authentication/service-account/legacy-token-authenticator.ts";
export { TokenMetrics } from "./authentication/service-account/token-metrics.ts";
export { ServiceAccountAuthenticator } from "./authentication/service-account/token-authenticator.ts";
export { createTokenSubresource } from "./authentication/service-account/token-request.ts";
export {
  parseTokenFile,
  StaticTokenAuthenticator,
} from "./authentication/static-tokens.ts";

// Encryption at rest.
export { EncryptionMetrics } from "./encryption/encryption-metrics.ts";
export type { KmsEndpoint } from "./encryption/kms/kms-service.ts";
export type { KeyedProvider } from "./encryption/key-ciphers.ts";
export {
  EncryptionRules,
  groupResourceOf,
  ValueEncryption,
  type EncryptionKey,
  type EncryptionProvider,
  type EncryptionRule,
} from "./encryption/value-encryption.ts";

// Authorization.
export { AbacAuthorizer, parsePolicyFile } from "./authorization/abac.ts";
export { AuthorizationMetrics } from "./authorization/authorization-metrics.ts";
export { reconcileBootstrapPolicy } from "./authorization/bootstrap-policy.ts";
export { NodeAuthorizer } from "./authorization/node-authorizer.ts";
export { RbacAuthorizer } from "./authorization/rbac-authorizer.ts";
export {
  createAccessReview,
  createRulesReview,
} from "./authorization/reviews.ts";
export {
  loadReviewConditionCompiler,
  type ReviewCondition,
  type ReviewConditionCompiler,
} from "./authorization/review-conditions.ts";
export { RoleAggregator } from "./authorization/role-aggregation.ts";
export {
  alwaysAllow,
  alwaysDeny,
  superuserAuthorizer,
  UnionAuthorizer,
} from "./authorization/union-authorizer.ts";
export {
  createAuthorizationWebhook,
  type AuthorizationWebhookRules,
} from "./authorization/webhook-authorizer.ts";

// Admission.
export type { AdmissionPlugin } from "./admission/plugin.ts";
export { createEscalationCheck } from "./admission/plugins/escalation-check.ts";
export {
  type AdmissionSettings,
  type AdmissionSurroundings,
  builtInPlugins,
  OFF_BY_DEFAULT,
  orderedAdmissionPlugins,
} from "./admission/plugins/index.ts";
export {
  levelProblem,
  levelVersion,
  versionProblem,
} from "./admission/plugins/pod-security/policy.ts";
export type { Registry } from "./registry/registry.ts";
export { createParamPermission } from "./admission/plugins/policy-params/param-permission.ts";
export { registryParams } from "./admission/plugins/policy-params/registry-params.ts";
export { MatchConditionMetrics } from "./admission/expressions/match-condition-metrics.ts";
export { PodSecurityMetrics } from "./admission/plugins/pod-security/pod-security-metrics.ts";
export { PolicyMetrics } from "./admission/policy/policy-metrics.ts";
export { systemPriorityClasses } from "./admission/plugins/priority.ts";

// Webhooks that objects name.
export { WebhookMetrics } from "./admission/webhook/metrics.ts";
export { credentialsFor } from "./webhook-client/credentials.ts";
export type { Loopback } from "./webhook-client/loopback.ts";
export { WebhookClients } from "./webhook-client/webhook-clients.ts";

// Audit.
export { AuditBatch } from "./audit/audit-batch.ts";
export type { AuditSink } from "./audit/audit-event.ts";
export { AuditLog } from "./audit/audit-log.ts";
export { allSinks, lenientSink, truncatingSink } from "./audit/audit-sinks.ts";
export { AuditWebhook } from "./audit/audit-webhook.ts";
export { Auditor } from "./audit/auditor.ts";
export { type AuditPolicy, checkAuditPolicy } from "./audit/policy.ts";

// Kinds.
export type { ComponentCheck } from "./resources/core/component-status.ts";
export { validateTolerations } from "./resources/core/pod/scheduling-validation.ts";
export { allocatorFamilies } from "./resources/core/service/allocator-metrics.ts";
export {
  adoptServices,
  createServiceAllocators,
  followService,
  type ServiceAllocators,
} from "./resources/core/service/service-ip-allocator.ts";
export {
  type ServiceRangesOptions,
  shareAllocators,
} from "./resources/core/service/service-ranges.ts";
export { createStrategies } from "./resources/index.ts";
export type { ClusterState } from "./resources/state.ts";
export type { ResourceStrategy } from "./resources/strategy.ts";
