// What a limit range says about an object, and what a quota counts of it: texts and amounts of the reference.
import type { AnyObject } from "../../../../api/object.ts";
import { usageOf } from "../../../../api/objects/quota/usage.ts";
import type { LimitRangeItem } from "../../../../api/types/core-v1.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
} from "../../../../apiserver-lite/admission/plugin.ts";
import { limitRanger } from "../../../../apiserver-lite/admission/plugins/limit-ranger.ts";
import { createResourceQuota } from "../../../../apiserver-lite/admission/plugins/resource-quota.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { countedResource } from "../../../../controllers/quota/counted-resource.ts";
import { firstRound } from "../../../support/admission-attributes.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";

const clock = new FakeClock();
let state: FakeState;
beforeEach(() => {
  state = new FakeState();
});

const range = (name: string, ...limits: LimitRangeItem[]): void =>
  state.put("", "limitranges", {
    metadata: { name, namespace: "ns" },
    spec: { limits },
  });
const quota = (name: string, hard: object): void =>
  state.put("", "resourcequotas", {
    metadata: { name, namespace: "ns" },
    spec: { hard },
  });
const container = (name: string, requests: object, limits: object = {}) => ({
  name,
  resources: { requests, limits },
});
const pod = (
  containers: object[],
  initContainers: object[] = [],
): AnyObject => ({
  metadata: { name: "x", namespace: "ns" },
  spec: { containers, initContainers },
});
const claim = (storage: string, metadata: object = {}): AnyObject => ({
  metadata: { name: "x", namespace: "ns", ...metadata },
  spec: { resources: { requests: { storage } } },
});

function attributesOf(
  resource: string,
  object: AnyObject,
  oldObject?: AnyObject,
): AdmissionAttributes {
  return {
    operation: oldObject ? "UPDATE" : "CREATE",
    resource: { group: "", version: "v1", resource },
    kind: { group: "", version: "v1", kind: "X" },
    subresource: "",
    namespace: "ns",
    name: "x",
    user: { name: "admin", groups: [], extra: {} },
    dryRun: false,
    options: {},
    object,
    oldObject,
    ...firstRound(),
  };
}
const context = (): StrategyContext =>
  ({
    clock,
    read: state.read.bind(state),
    list: state.list.bind(state),
  }) as unknown as StrategyContext;
const answer = (
  plugin: AdmissionPlugin,
  attributes: AdmissionAttributes,
): string => {
  try {
    void plugin.validate!(attributes, context());
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("a limit range", () => {
  const limits = (object: AnyObject): string =>
    answer(limitRanger, attributesOf("pods", object));

  test("says the same of several containers once, and of each resource the first that is wrong", () => {
    range("r", {
      type: "Container",
      min: { cpu: "100m" },
      max: { memory: "1Gi" },
    });
    const low = (name: string) =>
      container(name, { cpu: "50m" }, { cpu: "60m", memory: "2Gi" });
    expect(limits(pod([low("a"), low("b")]))).toBe(
      'pods "x" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per Container is 1Gi, but limit is 2Gi]',
    );
  });

  test("names containers before init containers, by its items' order, of the first range alone", () => {
    range(
      "r",
      { type: "Pod", max: { cpu: "2" } },
      { type: "Container", max: { cpu: "1" } },
    );
    range("s", { type: "Container", max: { memory: "1Mi" } });
    const object = pod(
      [container("c", {}, { cpu: "3" })],
      [container("i", {}, { cpu: "4" })],
    );
    expect(limits(object)).toBe(
      'pods "x" is forbidden: [maximum cpu usage per Pod is 2, but limit is 4, maximum cpu usage per Container is 1, but limit is 3, maximum cpu usage per Container is 1, but limit is 4]',
    );
  });

  test.each([
    [{ cpu: "1" }, {}, "no limit is specified or limit is 0"],
    [{}, { cpu: "1" }, "no request is specified or request is 0"],
    [{ cpu: "0" }, { cpu: "1" }, "no request is specified or request is 0"],
    [{ cpu: "500m" }, { cpu: "2" }, "provided ratio is 4.000000"],
  ])(
    "bounds the ratio of limits to requests: %j, %j",
    (requests, most, text) => {
      range("r", { type: "Container", maxLimitRequestRatio: { cpu: "3" } });
      expect(limits(pod([container("c", requests, most)]))).toBe(
        `pods "x" is forbidden: cpu max limit to request ratio per Container is 3, but ${text}`,
      );
    },
  );

  test("of two that set defaults the last one says so", () => {
    range("r", { type: "Container", default: { cpu: "1" } });
    range("s", { type: "Container", default: { cpu: "2", memory: "1Gi" } });
    const object = pod([{ name: "c" }]);
    void limitRanger.admit!(attributesOf("pods", object), context());
    expect(object).toMatchObject({
      metadata: {
        annotations: {
          "kubernetes.io/limit-ranger":
            "LimitRanger plugin set: memory limit for container c",
        },
      },
      spec: {
        containers: [{ resources: { limits: { cpu: "1", memory: "1Gi" } } }],
      },
    });
  });

  test("holds for a claim that grows, unless it is being deleted", () => {
    range("r", { type: "PersistentVolumeClaim", max: { storage: "2Gi" } });
    const grow = (metadata: object = {}): string =>
      answer(
        limitRanger,
        attributesOf(
          "persistentvolumeclaims",
          claim("3Gi"),
          claim("1Gi", metadata),
        ),
      );
    expect(grow()).toBe(
      'persistentvolumeclaims "x" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
    expect(grow({ deletionTimestamp: "2025-01-01T00:00:00Z" })).toBe("");
  });
});

describe("a quota", () => {
  const used = (resource: string, object: object, group = "") =>
    usageOf(group, resource, object as AnyObject, clock.now());
  const iso = (ms: number): string => new Date(ms).toISOString();

  test.each([
    ["that ended", { status: { phase: "Succeeded" } }],
    [
      "whose node is lost, beyond its grace",
      {
        metadata: {
          name: "x",
          deletionTimestamp: iso(clock.now() - 31_000),
          deletionGracePeriodSeconds: 30,
        },
      },
    ],
  ])("counts a pod %s among all pods alone", (_, more) => {
    const object = pod([container("c", { cpu: "1" })]);
    expect(used("pods", object)).toMatchObject({ pods: "1", cpu: "1" });
    expect(used("pods", { ...object, ...more })).toEqual({ "count/pods": "1" });
  });

  test("counts the ports of nodes that a balanced service names itself", () => {
    const ports = [{ port: 80, nodePort: 30080 }, { port: 81 }];
    const spec = { type: "LoadBalancer", ports };
    expect(used("services", { metadata: {}, spec })).toMatchObject({
      "services.nodeports": "2",
    });
    expect(
      used("services", {
        metadata: {},
        spec: { ...spec, allocateLoadBalancerNodePorts: false },
      }),
    ).toMatchObject({
      "services.nodeports": "1",
      "services.loadbalancers": "1",
    });
  });

  test("counts a claim by its class, in whole bytes, with what was allocated", () => {
    const object = claim("1Gi", {
      annotations: { "volume.beta.kubernetes.io/storage-class": "gold" },
    });
    const gold = "gold.storageclass.storage.k8s.io/requests.storage";
    expect(used("persistentvolumeclaims", object)).toMatchObject({
      [gold]: "1Gi",
    });
    const status = { allocatedResources: { storage: "2Gi" } };
    expect(used("persistentvolumeclaims", { ...object, status })).toMatchObject(
      { [gold]: "2Gi", "requests.storage": "2Gi" },
    );
    expect(used("persistentvolumeclaims", claim("1500m"))).toMatchObject({
      "requests.storage": "2",
    });
  });

  test("counts devices by their class", () => {
    const requests = [
      { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 },
      { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 },
      { deviceClassName: "fpga", allocationMode: "All" },
    ];
    const object = { metadata: { name: "x" }, spec: { devices: { requests } } };
    expect(used("resourceclaims", object, "resource.k8s.io")).toEqual({
      "count/resourceclaims.resource.k8s.io": "1",
      "gpu.deviceclass.resource.k8s.io/devices": "3",
      "fpga.deviceclass.resource.k8s.io/devices": "32",
    });
    expect(countedResource("gpu.deviceclass.resource.k8s.io/devices")).toBe(
      "resource.k8s.io/resourceclaims",
    );
  });

  test("asks all quotas first what has to be said, and names containers by name", () => {
    quota("a", { pods: "0" });
    quota("b", { "limits.cpu": "1" });
    const object = pod([{ name: "z" }, { name: "y" }], [{ name: "x" }]);
    expect(answer(createResourceQuota(), attributesOf("pods", object))).toBe(
      'pods "x" is forbidden: failed quota: b: must specify limits.cpu for: x,y,z',
    );
  });

  test("a limited resource needs one that covers it, but not for an update that takes no more", () => {
    const plugin = createResourceQuota([
      {
        group: "",
        resource: "persistentvolumeclaims",
        matchContains: ["requests.storage"],
        matchScopes: [],
      },
    ]);
    const asked = (object: AnyObject, old?: AnyObject): string =>
      answer(plugin, attributesOf("persistentvolumeclaims", object, old));
    const problem =
      'persistentvolumeclaims "x" is forbidden: insufficient quota to consume: requests.storage';
    expect(asked(claim("1Gi"))).toBe(problem);
    expect(asked(claim("2Gi"), claim("1Gi"))).toBe(problem);
    expect(asked(claim("1Gi"), claim("1Gi"))).toBe("");
    quota("q", { "requests.storage": "2Gi" });
    expect(asked(claim("1Gi"))).toBe("");
  });
});
