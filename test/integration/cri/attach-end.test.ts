// What a program writes as it ends comes to a client that is attached with its input, although containerd looks at both of
// the program's outputs only when these have ended, as on a busy machine.
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { processesIn, sendSignal } from "../../support/processes.ts";
import { stopProcess } from "../../support/stop-process.ts";

/** Which output containerd hears of first is by chance: one round in three passes where it matters. */
const rounds = 6;
const script =
  "while [ ! -e /tmp/go ]; do sleep 0.05; echo waiting; done; seq 2000";
let cri: PrivateRuntime;

beforeAll(async () => {
  cri = await startPrivateRuntime();
});
afterAll(() => cri?.dispose());

test("the last words come whole", async () => {
  const { runtime } = cri;
  const sandbox = cri.sandboxConfig("words");
  const sandboxId = await runtime.runPodSandbox(sandbox, "");
  for (let round = 0; round < rounds; round++) {
    const config = cri.containerConfig(`c${round}`, script, { stdin: true });
    const id = await runtime.createContainer(sandboxId, config, sandbox);
    const before = processesIn(cri.cgroupParent).length;
    await runtime.startContainer(id);
    const streams = { stdin: true, stdout: true, stderr: true, tty: false };
    const attach = await runtime.attach(id, streams);
    // It is attached when something has come.
    await once(attach.stdout!, "readable");
    const trigger = [
      "sh",
      "-c",
      "(sleep 0.2; touch /tmp/go) >/dev/null 2>&1 &",
    ];
    await runtime.execSync(id, trigger, 10_000);
    await stopProcess(cri.daemon.pid);
    try {
      await eventually(() => processesIn(cri.cgroupParent).length === before, {
        what: "the program to end",
      });
    } finally {
      sendSignal(cri.daemon.pid, "SIGCONT");
    }
    expect((await text(attach.stdout!)).trim().split("\n").at(-1)).toBe("2000");
    expect(await attach.exit).toBe(0);
  }
}, 60_000);
