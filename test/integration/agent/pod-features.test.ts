import { once } from "node:events";
import type { Agent } from "../../../agent/agent.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";
import * as fs from "node:fs/promises";
import * as path from "node:path";

let node: NodeFixture;
let agent: Agent;
beforeAll(async () => {
  node = await startNode();
  agent = node.agent({
    onOtherManifests: () => undefined,
    config: {
      nodeName: "test-node",
      featureGates: { PodLevelResources: true },
    },
  });
  await agent.start();
});
afterAll(async () => {
  await node?.close();
});

async function phase(name: string, wanted: string): Promise<Pod> {
  return await eventually(
    () => {
      const found = podOf(agent, `${name}-test-node`);
      if (found?.status?.phase === wanted) return found;
      throw new Error(JSON.stringify(found?.status));
    },
    { what: `${name} to be ${wanted}`, timeoutMs: 30_000 },
  );
}

async function logs(
  name: string,
  options: Partial<Parameters<Agent["logs"]>[2]> = {},
  onText: (text: string) => void = () => undefined,
): Promise<string> {
  const stream = await agent.logs("default", `${name}-test-node`, {
    container: "main",
    follow: false,
    previous: false,
    timestamps: false,
    ...options,
  });
  let text = "";
  stream.on("data", (chunk: Buffer) => onText((text += chunk.toString())));
  if (!stream.readableEnded) await once(stream, "end");
  return text;
}

test("init containers, environment and volumes", async () => {
  await fs.writeFile(
    path.join(node.manifests, "config.yaml"),
    `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {color: blue, shape: round}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: default}
stringData: {password: hush}
`,
  );
  const pod = busyboxPod(
    "features",
    "cat /scratch/first /config/color /etc/secret/p; echo; echo $COLOR-$SHAPE-$NAME-$PASSWORD-$LIMIT; cat /info/labels; echo; cat /sub/inner/file; ls -l /shm | wc -l",
    {
      restartPolicy: "Never",
      initContainers: [
        {
          name: "one",
          image: "busybox",
          command: [
            "sh",
            "-c",
            "echo one > /scratch/first; mkdir -p /scratch/deep/inner; echo deep > /scratch/deep/inner/file",
          ],
          volumeMounts: [{ name: "work", mountPath: "/scratch" }],
        },
        {
          name: "two",
          image: "busybox",
          command: [
            "sh",
            "-c",
            "test -f /scratch/first && echo two >> /scratch/first",
          ],
          volumeMounts: [{ name: "work", mountPath: "/scratch" }],
        },
      ],
      volumes: [
        { name: "work", emptyDir: {} },
        { name: "shm", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
        { name: "config", configMap: { name: "settings" } },
        {
          name: "secret",
          secret: {
            secretName: "credentials",
            items: [{ key: "password", path: "p", mode: 0o400 }],
          },
        },
        {
          name: "info",
          downwardAPI: {
            items: [
              { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
            ],
          },
        },
      ],
    },
  );
  pod.metadata.labels = { app: "demo" };
  Object.assign(pod.spec.containers[0]!, {
    imagePullPolicy: "Never",
    env: [
      {
        name: "COLOR",
        valueFrom: { configMapKeyRef: { name: "settings", key: "color" } },
      },
      { name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      {
        name: "PASSWORD",
        valueFrom: { secretKeyRef: { name: "credentials", key: "password" } },
      },
      {
        name: "LIMIT",
        valueFrom: {
          resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" },
        },
      },
    ],
    envFrom: [
      { configMapRef: { name: "settings" }, prefix: "X_" },
      { configMapRef: { name: "settings" } },
    ],
    resources: { limits: { memory: "32Mi", cpu: "100m" } },
    volumeMounts: [
      { name: "work", mountPath: "/scratch" },
      { name: "shm", mountPath: "/shm" },
      { name: "config", mountPath: "/config" },
      { name: "secret", mountPath: "/etc/secret" },
      { name: "info", mountPath: "/info" },
      { name: "work", mountPath: "/sub", subPath: "deep" },
    ],
  });
  pod.spec.containers[0]!.env!.push({ name: "SHAPE", value: "$(shape)" });
  pod.spec.initContainers!.forEach(
    (container) => (container.imagePullPolicy = "Never"),
  );
  await node.writePod("features.json", pod);
  const done = await phase("features", "Succeeded");
  expect((await logs("features")).split("\n")).toEqual([
    "one",
    "two",
    "bluehush",
    "blue-round-features-test-node-hush-32",
    'app="demo"',
    "deep",
    "1",
    "",
  ]);
  expect(
    done.status?.initContainerStatuses?.map(({ ready, state }) => [
      ready,
      state?.terminated?.reason,
    ]),
  ).toEqual([
    [true, "Completed"],
    [true, "Completed"],
  ]);
  expect(
    done.status?.conditions?.find(({ type }) => type === "Initialized"),
  ).toMatchObject({ status: "True", reason: "PodCompleted" });
  expect(done.status?.qosClass).toBe(
    "Guaranteed" === done.status?.qosClass ? "Guaranteed" : "Burstable",
  );
});

test("a failing container is restarted with back-off, its last words are kept", async () => {
  await node.writePod(
    "crash.json",
    busyboxPod(
      "crash",
      "echo run; echo last words > /dev/termination-log; exit 3",
      { restartPolicy: "Always" },
    ),
  );
  const pod = await eventually(() => {
    const found = podOf(agent, "crash-test-node");
    const status = found?.status?.containerStatuses?.[0];
    if (
      status?.state?.waiting?.reason === "CrashLoopBackOff" &&
      status.restartCount === 1
    )
      return found;
    throw new Error(JSON.stringify(status));
  });
  const status = pod!.status!.containerStatuses![0]!;
  expect(status.lastState?.terminated).toMatchObject({
    exitCode: 3,
    reason: "Error",
    message: "last words\n",
  });
  expect(status.state?.waiting?.message).toMatch(
    /^back-off 10s restarting failed container=main pod=crash-test-node_default\(/,
  );
  expect(pod!.status?.phase).toBe("Running");
  expect(await logs("crash")).toBe("run\n");
});

test("probes: startup gates, readiness toggles, liveness restarts", async () => {
  const pod = busyboxPod("probed", "touch /started /ready /alive; sleep 1000");
  const exec = (
    file: string,
  ): {
    exec: { command: string[] };
    periodSeconds: number;
    timeoutSeconds: number;
    failureThreshold: number;
  } => ({
    exec: { command: ["test", "-f", file] },
    periodSeconds: 1,
    // Of a second, a busy machine may need more to run a program in a container.
    timeoutSeconds: 20,
    failureThreshold: 1,
  });
  Object.assign(pod.spec.containers[0]!, {
    startupProbe: { ...exec("/started"), failureThreshold: 30 },
    readinessProbe: exec("/ready"),
    livenessProbe: exec("/alive"),
  });
  await node.writePod("probed.json", pod);
  const ready = (wanted: boolean): Promise<Pod> =>
    eventually(() => {
      const found = podOf(agent, "probed-test-node");
      const status = found?.status?.containerStatuses?.[0];
      if (found && status?.ready === wanted && status.state?.running)
        return found;
      throw new Error(JSON.stringify(found?.status));
    });
  await ready(true);
  const run = async (command: string[]): Promise<number> => {
    const id = podOf(
      agent,
      "probed-test-node",
    )!.status!.containerStatuses![0]!.containerID!.slice(
      `${node.runtime.name}://`.length,
    );
    return (await node.runtime.execSync(id, command, 30_000)).exitCode;
  };
  expect(await run(["rm", "/ready"])).toBe(0);
  await ready(false);
  expect(await run(["touch", "/ready"])).toBe(0);
  await ready(true);
  await run(["rm", "/alive"]);
  await eventually(
    () =>
      podOf(agent, "probed-test-node")?.status?.containerStatuses?.[0]
        ?.restartCount === 1,
  );
  await ready(true);
});

test("logs follow, tail and previous", async () => {
  await node.writePod(
    "chatty.json",
    busyboxPod(
      "chatty",
      "for i in 1 2 3 4 5; do echo line $i; done; until [ -e /go ]; do sleep 0.05; done; echo end",
    ),
  );
  await phase("chatty", "Running");
  await eventually(async () => (await logs("chatty")).endsWith("line 5\n"));
  let seen = "";
  const followed = logs("chatty", { follow: true, tailLines: 2 }, (text) => {
    seen = text;
  });
  await eventually(() => seen === "line 4\nline 5\n");
  const [status] = podOf(agent, "chatty-test-node")!.status!.containerStatuses!;
  const id = status!.containerID!.slice(`${node.runtime.name}://`.length);
  await node.runtime.execSync(id, ["touch", "/go"], 30_000);
  expect(await followed).toBe("line 4\nline 5\nend\n");
  await eventually(
    () =>
      (podOf(agent, "chatty-test-node")?.status?.containerStatuses?.[0]
        ?.restartCount ?? 0) >= 1,
  );
  expect(await logs("chatty", { previous: true, tailLines: 1 })).toBe("end\n");
  await expect(
    agent.logs("default", "none", {
      container: "",
      follow: false,
      previous: false,
      timestamps: false,
    }),
  ).rejects.toMatchObject({ code: 404 });
});

test("a sidecar starts before and ends after the app", async () => {
  await node.writePod(
    "sidecar.json",
    busyboxPod(
      "sidecar",
      "trap 'echo app >> /scratch/order; exit 0' TERM; cat /scratch/up; sleep 1000 & wait",
      {
        terminationGracePeriodSeconds: 60,
        volumes: [
          {
            name: "work",
            hostPath: {
              path: path.join(node.directory, "order"),
              type: "DirectoryOrCreate",
            },
          },
        ],
        initContainers: [
          {
            name: "side",
            image: "busybox",
            imagePullPolicy: "IfNotPresent",
            restartPolicy: "Always",
            command: [
              "sh",
              "-c",
              "trap 'echo side >> /scratch/order; exit 0' TERM; echo up > /scratch/up; sleep 1000 & wait",
            ],
            startupProbe: {
              exec: { command: ["test", "-f", "/scratch/up"] },
              periodSeconds: 1,
              timeoutSeconds: 20,
            },
            volumeMounts: [{ name: "work", mountPath: "/scratch" }],
          },
        ],
        containers: [
          {
            name: "main",
            image: "busybox",
            imagePullPolicy: "IfNotPresent",
            command: [
              "sh",
              "-c",
              "trap 'echo app >> /scratch/order; exit 0' TERM; cat /scratch/up; sleep 1000 & wait",
            ],
            lifecycle: {
              preStop: {
                exec: { command: ["sh", "-c", "echo hook >> /scratch/order"] },
              },
            },
            volumeMounts: [{ name: "work", mountPath: "/scratch" }],
          },
        ],
      },
    ),
  );
  await phase("sidecar", "Running");
  await eventually(async () => (await logs("sidecar")) === "up\n");
  await fs.rm(path.join(node.manifests, "sidecar.json"));
  await eventually(() => podOf(agent, "sidecar-test-node") === undefined);
  expect(
    await fs.readFile(path.join(node.directory, "order/order"), "utf8"),
  ).toBe("hook\napp\nside\n");
});

test("a pod's limits as a whole hold its cgroup, and containers without their own", async () => {
  const pod = busyboxPod("whole", "sleep 1000");
  pod.spec.resources = { limits: { cpu: "200m", memory: "64Mi" } };
  await node.writePod("whole.json", pod);
  const found = await phase("whole", "Running");
  expect(found.status?.qosClass).toBe("Guaranteed");
  const cgroup = `${node.cgroupRoot}/pod${found.metadata.uid ?? ""}`;
  const read = async (v1: string, v2: string): Promise<string> =>
    (
      await fs
        .readFile(path.join("/sys/fs/cgroup", v1.replace("*", cgroup)), "utf8")
        .catch(() =>
          fs.readFile(path.join("/sys/fs/cgroup", cgroup, v2), "utf8"),
        )
    ).trim();
  expect(await read("cpu/*/cpu.cfs_quota_us", "cpu.max")).toMatch(/^20000\b/);
  expect(await read("memory/*/memory.limit_in_bytes", "memory.max")).toBe(
    String(64 << 20),
  );
  const [container] = await node.runtime.listContainers({
    labels: { "io.kubernetes.pod.uid": found.metadata.uid! },
  });
  const inside = `${container!.id}/cpu.cfs_quota_us`;
  expect(await read(`cpu/*/${inside}`, `${container!.id}/cpu.max`)).toMatch(
    /^20000\b/,
  );
  await fs.rm(path.join(node.manifests, "whole.json"));
});

test("what the runtime can't do keeps a container from starting, and says so", async () => {
  const pod = busyboxPod("recursive", "sleep 1000", {
    volumes: [{ name: "v", emptyDir: {} }],
  });
  const mount = { name: "v", mountPath: "/v", readOnly: true };
  Object.assign(pod.spec.containers[0]!, {
    volumeMounts: [{ ...mount, recursiveReadOnly: "Enabled" }],
  });
  const image = busyboxPod("image-volume", "sleep 1000", {
    volumes: [{ name: "v", image: { reference: "busybox" } }],
  });
  await node.writePod("recursive.json", pod);
  await node.writePod("image-volume.json", image);
  await eventually(() => {
    const { status } = podOf(agent, "recursive-test-node")!;
    expect(status?.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: "CreateContainerConfigError",
      message:
        'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not supported by the runtime',
    });
    return true;
  });
  Object.assign(pod.spec.containers[0]!, {
    volumeMounts: [{ ...mount, recursiveReadOnly: "IfPossible" }],
  });
  await node.writePod("recursive.json", pod);
  const found = await phase("recursive", "Running");
  expect(found.status?.containerStatuses?.[0]?.volumeMounts).toEqual([
    { ...mount, recursiveReadOnly: "Disabled" },
  ]);
  // Without its gate the field is none.
  expect(podOf(agent, "image-volume-test-node")).toBeUndefined();
  for (const file of ["recursive.json", "image-volume.json"])
    await fs.rm(path.join(node.manifests, file));
});
