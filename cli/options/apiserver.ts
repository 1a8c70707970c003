// Options of `orbit apiserver`; `orbit server` takes them too. Defaults are the specification's.
import { group, markUnused, option } from "./build-table.ts";
import {
  gateOptions,
  loggingOptions,
  metricsOptions,
  profilingOptions,
  requestHeaderOptions,
  sharingOptions,
  tlsOptions,
} from "./shared.ts";
import type { OptionTable, OptionValue } from "./table.ts";

const authorizationModes = [
  "AlwaysAllow",
  "AlwaysDeny",
  "ABAC",
  "Webhook",
  "RBAC",
  "Node",
];
const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
];

function nodePortRange(value: OptionValue): string | undefined {
  const match = /^(\d+)([-+])(\d+)$/.exec(String(value));
  if (!match) return "must be FIRST-LAST, such as 30000-32767";
  const first = Number(match[1]);
  const last = match[2] === "+" ? first + Number(match[3]) : Number(match[3]);
  return first <= last && last <= 65535
    ? undefined
    : "the range must ascend and end at 65535 at most";
}

const atMostTwo = (value: OptionValue): string | undefined =>
  (value as readonly string[]).length <= 2
    ? undefined
    : "at most two ranges, one of each IP family";

const secureAddress = (value: OptionValue): string | undefined =>
  /^(https:\/\/|-$)/.test(String(value)) || String(value) === ""
    ? undefined
    : "must be an https URL";

export const auditOptions = group(
  "Audit",
  option("audit-policy-file", "string", "", "Audit policy."),
  option(
    "audit-log-path",
    "string",
    "",
    "File of the audit log; - is standard output.",
  ),
  option("audit-log-mode", "string", "blocking", "How events are written.", {
    values: ["batch", "blocking", "blocking-strict"],
  }),
  option("audit-log-format", "string", "json", "Form of the events.", {
    values: ["json", "legacy"],
  }),
  option(
    "audit-log-version",
    "string",
    "audit.k8s.io/v1",
    "API version of the events.",
  ),
  option("audit-log-maxage", "int", "0", "Days old files are kept.", {
    min: 0,
  }),
  option("audit-log-maxbackup", "int", "0", "Old files kept.", { min: 0 }),
  option(
    "audit-log-maxsize",
    "int",
    "0",
    "Megabytes before the file is rotated.",
    { min: 0 },
  ),
  option("audit-log-compress", "bool", "false", "Compress rotated files."),
  option(
    "audit-log-batch-buffer-size",
    "int",
    "10000",
    "Events buffered in batch mode.",
    { min: 1 },
  ),
  option("audit-log-batch-max-size", "int", "1", "Largest batch.", { min: 1 }),
  option(
    "audit-log-batch-max-wait",
    "duration",
    "",
    "Longest wait for a batch to fill.",
  ),
  option(
    "audit-log-batch-throttle-enable",
    "bool",
    "false",
    "Throttle batches.",
  ),
  option("audit-log-batch-throttle-qps", "float", "", "Batches a second.", {
    min: 0,
  }),
  option("audit-log-batch-throttle-burst", "int", "", "Batches at once.", {
    min: 0,
  }),
  option(
    "audit-log-truncate-enabled",
    "bool",
    "false",
    "Cut large events and batches.",
  ),
  option(
    "audit-log-truncate-max-batch-size",
    "int",
    "10485760",
    "Bytes of a batch.",
    { min: 1 },
  ),
  option(
    "audit-log-truncate-max-event-size",
    "int",
    "102400",
    "Bytes of an event.",
    { min: 1 },
  ),
  option(
    "audit-webhook-config-file",
    "string",
    "",
    "Kubeconfig of the audit webhook.",
  ),
  option("audit-webhook-mode", "string", "batch", "How events are sent.", {
    values: ["batch", "blocking", "blocking-strict"],
  }),
  option(
    "audit-webhook-version",
    "string",
    "audit.k8s.io/v1",
    "API version of the events.",
  ),
  option(
    "audit-webhook-initial-backoff",
    "duration",
    "10s",
    "Wait before the first retry.",
  ),
  option(
    "audit-webhook-batch-buffer-size",
    "int",
    "10000",
    "Events buffered.",
    { min: 1 },
  ),
  option("audit-webhook-batch-max-size", "int", "400", "Largest batch.", {
    min: 1,
  }),
  option(
    "audit-webhook-batch-max-wait",
    "duration",
    "30s",
    "Longest wait for a batch to fill.",
  ),
  option(
    "audit-webhook-batch-throttle-enable",
    "bool",
    "true",
    "Throttle batches.",
  ),
  option(
    "audit-webhook-batch-throttle-qps",
    "float",
    "10",
    "Batches a second.",
    { min: 0 },
  ),
  option(
    "audit-webhook-batch-throttle-burst",
    "int",
    "15",
    "Batches at once.",
    { min: 0 },
  ),
  option(
    "audit-webhook-truncate-enabled",
    "bool",
    "false",
    "Cut large events and batches.",
  ),
  option(
    "audit-webhook-truncate-max-batch-size",
    "int",
    "10485760",
    "Bytes of a batch.",
    { min: 1 },
  ),
  option(
    "audit-webhook-truncate-max-event-size",
    "int",
    "102400",
    "Bytes of an event.",
    { min: 1 },
  ),
);

const table: OptionTable = [
  group(
    "Serving",
    option("secure-port", "int", "6443", "HTTPS port; can't be 0.", {
      min: 1,
      max: 65535,
    }),
    option("bind-address", "string", "0.0.0.0", "Address of the HTTPS port."),
    option(
      "advertise-address",
      "string",
      "",
      "Address told to members of the cluster; found when unset.",
    ),
    option(
      "external-hostname",
      "string",
      "",
      "Name used in URLs of this server.",
    ),
    option(
      "max-requests-inflight",
      "int",
      "400",
      "Non-mutating requests at once.",
      { min: 0 },
    ),
    option(
      "max-mutating-requests-inflight",
      "int",
      "200",
      "Mutating requests at once.",
      { min: 0 },
    ),
    option(
      "enable-priority-and-fairness",
      "bool",
      "true",
      "Queue requests by priority and fairness.",
    ),
    option(
      "request-timeout",
      "duration",
      "1m0s",
      "Default timeout of a request.",
      { min: 1 },
    ),
    option(
      "min-request-timeout",
      "int",
      "1800",
      "Least seconds a watch lasts.",
      { min: 0 },
    ),
    option(
      "max-connection-bytes-per-sec",
      "int",
      "0",
      "Limit of a user's long-running connections; 0: none.",
      { min: 0 },
    ),
    option(
      "goaway-chance",
      "float",
      "0",
      "Chance that an HTTP/2 connection is told to reconnect.",
      { min: 0, max: 0.02 },
    ),
    option(
      "cors-allowed-origins",
      "strings",
      "",
      "Regular expressions of allowed origins; none: CORS is off.",
    ),
    option(
      "strict-transport-security-directives",
      "strings",
      "",
      "HSTS directives.",
    ),
    option(
      "livez-grace-period",
      "duration",
      "0s",
      "Time after start during which livez does not wait for start-up hooks.",
      { min: 0 },
    ),
    option(
      "shutdown-delay-duration",
      "duration",
      "0s",
      "Time it keeps serving, not ready, before it stops.",
      { min: 0 },
    ),
    option(
      "shutdown-send-retry-after",
      "bool",
      "false",
      "Answer 429 with Retry-After while draining.",
    ),
    option(
      "shutdown-watch-termination-grace-period",
      "duration",
      "0s",
      "Time active watches have to end.",
      { min: 0 },
    ),
    option("event-ttl", "duration", "1h0m0s", "Retention of events.", {
      min: 1000,
    }),
    option(
      "delete-collection-workers",
      "int",
      "1",
      "Workers of a collection's delete.",
      { min: 1 },
    ),
    option("allow-privileged", "bool", "false", "Allow privileged containers."),
    option(
      "debug-socket-path",
      "string",
      "",
      "Unprotected unix socket for profiling.",
    ),
    option(
      "runtime-config",
      "map",
      "",
      "API versions on or off: apps/v1=true, api/beta=true.",
    ),
    option(
      "service-cluster-ip-range",
      "strings",
      "",
      "Ranges of service addresses, at most two.",
      { check: atMostTwo },
    ),
    option(
      "service-node-port-range",
      "string",
      "30000-32767",
      "Ports of NodePort services.",
      { check: nodePortRange },
    ),
    option(
      "endpoint-reconciler-type",
      "string",
      "lease",
      "How the kubernetes service's endpoints are kept.",
      {
        values: ["master-count", "lease", "none"],
      },
    ),
    option(
      "aggregator-reject-forwarding-redirect",
      "bool",
      "true",
      "Reject redirects of aggregated servers.",
    ),
    option(
      "enable-aggregator-routing",
      "bool",
      "false",
      "Route to endpoints instead of the service address.",
    ),
    option("peer-advertise-ip", "string", "", "Address for peers."),
    option("peer-advertise-port", "string", "", "Port for peers."),
    option("peer-ca-file", "string", "", "CA of peers."),
    option(
      "egress-selector-config-file",
      "string",
      "",
      "Egress selector configuration.",
    ),
    option("tracing-config-file", "string", "", "Tracing configuration."),
    option(
      "enable-garbage-collector",
      "bool",
      "true",
      "Must be the controllers' value.",
    ),
  ),
  group(
    "Authentication",
    option("anonymous-auth", "bool", "true", "Allow anonymous requests."),
    option(
      "authentication-config",
      "string",
      "",
      "Structured authentication file.",
    ),
    option("client-ca-file", "string", "", "CA bundle of client certificates."),
    option(
      "token-auth-file",
      "string",
      "",
      'CSV file of static tokens: token,user,uid,"group1,group2".',
    ),
    option(
      "enable-bootstrap-token-auth",
      "bool",
      "false",
      "Accept bootstrap tokens.",
    ),
    option(
      "authentication-token-webhook-config-file",
      "string",
      "",
      "Kubeconfig of the token webhook.",
    ),
    option(
      "authentication-token-webhook-cache-ttl",
      "duration",
      "2m0s",
      "How long its answers are kept.",
    ),
    option(
      "authentication-token-webhook-version",
      "string",
      "v1beta1",
      "TokenReview version.",
      { values: ["v1beta1", "v1"] },
    ),
    option("oidc-issuer-url", "string", "", "HTTPS issuer.", {
      check: secureAddress,
    }),
    option(
      "oidc-client-id",
      "string",
      "",
      "Client id; required with the issuer.",
    ),
    option("oidc-ca-file", "string", "", "CA of the issuer."),
    option("oidc-username-claim", "string", "sub", "Claim of the user name."),
    option(
      "oidc-username-prefix",
      "string",
      "",
      "Prefix of user names; - for none.",
    ),
    option("oidc-groups-claim", "string", "", "Claim of the groups."),
    option("oidc-groups-prefix", "string", "", "Prefix of groups."),
    option(
      "oidc-required-claim",
      "map",
      "",
      "key=value claims that must be there.",
    ),
    option("oidc-signing-algs", "strings", "RS256", "Accepted algorithms.", {
      values: signingAlgorithms,
    }),
    option(
      "api-audiences",
      "strings",
      "",
      "Audiences of tokens; the issuer when unset.",
    ),
    option(
      "service-account-issuer",
      "strings",
      "",
      "Issuers; the first signs, all are accepted.",
    ),
    option(
      "service-account-jwks-uri",
      "string",
      "",
      "Key set URI told in the discovery document.",
      { check: secureAddress },
    ),
    option(
      "service-account-key-file",
      "strings",
      "",
      "Keys that verify tokens.",
    ),
    option(
      "service-account-signing-key-file",
      "string",
      "",
      "Key that signs tokens.",
    ),
    option(
      "service-account-signing-endpoint",
      "string",
      "",
      "Socket of an external signer.",
    ),
    option(
      "service-account-lookup",
      "bool",
      "true",
      "Check that the token's objects still exist.",
    ),
    option(
      "service-account-extend-token-expiration",
      "bool",
      "true",
      "Extend injected tokens up to a year.",
    ),
    option(
      "service-account-max-token-expiration",
      "duration",
      "0s",
      "Longest validity of a token.",
      { min: 0 },
    ),
    option(
      "proxy-client-cert-file",
      "string",
      "",
      "Client certificate for aggregated servers and webhooks.",
    ),
    option("proxy-client-key-file", "string", "", "Its key."),
  ),
  requestHeaderOptions("", "", ""),
  group(
    "Authorization",
    option(
      "authorization-mode",
      "strings",
      "AlwaysAllow",
      "Ordered list of authorizers.",
      { values: authorizationModes },
    ),
    option(
      "authorization-config",
      "string",
      "",
      "Structured authorization file.",
    ),
    option(
      "authorization-policy-file",
      "string",
      "",
      "ABAC policy, a JSON object a line.",
    ),
    option(
      "authorization-webhook-config-file",
      "string",
      "",
      "Kubeconfig of the authorization webhook.",
    ),
    option(
      "authorization-webhook-version",
      "string",
      "v1beta1",
      "SubjectAccessReview version.",
      { values: ["v1beta1", "v1"] },
    ),
    option(
      "authorization-webhook-cache-authorized-ttl",
      "duration",
      "5m0s",
      "How long allowed answers are kept.",
    ),
    option(
      "authorization-webhook-cache-unauthorized-ttl",
      "duration",
      "30s",
      "How long denied answers are kept.",
    ),
  ),
  group(
    "Admission",
    option(
      "admission-control-config-file",
      "string",
      "",
      "Admission configuration.",
    ),
    option(
      "enable-admission-plugins",
      "strings",
      "",
      "Plugins on beyond the default ones.",
    ),
    option(
      "disable-admission-plugins",
      "strings",
      "",
      "Default plugins that are off.",
    ),
    option(
      "default-not-ready-toleration-seconds",
      "int",
      "300",
      "Toleration added to pods.",
      { min: 0 },
    ),
    option(
      "default-unreachable-toleration-seconds",
      "int",
      "300",
      "Toleration added to pods.",
      { min: 0 },
    ),
  ),
  group(
    "Store",
    option("etcd-servers", "strings", "", "URLs of etcd."),
    option(
      "etcd-servers-overrides",
      "strings",
      "",
      "group/resource#servers of single resources.",
    ),
    option("etcd-cafile", "string", "", "CA of etcd."),
    option("etcd-certfile", "string", "", "Client certificate for etcd."),
    option("etcd-keyfile", "string", "", "Its key."),
    option("etcd-prefix", "string", "/registry", "Prefix of all keys."),
    option(
      "etcd-compaction-interval",
      "duration",
      "5m0s",
      "Between compactions; 0 disables.",
      { min: 0 },
    ),
    option(
      "etcd-healthcheck-timeout",
      "duration",
      "2s",
      "Timeout of the health check.",
    ),
    option(
      "etcd-readycheck-timeout",
      "duration",
      "2s",
      "Timeout of the readiness check.",
    ),
    option(
      "etcd-count-metric-poll-period",
      "duration",
      "1m0s",
      "Between counts of objects; 0 disables.",
      { min: 0 },
    ),
    option(
      "etcd-db-metric-poll-interval",
      "duration",
      "30s",
      "Between looks at the size; 0 disables.",
      { min: 0 },
    ),
    option(
      "lease-reuse-duration-seconds",
      "int",
      "60",
      "How long a lease is shared.",
      { min: 1 },
    ),
    option(
      "storage-initialization-timeout",
      "duration",
      "1m0s",
      "Longest wait for the store at start.",
    ),
    option("storage-backend", "string", "", "Kind of the store.", {
      values: ["etcd3", "memory", "file"],
    }),
    option(
      "storage-media-type",
      "string",
      "application/vnd.kubernetes.protobuf",
      "Encoding of stored objects.",
      {
        values: [
          "application/vnd.kubernetes.protobuf",
          "application/vnd.orbit.protobuf",
          "application/json",
          "application/yaml",
          "json",
          "yaml",
        ],
      },
    ),
    option(
      "encryption-provider-config",
      "string",
      "",
      "Encryption of stored objects.",
    ),
    option(
      "encryption-provider-config-automatic-reload",
      "bool",
      "false",
      "Reload it on change.",
    ),
    option("watch-cache", "bool", "true", "Serve watches from memory."),
    option(
      "watch-cache-sizes",
      "strings",
      "",
      "resource[.group]#size; only 0 has a meaning.",
    ),
  ),
  group(
    "Node agents",
    option(
      "kubelet-client-certificate",
      "string",
      "",
      "Client certificate for node agents.",
    ),
    option("kubelet-client-key", "string", "", "Its key."),
    option("kubelet-certificate-authority", "string", "", "CA of node agents."),
    option(
      "kubelet-timeout",
      "duration",
      "5s",
      "Timeout of calls to node agents.",
    ),
    option(
      "kubelet-preferred-address-types",
      "strings",
      "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
      "Order in which addresses are tried.",
      {
        values: [
          "Hostname",
          "InternalDNS",
          "InternalIP",
          "ExternalDNS",
          "ExternalIP",
        ],
      },
    ),
  ),
  tlsOptions("/var/run/orbit"),
  auditOptions,
  sharingOptions,
  profilingOptions,
  loggingOptions,
  metricsOptions,
  gateOptions,
];

/** Those the composition hands to the parts. */
export const usedApiServerOptions: readonly string[] = [
  "secure-port",
  "bind-address",
  "logging-format",
  "v",
  "log-flush-frequency",
];

export const apiServerOptions: OptionTable = markUnused(
  table,
  usedApiServerOptions,
);
