// Options of the API server about its ports, its limits, and how it reaches node agents.
import { group, option } from "../build-table.ts";
import type { OptionTable, OptionValue } from "../table.ts";

export const addressTypes = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
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

export const apiServingOptions: OptionTable = [
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
      "Non-mutating requests at once; with priority and fairness, this and the next add up to the seats of all levels.",
      { min: 0 },
    ),
    option(
      "max-mutating-requests-inflight",
      "int",
      "200",
      "Mutating requests at once; see --max-requests-inflight.",
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
      "Limit of an upgraded connection (exec, attach, port-forward, proxy), in each direction; 0: none.",
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
    option(
      "max-object-bytes",
      "int",
      "1572864",
      "Encoded bytes of a stored object; one that is larger is refused as by the reference's store.",
      { min: 1024, max: 64 * 1024 * 1024 },
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
      "strings",
      "",
      "Built-in APIs on or off: api/all, api/ga, api/beta, api/alpha, batch/v1=false, v1 (core), apps/v1/deployments=false.",
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
      "Time until a connection to a node agent is made; 0: 10s.",
      { min: 0 },
    ),
    option(
      "kubelet-preferred-address-types",
      "strings",
      "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
      "Order in which addresses are tried.",
      {
        values: addressTypes,
      },
    ),
  ),
];
