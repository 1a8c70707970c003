// The order of the house, declared once: floors from top to bottom. An import goes down, never up or sideways; inside one
// place anything goes but a circle. docs/ARCHITECTURE.md gives the reasons.

/** Rooms are the folders of the root, and index.ts, the library. */
export const floors: readonly (readonly string[])[] = [
  ["index.ts"],
  ["cli"],
  ["server", "agent", "network", "scheduler", "controllers", "apiserver-lite"],
  ["eviction", "cri", "client", "storage", "http-kit"],
  ["api", "grpc"],
];

/** Rooms that only these may look into, wherever they are. */
export const readersOf: Readonly<Record<string, readonly string[]>> = {
  storage: ["index.ts", "cli", "apiserver-lite"],
};

/** Rooms of which others import these files and no other. */
export const doors: Readonly<Record<string, readonly string[]>> = {
  "apiserver-lite": ["index.ts", "object-rules.ts"],
};

/** A door to rules of objects alone, which loads nothing else of its room. */
export const rulesDoor = {
  file: "apiserver-lite/object-rules.ts",
  loads: ["apiserver-lite/printing/age.ts", "apiserver-lite/resources/"],
} as const;

/** Commands that run without an API server, and load no file of it but by that door: neither at the start nor later. */
export const withoutServer: readonly string[] = [
  "cli/agent.ts",
  "cli/controller-manager.ts",
  "cli/ctl/ctl.ts",
  "cli/doctor/doctor.ts",
  "cli/image.ts",
  "cli/remove-pods.ts",
  "cli/scheduler.ts",
  "cli/stop-pods.ts",
];

/** By room. A place is a file or a folder with all below it; the longest that fits decides. */
export const innerFloors: Readonly<
  Record<string, readonly (readonly string[])[]>
> = {
  "apiserver-lite": [
    ["index.ts", "object-rules.ts"],
    ["server.ts"],
    ["wiring.ts"],
    ["own-port.ts"],
    ["server-options.ts"],
    ["in-process"],
    ["front"],
    ["metrics"],
    ["aggregation"],
    ["discovery", "health", "debug"],
    ["serving"],
    ["node-metrics"],
    ["bootstrap", "custom", "dispatch", "proxy"],
    ["admission/plugins", "authentication", "encryption", "flow-control"],
    ["registry"],
    ["admission/policy", "admission/webhook"],
    ["admission/expressions"],
    ["admission/matching"],
    ["admission", "audit", "authorization", "cache", "webhook-client"],
    ["service-routing"],
    ["resources"],
    ["printing"],
    ["loop", "request"],
  ],
  agent: [
    ["agent.ts"],
    ["wiring.ts"],
    ["view-wiring.ts"],
    [
      "agent-view.ts",
      "directory-view.ts",
      "upkeep-wiring.ts",
      "volume-wiring.ts",
      "device-wiring.ts",
      "worker-wiring.ts",
    ],
    ["agent-parts.ts"],
    ["runtime-adoption.ts"],
    ["agent-options.ts", "housekeeping.ts", "pod-access.ts"],
    ["node", "reporting", "shutdown", "sources"],
    ["container-checkpoint.ts", "pod-resources", "stats"],
    ["pods/worker"],
    ["pods/clean"],
    ["pods/start"],
    ["images", "pods/end", "pods/resize"],
    ["probes", "status"],
    ["pods/runtime"],
    ["cgroups", "volumes"],
    ["resources"],
    [
      "certificates/client-certificate.ts",
      "certificates/serving-certificate.ts",
    ],
    ["certificates/certificate-request.ts"],
    ["events", "logs", "metrics", "pacing", "plugin-registration"],
    ["pods/shape"],
    ["config"],
  ],
  network: [
    ["dns", "ingress", "load-balancer", "nodes", "policy", "proxy"],
    ["pods"],
    [
      "conntrack",
      "iptables",
      "kernel-settings.ts",
      "links",
      "nft",
      "address-ranges.ts",
      "plain-port.ts",
      "slices-of-service.ts",
    ],
    ["ending-program.ts"],
  ],
  cri: [
    ["open-runtime.ts"],
    ["containerd", "docker", "private-containerd"],
    ["cni", "images", "sandbox-image"],
    [
      "deadline.ts",
      "directories.ts",
      "endpoint.ts",
      "event-listeners.ts",
      "machine-code",
      "process.ts",
      "program-file.ts",
    ],
    ["runtime-error-text.ts"],
    ["runtime.ts"],
    ["logs", "runtime-features.ts", "usage.ts", "user-mappings.ts"],
  ],
};

/** Places that know no kind: what is special about one is a member of its strategy. And where a kind is named all the same. */
export const generic: readonly string[] = [
  "apiserver-lite/cache",
  "apiserver-lite/dispatch",
  "apiserver-lite/in-process",
  "apiserver-lite/registry",
  "apiserver-lite/serving",
];
export const namedKinds: readonly string[] = [
  // Paths of namespaces: /namespaces/x is both an object and a place.
  'apiserver-lite/dispatch/places.ts resource !== "namespaces"',
  // Kinds of answers, not of resources.
  'apiserver-lite/serving/representation.ts kind === "Status"',
  'apiserver-lite/serving/table.ts kind === "Scale"',
];

/** Files a folder may hold itself; those that hold more, and how many at most. Lower a number, never raise it. */
export const maxFiles = 20;
export const largerFolders: Readonly<Record<string, number>> = {
  // Generated, one file a group and version.
  "api/types": 34,
};

/** `as unknown as` in a room, at most, outside the files that are its border. Lower a number, never raise it. */
export const casts: Readonly<
  Record<string, { readonly most: number; readonly border: readonly string[] }>
> = {
  "apiserver-lite": {
    most: 0,
    border: ["apiserver-lite/resources/typed.ts"],
  },
};
