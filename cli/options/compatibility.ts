// The specification's option tables, row by row and in its order (names in its dialect; names of one row in one string), and
// what of them works: docs/COMPATIBILITY.md's generated part. A row works when every option of it has an effect.
import { programs } from "./reference.ts";
import { allOptions, canonicalOptionName } from "./table.ts";

interface SpecifiedTable {
  readonly title: string;
  readonly program: string;
  readonly rows: readonly string[];
}

const tables: readonly SpecifiedTable[] = [
  {
    title: "Command-line client: patch",
    program: "orbitctl patch",
    rows: [
      "filename",
      "kustomize",
      "recursive",
      "patch",
      "patch-file",
      "type",
      "subresource",
      "dry-run",
      "field-manager",
      "local",
      "output",
      "template",
      "allow-missing-template-keys",
      "show-managed-fields",
      "warnings-as-errors",
      "request-timeout",
      "namespace",
      "server",
      "match-server-version",
      "disable-compression",
      "cache-dir",
      "orbitconfig cluster context user",
      "tls-server-name",
      "default-not-ready-toleration-seconds default-unreachable-toleration-seconds",
      "profile profile-output",
      "storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-table storage-driver-user storage-driver-secure storage-driver-password",
    ],
  },
  {
    title: "Listening: API server",
    program: "orbit apiserver",
    rows: ["secure-port", "bind-address"],
  },
  {
    title: "Listening: controllers",
    program: "orbit controller-manager",
    rows: ["secure-port", "bind-address"],
  },
  {
    title: "Listening: node agent",
    program: "orbit agent",
    rows: [
      "port",
      "address",
      "read-only-port",
      "healthz-port healthz-bind-address",
    ],
  },
  {
    title: "API server: authentication, authorization, TLS",
    program: "orbit apiserver",
    rows: [
      "anonymous-auth",
      "authentication-config",
      "client-ca-file",
      "token-auth-file",
      "enable-bootstrap-token-auth",
      "authentication-token-webhook-config-file",
      "authentication-token-webhook-cache-ttl",
      "authentication-token-webhook-version",
      "oidc-issuer-url",
      "oidc-client-id",
      "oidc-ca-file",
      "oidc-username-claim",
      "oidc-username-prefix",
      "oidc-groups-claim oidc-groups-prefix",
      "oidc-required-claim",
      "oidc-signing-algs",
      "api-audiences",
      "service-account-issuer",
      "service-account-jwks-uri",
      "service-account-key-file",
      "service-account-signing-key-file",
      "service-account-signing-endpoint",
      "service-account-lookup",
      "service-account-extend-token-expiration",
      "service-account-max-token-expiration",
      "requestheader-username-headers requestheader-group-headers requestheader-extra-headers-prefix requestheader-uid-headers",
      "requestheader-client-ca-file requestheader-allowed-names",
      "proxy-client-cert-file proxy-client-key-file",
      "authorization-mode",
      "authorization-config",
      "authorization-policy-file",
      "authorization-webhook-config-file",
      "authorization-webhook-version",
      "authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl",
      "encryption-provider-config",
      "tls-cert-file tls-private-key-file",
      "tls-min-version",
      "tls-cipher-suites",
      "tls-sni-cert-key",
      "orbitlet-client-certificate orbitlet-client-key orbitlet-certificate-authority",
      "store-cafile store-certfile store-keyfile",
    ],
  },
  {
    title: "Controllers: authentication, authorization, signing",
    program: "orbit controller-manager",
    rows: [
      "authentication-kubeconfig",
      "authorization-kubeconfig",
      "authentication-token-webhook-cache-ttl",
      "authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl",
      "authentication-skip-lookup authentication-tolerate-lookup-failure",
      "client-ca-file requestheader-client-ca-file requestheader-allowed-names requestheader-username-headers requestheader-group-headers requestheader-extra-headers-prefix",
      "use-service-account-credentials",
      "service-account-private-key-file",
      "root-ca-file",
      "tls-cert-file tls-private-key-file tls-min-version tls-cipher-suites tls-sni-cert-key",
      "cluster-signing-cert-file cluster-signing-key-file cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file",
      "cluster-signing-duration",
    ],
  },
  {
    title: "Node agent: authentication and authorization",
    program: "orbit agent",
    rows: [
      "anonymous-auth",
      "authentication-token-webhook",
      "authentication-token-webhook-cache-ttl",
      "authorization-mode",
      "authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl",
      "client-ca-file",
      "bootstrap-kubeconfig",
      "rotate-certificates rotate-server-certificates",
      "cert-dir",
      "tls-cert-file tls-private-key-file tls-min-version tls-cipher-suites",
      "image-credential-provider-bin-dir image-credential-provider-config",
    ],
  },
  {
    title: "Command-line client: credentials",
    program: "orbitctl patch",
    rows: [
      "token",
      "username",
      "password",
      "client-certificate",
      "client-key",
      "certificate-authority",
      "insecure-skip-tls-verify",
      "as",
      "as-group",
      "as-uid",
    ],
  },
  {
    title: "API server: limits",
    program: "orbit apiserver",
    rows: [
      "max-requests-inflight",
      "max-mutating-requests-inflight",
      "enable-priority-and-fairness",
      "request-timeout",
      "min-request-timeout",
      "max-connection-bytes-per-sec",
      "goaway-chance",
      "http2-max-streams-per-connection",
      "event-ttl",
      "default-not-ready-toleration-seconds default-unreachable-toleration-seconds",
      "delete-collection-workers",
      "service-node-port-range",
      "orbitlet-timeout",
      "lease-reuse-duration-seconds",
      "store-compaction-interval",
      "store-healthcheck-timeout store-readycheck-timeout",
      "store-prefix",
      "store-count-metric-poll-period",
      "store-db-metric-poll-interval",
      "storage-initialization-timeout",
      "storage-media-type",
      "watch-cache",
      "endpoint-reconciler-type",
      "orbitlet-preferred-address-types",
      "aggregator-reject-forwarding-redirect",
      "livez-grace-period shutdown-delay-duration shutdown-watch-termination-grace-period",
      "shutdown-send-retry-after",
    ],
  },
  {
    title: "API server: audit",
    program: "orbit apiserver",
    rows: [
      "audit-log-path",
      "audit-log-mode",
      "audit-log-format",
      "audit-log-version",
      "audit-log-batch-buffer-size",
      "audit-log-batch-max-size",
      "audit-log-truncate-max-batch-size audit-log-truncate-max-event-size",
      "audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-compress",
      "audit-webhook-config-file",
      "audit-webhook-mode",
      "audit-webhook-batch-buffer-size audit-webhook-batch-max-size audit-webhook-batch-max-wait",
      "audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-qps",
      "audit-webhook-initial-backoff",
      "audit-webhook-version",
    ],
  },
  {
    title: "API server: other options",
    program: "orbit apiserver",
    rows: [
      "allow-privileged",
      "cors-allowed-origins",
      "strict-transport-security-directives",
      "admission-control-config-file",
      "enable-admission-plugins disable-admission-plugins",
      "egress-selector-config-file",
      "tracing-config-file",
      "runtime-config",
      "feature-gates",
      "emulated-version",
      "enable-garbage-collector",
      "service-cluster-ip-range",
      "external-hostname",
      "advertise-address",
      "debug-socket-path",
      "profiling contention-profiling",
      "peer-advertise-ip peer-advertise-port peer-ca-file",
      "permit-address-sharing permit-port-sharing",
      "disable-http2-serving",
      "logging-format log-flush-frequency v vmodule",
      "allow-metric-labels allow-metric-labels-manifest disabled-metrics show-hidden-metrics-for-version",
    ],
  },
  {
    title: "Controllers: limits",
    program: "orbit controller-manager",
    rows: [
      "concurrent-cron-job-syncs",
      "concurrent-daemonset-syncs",
      "concurrent-deployment-syncs",
      "concurrent-endpoint-syncs",
      "concurrent-ephemeralvolume-syncs",
      "concurrent-gc-syncs",
      "concurrent-horizontal-pod-autoscaler-syncs",
      "concurrent-job-syncs",
      "concurrent-namespace-syncs",
      "concurrent-rc-syncs",
      "concurrent-replicaset-syncs",
      "concurrent-resource-quota-syncs",
      "concurrent-service-endpoint-syncs",
      "concurrent-service-syncs",
      "concurrent-serviceaccount-token-syncs",
      "concurrent-statefulset-syncs",
      "concurrent-ttl-after-finished-syncs",
      "concurrent-validating-admission-policy-status-syncs",
      "attach-detach-reconcile-sync-period",
      "horizontal-pod-autoscaler-sync-period",
      "horizontal-pod-autoscaler-downscale-stabilization",
      "horizontal-pod-autoscaler-cpu-initialization-period",
      "horizontal-pod-autoscaler-initial-readiness-delay",
      "horizontal-pod-autoscaler-tolerance",
      "node-monitor-period",
      "node-monitor-grace-period",
      "node-startup-grace-period",
      "node-eviction-rate",
      "secondary-node-eviction-rate",
      "large-cluster-size-threshold",
      "unhealthy-zone-threshold",
      "terminated-pod-gc-threshold",
      "namespace-sync-period",
      "resource-quota-sync-period",
      "pvclaimbinder-sync-period",
      "min-resync-period",
      "route-reconciliation-period",
      "legacy-service-account-token-clean-up-period",
      "max-endpoints-per-slice",
      "mirroring-max-endpoints-per-subset",
      "mirroring-concurrent-service-endpoint-syncs",
      "endpoint-updates-batch-period endpointslice-updates-batch-period mirroring-endpointslice-updates-batch-period",
      "orbit-api-qps",
      "orbit-api-burst",
      "orbit-api-content-type",
      "leader-elect",
      "leader-elect-lease-duration",
      "leader-elect-renew-deadline",
      "leader-elect-retry-period",
      "leader-elect-resource-lock",
      "leader-elect-resource-namespace",
      "cluster-name",
      "cluster-cidr allocate-node-cidrs node-cidr-mask-size node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6 cidr-allocator-type",
      "configure-cloud-routes",
      "controllers",
      "enable-dynamic-provisioning",
      "enable-garbage-collector",
      "profiling",
      "pv-recycler-minimum-timeout-nfs pv-recycler-increment-timeout-nfs",
      "pv-recycler-minimum-timeout-hostpath pv-recycler-timeout-increment-hostpath",
      "flex-volume-plugin-dir",
    ],
  },
  {
    title: "Controllers: other options",
    program: "orbit controller-manager",
    rows: [
      "cloud-provider cloud-config external-cloud-volume-plugin",
      "controller-start-interval",
      "enable-leader-migration leader-migration-config",
      "disable-attach-detach-reconcile-sync disable-force-detach-on-timeout",
      "logging-format v vmodule",
      "feature-gates emulated-version",
      "permit-address-sharing permit-port-sharing",
    ],
  },
  {
    title: "Node agent: limits",
    program: "orbit agent",
    rows: [
      "max-pods",
      "pods-per-core",
      "pod-max-pids",
      "node-status-update-frequency",
      "node-status-max-images",
      "sync-frequency file-check-frequency http-check-frequency",
      "runtime-request-timeout",
      "streaming-connection-idle-timeout",
      "orbit-api-qps orbit-api-burst",
      "event-qps event-burst",
      "registry-qps registry-burst",
      "serialize-image-pulls",
      "image-gc-high-threshold image-gc-low-threshold",
      "minimum-image-ttl-duration",
      "maximum-dead-containers",
      "maximum-dead-containers-per-container",
      "container-log-max-files container-log-max-size",
      "eviction-hard",
      "eviction-pressure-transition-period",
      "volume-stats-agg-period",
      "cpu-cfs-quota cpu-cfs-quota-period",
      "cpu-manager-policy cpu-manager-reconcile-period",
      "memory-manager-policy",
      "topology-manager-policy topology-manager-scope",
      "cgroup-driver cgroups-per-qos",
      "enforce-node-allocatable",
      "oom-score-adj",
      "max-open-files",
      "hairpin-mode",
      "fail-swap-on fail-cgroupv1",
      "register-node register-schedulable",
      "make-iptables-util-chains",
      "local-storage-capacity-isolation",
      "enable-server enable-debugging-handlers enable-controller-attach-detach",
      "container-runtime-endpoint",
      "root-dir resolv-conf",
      "logging-format",
    ],
  },
  {
    title: "Node agent: other options",
    program: "orbit agent",
    rows: [
      "hostname-override",
      "node-ip",
      "node-labels",
      "register-with-taints",
      "provider-id",
      "cloud-provider",
      "pod-manifest-path",
      "manifest-url manifest-url-header",
      "cluster-dns cluster-domain",
      "orbit-reserved system-reserved",
      "reserved-cpus reserved-memory qos-reserved",
      "orbit-reserved-cgroup system-reserved-cgroup",
      "eviction-soft eviction-soft-grace-period eviction-max-pod-grace-period",
      "seccomp-default",
    ],
  },
];

/** States that the tables can't know. Keys: program, space, first option of the row. */
const exceptions: Readonly<Record<string, string>> = {
  "orbitctl patch kustomize": "not yet: refused with a message",
  "orbit apiserver feature-gates": "works; unbuilt ones are refused by name",
  "orbit apiserver enable-admission-plugins":
    "partly: plugins that are not built are refused by name",
  "orbit agent feature-gates": "works; unbuilt ones are refused by name",
  "orbit agent fail-swap-on":
    "works; cgroup v1 is refused only when `--fail-cgroupv1` is given; `orbit server` asks for neither by itself",
  "orbit controller-manager namespace-sync-period":
    "works when given; events cause the other looks",
  "orbit controller-manager pvclaimbinder-sync-period":
    "works when given; events cause the other looks",
  "orbit apiserver allow-privileged": "works; on in `orbit server`",
  "orbit apiserver watch-cache":
    "works; `--watch-cache-sizes` and `--default-watch-cache-size` too",
  "orbit apiserver orbitlet-preferred-address-types":
    "works; addresses first in `orbit server`",
  "orbit apiserver storage-media-type": "partly: the etcd store's values only",
};

const named = (name: string): string => `\`--${name}\``;

function stateOf(program: string, row: string): string {
  const { table } = programs.find(({ name }) => name === program)!;
  const names = row.split(" ");
  const dead: string[] = [];
  const refused: string[] = [];
  const absent: string[] = [];
  const moot: string[] = [];
  for (const name of names) {
    const canonical = canonicalOptionName(name);
    const spec = allOptions(table).find(
      (each) =>
        each.name === canonical || each.aliases?.includes(canonical) === true,
    );
    if (!spec) absent.push(name);
    else if (spec.unbuilt?.kind === "moot") moot.push(name);
    else if (spec.unbuilt) {
      dead.push(name);
      if (spec.unbuilt.kind === "restricts") refused.push(name);
    }
  }
  const exception = exceptions[`${program} ${names[0]}`];
  if (exception) return exception;
  if (moot.length === names.length) return "nothing to do in this program";
  if (dead.length + absent.length === 0) return "works";
  if (absent.length === names.length) return "not yet: not known";
  if (refused.length === names.length) return "not yet: refused";
  if (dead.length === names.length)
    return refused.length === 0
      ? "not yet: accepted"
      : `not yet: ${refused.map(named).join(", ")} refused`;
  return `partly: ${[...dead, ...absent].map(named).join(", ")} not yet`;
}

function optionStates(): {
  title: string;
  program: string;
  rows: { names: string; state: string }[];
}[] {
  return tables.map(({ title, program, rows }) => ({
    title,
    program,
    rows: rows.map((row) => ({
      names: row.split(" ").map(named).join(" "),
      state: stateOf(program, row),
    })),
  }));
}

/** The part of docs/COMPATIBILITY.md between the two marks. */
export function optionCompatibility(): string {
  return optionStates()
    .map(
      ({ title, program, rows }) =>
        `### ${title} (\`${program}\`)\n\n| option | state |\n| --- | --- |\n${rows
          .map(({ names, state }) => `| ${names} | ${state} |`)
          .join("\n")}\n`,
    )
    .join("\n");
}
