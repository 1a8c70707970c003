import type { Node, Pod } from "../../../api/types/core-v1.ts";
import { formatMicroTime } from "../../../api/clock.ts";
import { leases, nodes, pods } from "../../../client/resources.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  startControlPlane,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

let plane: ControlPlane;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  plane = await startControlPlane({ clock });
  await clock.advanceAsync(10);
});
afterEach(() => plane.stop());

const node = (name: string) =>
  plane.api.all<Node>(nodes).find(({ metadata }) => metadata.name === name)!;
const ready = (name: string) =>
  node(name).status?.conditions?.find(({ type }) => type === "Ready");
const taints = (name: string) =>
  (node(name).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
const podNamed = (name: string) =>
  plane.api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
const renew = async (name: string) => {
  const spec = { renewTime: formatMicroTime(clock.now()) };
  const metadata = { name, namespace: "kube-node-lease" };
  await plane.client
    .resource(leases)
    .patch(name, "kube-node-lease", { type: "merge", body: { spec } })
    .catch(() => plane.client.resource(leases).create({ metadata, spec }));
};

test("taints follow conditions and the cordon", async () => {
  const broken = testNode("a");
  broken.spec = {
    taints: [
      { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
      { key: "mine", effect: "NoSchedule" },
    ],
  };
  broken.status!.conditions = [
    { type: "Ready", status: "True" },
    { type: "DiskPressure", status: "True" },
  ];
  await plane.client.resource(nodes).create(broken);
  await clock.advanceAsync(10);
  expect(taints("a")).toEqual([
    "mine:NoSchedule",
    "node.kubernetes.io/disk-pressure:NoSchedule",
  ]);
  await plane.client.resource(nodes).patch("a", undefined, {
    type: "merge",
    body: { spec: { unschedulable: true } },
  });
  await clock.advanceAsync(10);
  expect(taints("a")).toContain("node.kubernetes.io/unschedulable:NoSchedule");
});

test("labels of the older names are kept equal to the stable ones", async () => {
  const labels = (name: string) => node(name).metadata.labels;
  const made = async (name: string, given: Record<string, string>) => {
    const object = testNode(name);
    object.metadata.labels = given;
    await plane.client.resource(nodes).create(object);
    await clock.advanceAsync(10);
  };
  const stable = { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" };
  const both = {
    ...stable,
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "arm64",
  };
  await made("a", { ...stable, "beta.kubernetes.io/arch": "amd64", mine: "x" });
  expect(labels("a")).toEqual({ ...both, mine: "x" });
  await plane.client.resource(nodes).patch("a", undefined, {
    type: "merge",
    body: { metadata: { labels: { "beta.kubernetes.io/os": "windows" } } },
  });
  await clock.advanceAsync(10);
  expect(labels("a")).toEqual({ ...both, mine: "x" });
  // Without the stable label the older one is left alone.
  await made("b", { "beta.kubernetes.io/os": "plan9" });
  expect(labels("b")).toEqual({ "beta.kubernetes.io/os": "plan9" });
  expect(taints("b")).toEqual(taints("a"));
});

test("a silent node becomes Unknown after the grace, its pods not ready, then evicted by their tolerations", async () => {
  await plane.client.resource(nodes).create(testNode("a"));
  await plane.client.resource(nodes).create(testNode("b"));
  for (const name of ["now", "later", "never"]) {
    const tolerations =
      name === "now"
        ? []
        : [
            {
              key: "node.kubernetes.io/unreachable",
              operator: "Exists",
              effect: "NoExecute",
              ...(name === "later" ? { tolerationSeconds: 300 } : {}),
            },
            // The first one that fits says.
            { operator: "Exists", tolerationSeconds: 10 },
          ];
    await plane.client
      .resource(pods)
      .create(testPod(name, { nodeName: "a", tolerations }));
    await plane.client.resource(pods).patch(
      name,
      "default",
      {
        type: "merge",
        body: { status: { conditions: [{ type: "Ready", status: "True" }] } },
      },
      { subresource: "status" },
    );
  }
  for (let second = 0; second < 49; second += 7) {
    await renew("a");
    await renew("b");
    await clock.advanceAsync(7000);
  }
  expect(ready("a")!.status).toBe("True");
  for (let second = 0; second < 50; second += 5) {
    await renew("b");
    await clock.advanceAsync(5000);
  }
  await clock.advanceAsync(50);
  expect(ready("a")).toMatchObject({
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
  });
  expect(ready("b")!.status).toBe("True");
  expect(taints("a")).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  const condition = podNamed("never")!.status!.conditions![0];
  expect(condition).toMatchObject({ type: "Ready", status: "False" });
  expect(podNamed("now")!.metadata.deletionTimestamp).toBeDefined();
  expect(podNamed("later")!.metadata.deletionTimestamp).toBeUndefined();
  for (let second = 0; second < 300; second += 5) {
    await renew("b");
    await clock.advanceAsync(5000);
  }
  expect(podNamed("later")!.metadata.deletionTimestamp).toBeDefined();
  expect(podNamed("never")!.metadata.deletionTimestamp).toBeUndefined();
});

test("when every node is down nobody is evicted", async () => {
  await plane.client.resource(nodes).create(testNode("a"));
  await clock.advanceAsync(51_000);
  expect(ready("a")!.status).toBe("Unknown");
  expect(taints("a")).toEqual(["node.kubernetes.io/unreachable:NoSchedule"]);
});

const say = async (name: string, status: string) => {
  await plane.client.resource(nodes).patch(
    name,
    undefined,
    {
      type: "strategic",
      body: { status: { conditions: [{ type: "Ready", status }] } },
    },
    { subresource: "status" },
  );
  await clock.advanceAsync(10);
};

test("when the last node goes down as well those that were evicted are so no longer", async () => {
  for (const name of ["a", "b"])
    await plane.client.resource(nodes).create(testNode(name));
  await plane.client.resource(pods).create(
    testPod("p", {
      nodeName: "a",
      tolerations: [{ operator: "Exists", tolerationSeconds: 20 }],
    }),
  );
  await say("a", "False");
  expect(taints("a")).toEqual([
    "node.kubernetes.io/not-ready:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
  ]);
  await say("b", "False");
  expect(taints("a")).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]);
  expect(taints("b")).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]);
  await clock.advanceAsync(30_000);
  expect(podNamed("p")!.metadata.deletionTimestamp).toBeUndefined();
});

test("a node's NoExecute taint follows its condition at once, without a turn of its own", async () => {
  for (const name of ["a", "b", "c"])
    await plane.client.resource(nodes).create(testNode(name));
  await clock.advanceAsync(10);
  await say("a", "Unknown");
  await say("b", "False");
  expect(taints("a")).toContain("node.kubernetes.io/unreachable:NoExecute");
  // It waits for its turn.
  expect(taints("b")).toEqual(["node.kubernetes.io/not-ready:NoSchedule"]);
  await say("a", "False");
  expect(taints("a")).toEqual([
    "node.kubernetes.io/not-ready:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
  ]);
});

test("pods of a node that says itself that it is not ready stay as its agent reports them", async () => {
  for (const name of ["a", "b"])
    await plane.client.resource(nodes).create(testNode(name));
  await plane.client.resource(pods).create({
    ...testPod("p", { nodeName: "a", tolerations: [{ operator: "Exists" }] }),
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  await say("a", "False");
  expect(podNamed("p")!.status!.conditions![0]!.status).toBe("True");
  await say("a", "Unknown");
  expect(podNamed("p")!.status!.conditions![0]!.status).toBe("False");
});

test("a node that is being deleted and that a finalizer holds is watched over like others", async () => {
  await plane.client.resource(nodes).create(testNode("b"));
  const held = testNode("a");
  held.metadata.finalizers = ["example.com/machine"];
  await plane.client.resource(nodes).create(held);
  await plane.client.resource(nodes).delete("a");
  await say("a", "False");
  expect(taints("a")).toContain("node.kubernetes.io/not-ready:NoExecute");
});

test("pods on a node that comes back with a taint are evicted", async () => {
  await plane.client.resource(nodes).create(testNode("b"));
  await plane.client.resource(pods).create(testPod("p", { nodeName: "a" }));
  await clock.advanceAsync(10);
  const node = testNode("a");
  node.spec.taints = [{ key: "mine", effect: "NoExecute" }];
  await plane.client.resource(nodes).create(node);
  await clock.advanceAsync(10);
  expect(podNamed("p")!.metadata.deletionTimestamp).toBeDefined();
});

test("pods of a node that is gone are removed after the quarantine", async () => {
  await plane.client.resource(nodes).create(testNode("a"));
  await plane.client.resource(pods).create(testPod("p", { nodeName: "a" }));
  await plane.client.resource(nodes).delete("a");
  await clock.advanceAsync(39_000);
  expect(podNamed("p")).toBeDefined();
  await clock.advanceAsync(2_000);
  expect(podNamed("p")).toBeUndefined();
});
