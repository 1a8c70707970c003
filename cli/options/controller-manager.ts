// Options of `orbit controller-manager`. Defaults are the specification's.
import { group, classify, option } from "./build-table.ts";
import { controllerOptions } from "./controller-manager/controllers.ts";
import { usedControllerManagerOptions } from "./controller-manager/used.ts";
import {
  gateOptions,
  loggingOptions,
  metricsOptions,
  profilingOptions,
  requestHeaderOptions,
  sharingOptions,
  tlsOptions,
} from "./shared.ts";
import { nodeIpamOptions } from "./network.ts";
import type { OptionGroup, OptionTable } from "./table.ts";
import { unbuiltControllerManagerOptions } from "./unbuilt.ts";

/** In both dialects; empty is the default. */
const contentTypes: ReadonlySet<unknown> = new Set([
  "",
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/vnd.orbit.protobuf",
  "application/cbor",
]);

const isContentType = (text: unknown): string | undefined =>
  contentTypes.has(text)
    ? undefined
    : "must be application/json, application/vnd.kubernetes.protobuf or application/cbor";

export function apiClientOptions(qps: string, burst: string): OptionGroup {
  return group(
    "Talking to the API server",
    option("kubeconfig", "string", "", "Connection and credentials."),
    option(
      "master",
      "string",
      "",
      "URL of the API server; overrides the kubeconfig's.",
    ),
    option(
      "kube-api-qps",
      "float",
      qps,
      "Requests a second, when it or the burst is given; 0: no limit.",
      { min: 0, file: "kubeAPIQPS" },
    ),
    option("kube-api-burst", "int", burst, "Requests at once.", {
      min: 0,
      file: "kubeAPIBurst",
    }),
    option(
      "kube-api-content-type",
      "string",
      "application/vnd.kubernetes.protobuf",
      "Encoding of requests and answers: application/json, application/vnd.kubernetes.protobuf, or application/cbor with the feature gate ClientsAllowCBOR. Patches, and what has no such encoding (custom resources in protobuf), are JSON. Without meaning inside of `orbit server`.",
      { file: "contentType", check: isContentType },
    ),
  );
}

export const leaderElectionOptions: OptionGroup = group(
  "Leader election",
  option("leader-elect", "bool", "true", "Work only while holding the lease."),
  option(
    "leader-elect-lease-duration",
    "duration",
    "15s",
    "How long others wait for the leader.",
    { min: 1 },
  ),
  option(
    "leader-elect-renew-deadline",
    "duration",
    "10s",
    "How long the leader tries to renew; less than the lease.",
    { min: 1 },
  ),
  option("leader-elect-retry-period", "duration", "2s", "Between tries.", {
    min: 1,
  }),
  option(
    "leader-elect-resource-lock",
    "string",
    "leases",
    "Kind of the lock.",
    { values: ["leases"] },
  ),
  option(
    "leader-elect-resource-namespace",
    "string",
    "kube-system",
    "Namespace of the lock.",
  ),
  option(
    "leader-elect-resource-name",
    "string",
    "",
    "Name of the lock; the program's own when unset.",
  ),
);

/** Who may use the port of a part that runs alone. */
export const delegatedAccessOptions: OptionGroup = group(
  "Authentication and authorization",
  option(
    "authentication-kubeconfig",
    "string",
    "",
    "Kubeconfig for token reviews; none: all tokens are anonymous.",
  ),
  option(
    "authorization-kubeconfig",
    "string",
    "",
    "Kubeconfig for access reviews; none: all but the allowed paths are forbidden.",
  ),
  option(
    "authentication-token-webhook-cache-ttl",
    "duration",
    "10s",
    "How long reviews are kept.",
  ),
  option(
    "authorization-webhook-cache-authorized-ttl",
    "duration",
    "10s",
    "How long allowed answers are kept.",
  ),
  option(
    "authorization-webhook-cache-unauthorized-ttl",
    "duration",
    "10s",
    "How long denied answers are kept.",
  ),
  option(
    "authorization-always-allow-paths",
    "strings",
    "/healthz,/readyz,/livez",
    "Paths anyone may read.",
  ),
  option(
    "authentication-skip-lookup",
    "bool",
    "false",
    "Don't read missing authentication configuration from the cluster.",
  ),
  option(
    "authentication-tolerate-lookup-failure",
    "bool",
    "false",
    "Go on when it can't be read.",
  ),
  option("client-ca-file", "string", "", "CA bundle of client certificates."),
);

const signers = [
  "kube-apiserver-client",
  "kubelet-client",
  "kubelet-serving",
  "legacy-unknown",
];

const table: OptionTable = [
  group(
    "Serving",
    option(
      "secure-port",
      "int",
      "10257",
      "HTTPS port of health and metrics; 0 disables.",
      { min: 0, max: 65535 },
    ),
    option("bind-address", "string", "0.0.0.0", "Address of the HTTPS port."),
  ),
  apiClientOptions("20", "30"),
  controllerOptions,
  leaderElectionOptions,
  group(
    "Cluster",
    option(
      "cluster-name",
      "string",
      "orbit",
      "Prefix of the cluster's instances.",
    ),
    ...nodeIpamOptions,
    option(
      "configure-cloud-routes",
      "bool",
      "true",
      "Configure routes at the cloud provider.",
    ),
    option("cloud-provider", "string", "", "Cloud provider."),
    option("cloud-config", "string", "", "Its configuration file."),
    option(
      "external-cloud-volume-plugin",
      "string",
      "",
      "Volume plugin of an external cloud provider.",
    ),
    option(
      "enable-leader-migration",
      "bool",
      "false",
      "Run the controllers that are migrated between managers under a Lease of their own. Without effect without leader election; `orbit server` refuses it.",
    ),
    option(
      "leader-migration-config",
      "string",
      "",
      "LeaderMigrationConfiguration: the Lease's name and the controllers; without it the reference's, `cloud-provider-extraction-migration`.",
    ),
  ),
  group(
    "Credentials",
    option(
      "use-service-account-credentials",
      "bool",
      "false",
      "Each controller asks and writes as a service account of its own in kube-system, with its role alone; what is watched stays the manager's.",
    ),
    option(
      "service-account-private-key-file",
      "string",
      "",
      "Key that signs legacy tokens, those in Secrets of type kubernetes.io/service-account-token; without it they get none.",
    ),
    option(
      "root-ca-file",
      "string",
      "",
      "CA put beside service-account tokens and into kube-root-ca.crt.",
    ),
    option(
      "cluster-signing-cert-file",
      "string",
      "",
      "CA that signs certificate requests.",
    ),
    option("cluster-signing-key-file", "string", "", "Its key."),
    option(
      "cluster-signing-duration",
      "duration",
      "8760h0m0s",
      "Longest validity of signed certificates.",
      { min: 1000 },
    ),
    ...signers.flatMap((signer) => [
      option(
        `cluster-signing-${signer}-cert-file`,
        "string",
        "",
        `CA of the ${signer} signer.`,
      ),
      option(
        `cluster-signing-${signer}-key-file`,
        "string",
        "",
        `Key of the ${signer} signer.`,
      ),
    ]),
  ),
  delegatedAccessOptions,
  requestHeaderOptions("x-remote-user", "x-remote-group", "x-remote-extra-"),
  tlsOptions("/var/run/orbit"),
  sharingOptions,
  profilingOptions,
  loggingOptions,
  metricsOptions,
  gateOptions,
];

export const controllerManagerOptions: OptionTable = classify(
  table,
  usedControllerManagerOptions,
  unbuiltControllerManagerOptions,
);
