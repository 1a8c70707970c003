// What pods of every shape ask for and may use, by the reference's rules, worked out by hand: the one table that all who
// count pods are held against. Amounts are cpu/memory, cpu in millicores and memory in MiB; "" says nothing.
import type { QosClass } from "../../api/objects/pod-qos.ts";
import type { Container, PodSpec } from "../../api/types/core-v1.ts";

export interface PodShape {
  readonly what: string;
  readonly spec: PodSpec;
  /** With overhead. */
  readonly requests: string;
  readonly limits: string;
  readonly qos: QosClass;
  /** Without overhead, as limit ranges count. Undefined: the same. */
  readonly ranged?: readonly [requests: string, limits: string];
}

function list(amounts: string): Record<string, string> {
  const [cpu, memory] = amounts.split("/");
  return {
    ...(cpu ? { cpu: `${cpu}m` } : {}),
    ...(memory ? { memory: `${memory}Mi` } : {}),
  };
}

let names = 0;
function container(requests: string, limits = ""): Container {
  return {
    name: `c${names++}`,
    image: "i",
    resources: { requests: list(requests), limits: list(limits) },
  };
}
const sidecar = (requests: string, limits = ""): Container => ({
  ...container(requests, limits),
  restartPolicy: "Always",
});

function shape(
  what: string,
  containers: Container[],
  initContainers: Container[],
  requests: string,
  limits: string,
  more: Partial<PodSpec> = {},
  ranged?: readonly [string, string],
): PodShape {
  return {
    what,
    spec: {
      containers,
      ...(initContainers.length > 0 ? { initContainers } : {}),
      ...more,
    },
    requests,
    limits,
    qos: qosByShape[what] ?? "Burstable",
    ...(ranged ? { ranged } : {}),
  };
}

const qosByShape: Readonly<Record<string, QosClass>> = {
  nothing: "BestEffort",
  "overhead of a pod that says nothing": "BestEffort",
  "sidecars around an init container": "Guaranteed",
};

const overhead = (amounts: string): Partial<PodSpec> => ({
  overhead: list(amounts),
});

export const podShapes: readonly PodShape[] = [
  shape(
    "one container",
    [container("100/64", "200/128")],
    [],
    "100/64",
    "200/128",
  ),
  shape("nothing", [container("")], [], "", ""),
  shape("cpu alone", [container("100/", "/64")], [], "100/", "/64"),
  shape(
    "two containers",
    [container("100/64", "200/128"), container("50/32", "100/64")],
    [],
    "150/96",
    "300/192",
  ),
  shape(
    "a container that says nothing beside one that does",
    [container("100/64", "200/128"), container("")],
    [],
    "100/64",
    "200/128",
  ),
  shape(
    "a smaller init container",
    [container("100/64", "200/128")],
    [container("50/32", "100/64")],
    "100/64",
    "200/128",
  ),
  shape(
    "a greater init container",
    [container("100/64", "200/128")],
    [container("300/256", "400/512")],
    "300/256",
    "400/512",
  ),
  shape(
    "init containers one after the other",
    [container("100/64")],
    [container("300/32"), container("50/256")],
    "300/256",
    "",
  ),
  shape(
    "an init container greater in one resource",
    [container("100/64")],
    [container("300/32")],
    "300/64",
    "",
  ),
  shape(
    "an init container with a resource of its own",
    [container("100/")],
    [container("/64")],
    "100/64",
    "",
  ),
  shape(
    "a sidecar",
    [container("100/64", "200/128")],
    [sidecar("50/32", "60/40")],
    "150/96",
    "260/168",
  ),
  shape(
    "a sidecar before an init container",
    [container("100/64")],
    [sidecar("50/32"), container("400/16")],
    "450/96",
    "",
  ),
  shape(
    "a sidecar after an init container",
    [container("100/64")],
    [container("400/16"), sidecar("50/32")],
    "400/96",
    "",
  ),
  shape(
    "sidecars around an init container",
    [container("100/64", "100/64")],
    [
      sidecar("50/32", "50/32"),
      container("200/128", "200/128"),
      sidecar("25/16", "25/16"),
    ],
    "250/160",
    "250/160",
  ),
  shape(
    "sidecars that grow from init container to init container",
    [container("10/8")],
    [
      sidecar("100/64"),
      container("100/8"),
      sidecar("100/64"),
      container("50/8"),
    ],
    "250/136",
    "",
  ),
  shape(
    "a sidecar alone with a limit",
    [container("100/64")],
    [sidecar("", "50/32")],
    "100/64",
    "50/32",
  ),
  shape(
    "overhead",
    [container("100/64", "200/128")],
    [],
    "110/72",
    "210/136",
    overhead("10/8"),
    ["100/64", "200/128"],
  ),
  shape(
    "overhead without limits",
    [container("100/64")],
    [],
    "110/72",
    "",
    overhead("10/8"),
    ["100/64", ""],
  ),
  shape(
    "overhead where one resource is limited",
    [container("100/64", "/128")],
    [],
    "110/72",
    "/136",
    overhead("10/8"),
    ["100/64", "/128"],
  ),
  shape(
    "overhead of a pod that says nothing",
    [container("")],
    [],
    "10/8",
    "",
    overhead("10/8"),
    ["", ""],
  ),
  shape(
    "overhead on the greater of the moments",
    [container("100/64")],
    [sidecar("50/32"), container("400/16")],
    "460/104",
    "",
    overhead("10/8"),
    ["450/96", ""],
  ),
  shape(
    "resources of the pod as a whole",
    [container("100/64", "200/128"), container("50/", "")],
    [],
    "500/64",
    "600/512",
    { resources: { requests: list("500/"), limits: list("600/512") } },
  ),
];

/** The cpu and memory of a sum, as the table writes them. */
export function shownAmounts(
  cpuMillis: number | undefined,
  memoryBytes: number | undefined,
): string {
  const memory =
    memoryBytes === undefined ? "" : String(memoryBytes / 1024 / 1024);
  const cpu = cpuMillis === undefined ? "" : String(cpuMillis);
  return cpu === "" && memory === "" ? "" : `${cpu}/${memory}`;
}
