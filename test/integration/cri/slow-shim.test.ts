// A shim that answers late, as on a busy machine: containerd asks it for the sandbox's process, in whose namespaces the
// pod's containers are put.
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { processesNaming, sendSignal } from "../../support/processes.ts";
import { stopProcess } from "../../support/stop-process.ts";

/** More than containerd's own two seconds. */
const lateMs = 3000;
let cri: PrivateRuntime;

beforeAll(async () => {
  cri = await startPrivateRuntime();
});
afterAll(() => cri?.dispose());

test("a container is put into its pod's namespaces, though the shim answers late", async () => {
  const { runtime } = cri;
  const config = cri.sandboxConfig("late");
  const sandbox = await runtime.runPodSandbox(config, "");
  const [shim] = processesNaming(sandbox);
  await stopProcess(shim!);
  const created = runtime.createContainer(
    sandbox,
    cri.containerConfig("app", "sleep 1000"),
    config,
  );
  created.catch(() => undefined);
  const goesOn = setTimeout(() => sendSignal(shim!, "SIGCONT"), lateMs);
  const id = await created.finally(() => {
    clearTimeout(goesOn);
    sendSignal(shim!, "SIGCONT");
  });
  await runtime.startContainer(id);
  await eventually(
    async () => (await runtime.containerStatus(id))?.state === "running",
    { what: "the container to run" },
  );
});
