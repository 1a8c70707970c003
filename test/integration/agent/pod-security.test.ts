// What a static pod's security context asks of containerd: a profile of seccomp of the node, an unmasked /proc, groups of
// the pod alone; and what is refused, with the reference's reasons.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
let agent: Agent;
const profiles = "profiles/deny-mkdir.json";

beforeAll(async () => {
  node = await startNode("containerd");
  agent = node.agent({
    // Unmasked asks for users of the pod's own, which this runtime has not.
    rules: () => [],
    config: {
      nodeName: "test-node",
      featureGates: { SupplementalGroupsPolicy: true },
    },
  });
  await agent.start();
  const file = path.join(node.directory, "agent/seccomp", profiles);
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(
    file,
    JSON.stringify({
      defaultAction: "SCMP_ACT_ALLOW",
      syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }],
    }),
  );
});
afterAll(async () => {
  await node?.close();
});

/** The pod's status once it says what is looked for. */
async function statusOf(
  pod: Pod,
  found: (status: NonNullable<Pod["status"]>) => boolean,
): Promise<NonNullable<Pod["status"]>> {
  const { name } = pod.metadata;
  await node.writePod(`${name}.yaml`, pod);
  return await eventually(
    () => {
      const status = podOf(agent, `${name}-test-node`)?.status;
      if (status && found(status)) return status;
      throw new Error(JSON.stringify(status));
    },
    { what: name },
  );
}

const ended = ({ phase }: NonNullable<Pod["status"]>): boolean =>
  phase === "Succeeded" || phase === "Failed";

test("a profile of the node's directory holds the container's calls up", async () => {
  const pod = busyboxPod("profiled", "mkdir /tmp/x && exit 1; touch /tmp/y", {
    restartPolicy: "Never",
    securityContext: {
      seccompProfile: { type: "Localhost", localhostProfile: profiles },
    },
  });
  expect(await statusOf(pod, ended)).toMatchObject({ phase: "Succeeded" });
});

test("a profile that is not there: the container waits with the runtime's words", async () => {
  const pod = busyboxPod("unprofiled", "true", {
    restartPolicy: "Never",
    securityContext: {
      seccompProfile: { type: "Localhost", localhostProfile: "absent.json" },
    },
  });
  const { containerStatuses } = await statusOf(
    pod,
    (status) => !!status.containerStatuses?.[0]?.state?.waiting?.message,
  );
  expect(containerStatuses![0]!.state!.waiting).toMatchObject({
    reason: "CreateContainerError",
    message: expect.stringMatching(
      /cannot load seccomp profile ".*\/seccomp\/absent.json"/,
    ) as string,
  });
});

test("/proc is masked unless the pod has it otherwise", async () => {
  const script = "grep -q ' /proc/timer_list ' /proc/mounts";
  const withProc = (name: string, procMount?: string): Pod => {
    const pod = busyboxPod(name, script, { restartPolicy: "Never" });
    if (procMount) pod.spec.containers[0]!.securityContext = { procMount };
    return pod;
  };
  expect(await statusOf(withProc("masked"), ended)).toMatchObject({
    phase: "Succeeded",
  });
  expect(await statusOf(withProc("unmasked", "Unmasked"), ended)).toMatchObject(
    { phase: "Failed" },
  );
});

test("groups of the pod alone, where the runtime can't keep to them", async () => {
  const pod = busyboxPod("strict", "true", {
    restartPolicy: "Never",
    securityContext: {
      runAsUser: 1000,
      supplementalGroups: [2000],
      supplementalGroupsPolicy: "Strict",
    },
  });
  // containerd keeps to them from 2.0 on.
  expect(await statusOf(pod, ended)).toMatchObject({
    phase: "Failed",
    reason: "SupplementalGroupsPolicyNotSupported",
    message:
      "Pod was rejected: SupplementalGroupsPolicy=Strict is not supported in this node",
  });
});

test("a static pod whose resources change is made again, not resized", async () => {
  const pod = busyboxPod("resized", "sleep 1000", {});
  const main = pod.spec.containers[0]!;
  main.resources = { limits: { memory: "32Mi" } };
  const idOf = (status: Pod["status"]): string =>
    status?.containerStatuses?.[0]?.containerID ?? "";
  const running = (status: NonNullable<Pod["status"]>): boolean =>
    !!status.containerStatuses?.[0]?.state?.running;
  const first = await statusOf(pod, running);
  main.resources = { limits: { memory: "48Mi" } };
  const second = await statusOf(
    pod,
    (status) => running(status) && idOf(status) !== idOf(first),
  );
  expect(second.containerStatuses![0]!.restartCount).toBe(0);
  expect(second).not.toHaveProperty("resize");
});
