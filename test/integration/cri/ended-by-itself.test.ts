// A container that is stopped or removed just after it ended by itself. containerd no longer has its task, but CRI has it as
// running until the bundle is gone: many files in it make that time long enough to be met.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

const filesInBundle = 2_000;
let cri: PrivateRuntime;

beforeAll(async () => {
  cri = await startPrivateRuntime();
});
afterAll(() => cri?.dispose());

/** Resolves to a container that ended, of which containerd is just removing the bundle. */
async function endingContainer(name: string): Promise<string> {
  const { runtime } = cri;
  const sandbox = cri.sandboxConfig(name);
  const sandboxId = await runtime.runPodSandbox(sandbox, "");
  const config = cri.containerConfig(
    "c",
    "while [ ! -e /go ]; do sleep 0.02; done",
  );
  const id = await runtime.createContainer(sandboxId, config, sandbox);
  await runtime.startContainer(id);
  const tasks = path.join(
    cri.directory,
    "containerd/run/state/io.containerd.runtime.v2.task/k8s.io",
  );
  for (let index = 0; index < filesInBundle; index++)
    fs.writeFileSync(path.join(tasks, id, `f${index}`), "");
  await runtime.execSync(id, ["touch", "/go"], 10_000);
  await eventually(() => fs.existsSync(path.join(tasks, `.${id}`)), {
    what: "the bundle's removal",
    intervalMs: 1,
  });
  return id;
}

test("a container that ends by itself is stopped", async () => {
  const id = await endingContainer("container");
  await cri.runtime.stopContainer(id, 0);
  expect((await cri.runtime.containerStatus(id)).state).toBe("exited");
});

test("one that is removed instead is removed at once", async () => {
  const id = await endingContainer("removed");
  await cri.runtime.removeContainer(id);
  expect(await cri.runtime.listContainers()).not.toContainEqual(
    expect.objectContaining({ id }),
  );
});
