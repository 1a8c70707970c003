// PriorityClass, Lease, EndpointSlice and RuntimeClass: defaults, what is refused, what may change.
import { createEach, plain, updateEach, each, names } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

export const smallKinds: Scenario = {
  name: "small-kinds",
  async run(server) {
    const { namespace, call } = server;
    const within = (group: string, resource: string): string =>
      `/apis/${group}/namespaces/${namespace}/${resource}`;

    const priority = {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "pc-ref" },
      value: 5,
    };
    const priorities = "/apis/scheduling.k8s.io/v1/priorityclasses";
    await createEach(server, "priorityclass", priorities, priority, [
      ...names.slice(0, 3),
      ...each("value", [
        1000000001,
        1000000000,
        -5,
        undefined,
        2147483648,
        "5",
      ]),
      ...each("preemptionPolicy", ["Never", "Other", ""]),
      { "metadata.name": "system-x" },
      { "metadata.name": "system-node-critical" },
      { "metadata.name": "system-cluster-critical", value: 2000000000 },
      { globalDefault: true },
      { description: "d" },
      { "metadata.name": "system-x", value: 2000000000, preemptionPolicy: "X" },
    ]);
    await updateEach(server, "priorityclass", priorities, priority, [
      {},
      { value: 6 },
      { preemptionPolicy: "Never" },
      { globalDefault: true },
      { description: "other" },
      { value: 6, preemptionPolicy: "X" },
    ]);
    await call(
      "system priorityclass deleted",
      "DELETE",
      `${priorities}/system-node-critical`,
      plain,
    );
    await call(
      "system priorityclasses",
      "GET",
      `${priorities}/system-cluster-critical`,
      plain,
    );

    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec: {},
    };
    const leases = within("coordination.k8s.io/v1", "leases");
    await createEach(server, "lease", leases, lease, [
      ...names.slice(0, 3),
      { spec: undefined },
      ...each("spec.leaseDurationSeconds", [0, -1, 5]),
      ...each("spec.leaseTransitions", [-1, 0]),
      ...each("spec.holderIdentity", ["", "x"]),
      ...each("spec.renewTime", [
        "2024-01-02T03:04:05Z",
        "2024-01-02T03:04:05.123456Z",
        "2024-01-02T03:04:05.123456789Z",
        "2024-01-02T03:04:05+02:00",
        "x",
        5,
        "2024-01-02",
      ]),
      { "spec.strategy": "OldestEmulationVersion" },
      { "spec.preferredHolder": "x" },
    ]);
    await updateEach(server, "lease", leases, lease, [
      {},
      { "spec.holderIdentity": "y" },
      { "spec.leaseDurationSeconds": -1, "spec.leaseTransitions": -1 },
      { "metadata.resourceVersion": undefined },
    ]);
    for (const version of ["v1beta1", "v1alpha1", "v1alpha2"])
      await call(
        `coordination ${version}`,
        "GET",
        `/apis/coordination.k8s.io/${version}/leases`,
        plain,
      );

    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "es" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["1.2.3.4"] }],
      ports: [{ port: 80 }],
    };
    const slices = within("discovery.k8s.io/v1", "endpointslices");
    await createEach(server, "endpointslice", slices, slice, [
      ...names.slice(0, 2),
      ...each("addressType", [undefined, "", "X", "IPv6", "FQDN"]),
      ...each("endpoints", [
        undefined,
        [],
        [{}],
        [{ addresses: [] }],
        [{ addresses: ["x"] }],
        [{ addresses: ["127.0.0.1"] }],
        [{ addresses: ["::1"] }],
        [{ addresses: ["1.2.3.4", "1.2.3.4"] }],
        [{ addresses: ["0.0.0.0", "169.254.0.1", "224.0.0.1"] }],
        [{ addresses: ["1.2.3.4"], hostname: "A_", nodeName: "B_", zone: "c" }],
        [{ addresses: ["1.2.3.4"], hostname: "a", conditions: {} }],
        [
          {
            addresses: ["1.2.3.4"],
            conditions: { ready: true, serving: false },
          },
        ],
        [
          {
            addresses: ["1.2.3.4"],
            deprecatedTopology: { "kubernetes.io/hostname": "n" },
          },
        ],
        [
          {
            addresses: ["1.2.3.4"],
            hints: { forZones: [{ name: "a" }, { name: "a" }, { name: "b_" }] },
          },
        ],
        [
          {
            addresses: Array.from(
              { length: 101 },
              (_, index) => `1.2.3.${index}`,
            ),
          },
        ],
        [{ addresses: ["01.2.3.4"] }],
      ]),
      ...each("ports", [
        undefined,
        [],
        [{}],
        [{ port: 0 }],
        [{ port: 70000 }],
        [{ port: 80, protocol: "X" }],
        [
          { port: 80, name: "a" },
          { port: 81, name: "a" },
        ],
        [{ port: 80 }, { port: 81 }],
        [{ port: 80, name: "A_" }],
        [{ port: 80, appProtocol: "kubernetes.io/h2c" }],
        [{ port: 80, appProtocol: "a b" }],
        [{ port: 80, protocol: "" }],
      ]),
      { addressType: "FQDN", endpoints: [{ addresses: ["a.b", "A_"] }] },
      {
        addressType: "IPv6",
        endpoints: [{ addresses: ["fd00::1", "::1", "fe80::1", "1.2.3.4"] }],
      },
    ]);
    await updateEach(server, "endpointslice", slices, slice, [
      {},
      { addressType: "IPv6", endpoints: [] },
      { endpoints: [{ addresses: ["1.2.3.5"] }] },
      { "metadata.labels": { a: "b" } },
      { ports: undefined },
    ]);
    await call(
      "discovery v1beta1",
      "GET",
      `/apis/discovery.k8s.io/v1beta1/endpointslices`,
      plain,
    );

    const runtimeClass = {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "rc-ref" },
      handler: "h",
    };
    const runtimes = "/apis/node.k8s.io/v1/runtimeclasses";
    await createEach(server, "runtimeclass", runtimes, runtimeClass, [
      ...names.slice(0, 3),
      ...each("handler", ["", "A_", "a.b", undefined, "a".repeat(64)]),
      ...each("overhead", [
        {},
        { podFixed: { cpu: "1" } },

        { podFixed: { cpu: "0.0001" } },
      ]),
      ...each("scheduling", [
        {},
        { nodeSelector: { "a b": "c d" } },
        { tolerations: [{ operator: "X" }] },
        { tolerations: [{ key: "a" }, { key: "a" }] },
        {
          nodeSelector: { a: "b" },
          tolerations: [{ key: "a", operator: "Exists", effect: "X" }],
        },
      ]),
    ]);
    await updateEach(server, "runtimeclass", runtimes, runtimeClass, [
      {},
      { handler: "i" },
      { scheduling: { nodeSelector: { a: "b" } } },
      { overhead: { podFixed: { cpu: "2" } } },
    ]);
  },
};
