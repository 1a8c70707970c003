// Options of the tables that have no effect yet, and what follows when one is given. An option whose effect is to limit,
// protect, authenticate, authorize, encrypt or audit (`restricts`) refuses the start; one whose absence is harmless is
// warned about. A row leaves this file only when it has its effect and a test shows it.
// Worked example: `"fail-swap-on": "false"` says that the program behaves as with --fail-swap-on=false, so that value is
// accepted and every other one refuses the start.

export interface UnbuiltOptions {
  /** Name → the value that asks for what the program does anyway; "": only leaving it out does. */
  readonly restricts: Readonly<Record<string, string>>;
  readonly harmless: readonly string[];
  /** Name → why there is nothing for it to do here, for good. It is accepted, and warned about. */
  readonly moot: Readonly<Record<string, string>>;
}

const contention = {
  "contention-profiling": "one thread waits for no locks",
};
const hiddenMetrics = {
  "show-hidden-metrics-for-version": "no metric is hidden",
};
const clouds = "the controllers of clouds are programs of their own";
const flexVolumes = "flex volumes are refused: CSI took their place";
const oneProtocol = "the port speaks HTTP/1.1 alone";

const addressSharing = {
  "permit-address-sharing": "every listening socket has SO_REUSEADDR",
};
const portSharing = {
  // A second process on the port is what it is for, and Node 20 can't set SO_REUSEPORT (net.listen's reusePort came with
  // 22.12): a start that took it for granted would fail, or end the other process's, at the worst moment.
  "permit-port-sharing": "false",
};
const noPeers =
  "no request goes on to another API server (gate UnknownVersionInteroperabilityProxy)";
const noDialing =
  "the controllers connect to nothing on behalf of volumes: CSI drivers do";

export const unbuiltApiServerOptions: UnbuiltOptions = {
  restricts: {
    // What belongs into a store of its own must not land in the common one.
    "etcd-servers-overrides": "",
    ...portSharing,
  },
  harmless: [],
  moot: {
    ...contention,
    ...hiddenMetrics,
    ...addressSharing,
    "peer-ca-file": noPeers,
    "peer-advertise-ip": noPeers,
    "peer-advertise-port": noPeers,
  },
};

export const unbuiltControllerManagerOptions: UnbuiltOptions = {
  restricts: portSharing,
  harmless: [],
  moot: {
    ...contention,
    ...hiddenMetrics,
    ...addressSharing,
    "volume-host-cidr-denylist": noDialing,
    "volume-host-allow-local-loopback": noDialing,
    "concurrent-service-syncs": clouds,
    "cloud-provider": clouds,
    "cloud-config": clouds,
    "external-cloud-volume-plugin": clouds,
    "configure-cloud-routes": clouds,
    "route-reconciliation-period": clouds,
    "cluster-name": clouds,
    "flex-volume-plugin-dir": flexVolumes,
    "min-resync-period": "informers are driven by events alone",
    "disable-http2-serving": oneProtocol,
    "http2-max-streams-per-connection": oneProtocol,
  },
};

export const unbuiltSchedulerOptions: UnbuiltOptions = {
  restricts: {},
  harmless: [],
  moot: contention,
};

export const unbuiltAgentOptions: UnbuiltOptions = {
  restricts: {},
  harmless: [],
  moot: {
    ...contention,
    ...hiddenMetrics,
    "hairpin-mode": "the pod network decides, as in the reference",
    "volume-plugin-dir": flexVolumes,
  },
};
