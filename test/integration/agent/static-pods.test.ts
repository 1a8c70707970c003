import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { ContainerStatus } from "../../../api/types/core-v1.ts";
import { eventually } from "../../support/eventually.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

let node: NodeFixture;
beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => {
  await node?.close();
});

test("a manifest runs, a change replaces it, removal ends it; another agent adopts it", async () => {
  const agent = node.agent();
  await agent.start();
  const started = performance.now();
  await node.writePod("web.yaml", busyboxPod("web", "sleep 1000"));
  const pod = await eventually(() => {
    const found = podOf(agent, "web-test-node");
    return found?.status?.phase === "Running" ? found : undefined;
  });
  const runningMs = performance.now() - started;
  console.log(`static pod running after ${runningMs.toFixed(0)} ms`);
  expect(
    pod.status?.conditions?.find(({ type }) => type === "Ready")?.status,
  ).toBe("True");
  expect(pod.status?.containerStatuses?.[0]).toMatchObject({
    name: "main",
    ready: true,
    started: true,
    restartCount: 0,
  });
  expect(pod.status?.containerStatuses?.[0]?.containerID).toMatch(
    /^(containerd|docker):\/\/[0-9a-f]{64}$/,
  );
  await agent.stop();

  // The containers go on without the agent, and the next one finds them.
  const second = node.agent();
  await second.start();
  const adopted = await eventually(() =>
    podOf(second, "web-test-node")?.status?.phase === "Running"
      ? podOf(second, "web-test-node")
      : undefined,
  );
  expect(adopted.status?.containerStatuses?.[0]?.containerID).toBe(
    pod.status?.containerStatuses?.[0]?.containerID,
  );

  const changed = busyboxPod("web", "sleep 2000");
  await node.writePod("web.yaml", changed);
  const replaced = await eventually(() => {
    const found = podOf(second, "web-test-node");
    return found?.status?.phase === "Running" &&
      found.metadata.uid !== pod.metadata.uid
      ? found
      : undefined;
  });
  expect(replaced.spec.containers[0]!.command).toEqual(
    changed.spec.containers[0]!.command,
  );

  await fs.rm(path.join(node.manifests, "web.yaml"));
  await eventually(() => second.pods().length === 0, { what: "the pod to go" });
  expect(await node.runtime.listContainers()).toEqual([]);
  expect(await node.runtime.listPodSandboxes()).toEqual([]);
  await second.stop();
});

test("a manifest put back while its pod still ends runs again", async () => {
  const agent = node.agent();
  await agent.start();
  const pod = busyboxPod("again", "sleep 1000");
  const id = (): string | undefined => {
    const found = podOf(agent, "again-test-node");
    const status = found?.status?.containerStatuses?.[0];
    return status?.state?.running ? status.containerID : undefined;
  };
  await node.writePod("again.yaml", pod);
  const first = await eventually(id);
  await fs.rm(path.join(node.manifests, "again.yaml"));
  await eventually(() => podOf(agent, "again-test-node")?.status?.conditions);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await node.writePod("again.yaml", pod);
  await eventually(() => id() !== undefined && id() !== first, {
    what: "the second run",
  });
  await agent.stop();
});

test("an archive that is put into the directory of images runs the pod that waits for it", async () => {
  const images = path.join(node.directory, "images");
  const agent = node.agent({
    config: { nodeName: "test-node", imagesDirectory: images },
  });
  await agent.start();
  const pod = busyboxPod("late", "sleep 1000");
  Object.assign(pod.spec.containers[0]!, {
    image: "example.test/late:1",
    imagePullPolicy: "Never",
  });
  await node.writePod("late.yaml", pod);
  const status = (): ContainerStatus | undefined =>
    podOf(agent, "late-test-node")?.status?.containerStatuses?.[0];
  await eventually(
    () => status()?.state?.waiting?.reason === "ErrImageNeverPull",
  );
  const tool = path.join(__dirname, "../../../tools/busybox-image.mjs");
  const tar = path.join(node.directory, "late.tar");
  execFileSync(process.execPath, [tool, tar, "example.test/late:1"]);
  execFileSync("zstd", ["-q", tar, "-o", path.join(images, "late.tar.zst")]);
  await eventually(() => status()?.state?.running, {
    what: "the pod of the image",
  });
  const image = await node.runtime.imageStatus("example.test/late:1");
  expect(image?.pinned).toBe(true);
  await fs.rm(path.join(node.manifests, "late.yaml"));
  await eventually(() => podOf(agent, "late-test-node") === undefined);
  await agent.stop();
});
