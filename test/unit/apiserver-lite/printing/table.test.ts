import type { AnyObject } from "../../../../api/object.ts";
import {
  cellsOf,
  columnsOf,
} from "../../../../apiserver-lite/printing/table.ts";
import { createStrategies } from "../../../../apiserver-lite/resources/index.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const strategyFor = createStrategies();

const now = Date.parse("2025-01-01T01:00:00Z");
const created = "2025-01-01T00:55:00Z";
const kindOf: Record<string, { group: string; resource: string }> = {
  Pod: { group: "", resource: "pods" },
  Node: { group: "", resource: "nodes" },
  Service: { group: "", resource: "services" },
  Deployment: { group: "apps", resource: "deployments" },
};
function cells(kind: string, object: object): unknown[] {
  const { metadata, ...rest } = object as AnyObject;
  const { group, resource } = kindOf[kind]!;
  return cellsOf(
    strategyFor(group, resource)!,
    {
      metadata: Object.assign(
        { name: "x", creationTimestamp: created },
        metadata,
      ),
      ...rest,
    } as AnyObject,
    now,
  );
}

const running = {
  name: "c",
  ready: true,
  restartCount: 0,
  state: { running: {} },
};
const spec = { containers: [{ name: "c" }] };

test.each<[string, object, unknown[]]>([
  [
    "running",
    {
      spec,
      status: {
        phase: "Running",
        podIP: "10.0.0.1",
        containerStatuses: [running],
      },
    },
    ["x", "1/1", "Running", "0", "5m", "10.0.0.1"],
  ],
  [
    "pending",
    { spec, status: { phase: "Pending" } },
    ["x", "0/1", "Pending", "0", "5m", "<none>"],
  ],
  [
    "crashing",
    {
      spec,
      status: {
        phase: "Running",
        containerStatuses: [
          {
            ...running,
            ready: false,
            restartCount: 3,
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated: { finishedAt: created } },
          },
        ],
      },
    },
    ["x", "0/1", "CrashLoopBackOff", "3 (5m ago)", "5m", "<none>"],
  ],
  [
    "completed",
    {
      spec,
      status: {
        phase: "Succeeded",
        containerStatuses: [
          {
            ...running,
            ready: false,
            state: { terminated: { reason: "Completed", exitCode: 0 } },
          },
        ],
      },
    },
    ["x", "0/1", "Completed", "0", "5m", "<none>"],
  ],
  [
    "exit code",
    {
      spec,
      status: {
        phase: "Failed",
        containerStatuses: [
          { ...running, ready: false, state: { terminated: { exitCode: 2 } } },
        ],
      },
    },
    ["x", "0/1", "ExitCode:2", "0", "5m", "<none>"],
  ],
  [
    "terminating",
    {
      metadata: { deletionTimestamp: created },
      spec,
      status: { phase: "Running", containerStatuses: [running] },
    },
    ["x", "1/1", "Terminating", "0", "5m", "<none>"],
  ],
  [
    "init",
    {
      spec: { ...spec, initContainers: [{ name: "i" }, { name: "j" }] },
      status: {
        phase: "Pending",
        initContainerStatuses: [
          {
            name: "i",
            ready: true,
            restartCount: 0,
            state: { terminated: { exitCode: 0 } },
          },
          { name: "j", ready: false, restartCount: 1, state: { running: {} } },
        ],
      },
    },
    ["x", "0/1", "Init:1/2", "1", "5m", "<none>"],
  ],
  [
    "sidecar",
    {
      spec: {
        ...spec,
        initContainers: [{ name: "i", restartPolicy: "Always" }],
      },
      status: {
        phase: "Running",
        initContainerStatuses: [{ ...running, name: "i", started: true }],
        containerStatuses: [running],
      },
    },
    ["x", "2/2", "Running", "0", "5m", "<none>"],
  ],
  [
    "evicted",
    { spec, status: { phase: "Failed", reason: "Evicted" } },
    ["x", "0/1", "Evicted", "0", "5m", "<none>"],
  ],
])("pod %s", (_, pod, expected) =>
  expect(cells("Pod", pod).slice(0, expected.length)).toEqual(expected),
);

test("node", () => {
  expect(
    cells("Node", {
      metadata: {
        labels: {
          "node-role.kubernetes.io/worker": "",
          "node-role.kubernetes.io/control-plane": "",
        },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        nodeInfo: { kubeletVersion: "v1" },
        addresses: [{ type: "InternalIP", address: "1.2.3.4" }],
      },
    }),
  ).toEqual([
    "x",
    "Ready,SchedulingDisabled",
    "control-plane,worker",
    "5m",
    "v1",
    "1.2.3.4",
    "<none>",
    "<unknown>",
    "<unknown>",
    "<unknown>",
  ]);
});

test("service", () => {
  expect(
    cells("Service", {
      spec: {
        type: "LoadBalancer",
        clusterIPs: ["10.0.0.1"],
        ports: [
          { port: 80, nodePort: 30000, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
      },
    }),
  ).toEqual([
    "x",
    "LoadBalancer",
    "10.0.0.1",
    "<pending>",
    "80:30000/TCP,53/UDP",
    "5m",
    "<none>",
  ]);
});

test("deployment", () => {
  expect(
    cells("Deployment", {
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: "b" } },
        template: { spec: { containers: [{ name: "c", image: "i" }] } },
      },
      status: { readyReplicas: 1, updatedReplicas: 2 },
    }),
  ).toEqual(["x", "1/2", 2, 0, "5m", "c", "i", "a=b"]);
});

test("kinds without columns show name and creation time", () => {
  const role = strategyFor("rbac.authorization.k8s.io", "roles")!;
  const columns = columnsOf(
    { group: "rbac.authorization.k8s.io", kind: "Role" },
    role,
  );
  expect(columns.map(({ name }) => name)).toEqual(["Name", "Created At"]);
  const object = {
    metadata: { name: "r", creationTimestamp: created },
  } as AnyObject;
  expect(cellsOf(role, object, now)).toEqual(["r", created]);
});

test("a thousand pods are quick", () => {
  const pod = {
    metadata: { name: "p", creationTimestamp: created },
    spec,
    status: { phase: "Running", containerStatuses: [running] },
  } as unknown as AnyObject;
  const strategy = strategyFor("", "pods")!;
  let cells = 0;
  const cpuMs = cpuMsOf(() => {
    for (let count = 0; count < 1000; count++)
      cells += cellsOf(strategy, pod, now).length;
  });
  expect(cells).toBe(9000);
  expect(cpuMs).toBeLessThan(500);
});
