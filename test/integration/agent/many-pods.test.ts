import * as fs from "node:fs/promises";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let node: NodeFixture;
beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => {
  await node?.close();
});

test("fifty pods at once", async () => {
  const agent = node.agent();
  await agent.start();
  const started = performance.now();
  for (let index = 0; index < 50; index++)
    await node.writePod(
      `p${index}.json`,
      busyboxPod(`p${index}`, "sleep 1000"),
    );
  await eventually(
    () =>
      agent.pods().filter(({ status }) => status?.phase === "Running")
        .length === 50,
    { timeoutMs: 60_000 },
  );
  console.log(
    `50 running after ${(performance.now() - started).toFixed(0)} ms`,
  );
  const ending = performance.now();
  for (let index = 0; index < 50; index++)
    await fs.rm(path.join(node.manifests, `p${index}.json`));
  await eventually(() => agent.pods().length === 0, { timeoutMs: 60_000 });
  console.log(`50 gone after ${(performance.now() - ending).toFixed(0)} ms`);
  expect(await node.runtime.listPodSandboxes()).toEqual([]);
});
