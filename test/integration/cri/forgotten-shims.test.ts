// A containerd that is killed while it makes sandboxes leaves nothing behind that its next start does not know.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { ForgottenShims } from "../../../cri/private-containerd/forgotten-shims.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { processesIn, processesNaming } from "../../support/processes.ts";

let part: PrivateRuntime;
let bystander: PrivateRuntime;
beforeAll(async () => {
  part = await startPrivateRuntime();
  bystander = await startPrivateRuntime();
});
afterAll(async () => {
  await part?.dispose({ forgotten: true });
  await bystander?.dispose();
});

const socketOf = ({ daemon }: PrivateRuntime): string =>
  daemon.endpoint.replace("unix://", "");

/** Sandbox ids of the shims that serve for it. */
function shims(of: PrivateRuntime): string[] {
  return processesNaming(socketOf(of))
    .flatMap((pid) => {
      try {
        const given = fs
          .readFileSync(`/proc/${pid}/cmdline`, "utf8")
          .split("\0");
        const serves = given[0]!.endsWith("/containerd-shim-runc-v2");
        return serves && given.length === 8 ? [given[4]!] : [];
      } catch {
        return [];
      }
    })
    .sort();
}

const ready = async (of: PrivateRuntime): Promise<string[]> =>
  (await of.runtime.listPodSandboxes())
    .filter((sandbox) => sandbox.ready)
    .map(({ id }) => id)
    .sort();

const looker = (): ForgottenShims =>
  new ForgottenShims({
    socket: socketOf(part),
    // Nothing is being started when it looks.
    longestStartMs: 0,
    containerdPid: () => part.daemon.pid,
    runtime: part.runtime,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });

async function endForgotten(): Promise<string[]> {
  const forgotten = looker();
  await forgotten.look();
  return forgotten.look();
}

/** What names one of these sandboxes: mounts, bundles, what runc keeps. */
function leftOf(ids: readonly string[]): string[] {
  const state = path.join(path.dirname(socketOf(part)), "state");
  const tasks = path.join(state, "io.containerd.runtime.v2.task/k8s.io");
  return [
    ...fs
      .readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[4] ?? ""),
    ...fs.readdirSync(tasks).map((id) => path.join(tasks, id)),
    ...fs.readdirSync("/run/containerd/runc/k8s.io"),
  ].filter((each) => ids.some((id) => each.includes(id)));
}

test("a sandbox whose containerd did not come to write down its task is ended, others run on", async () => {
  const [kept, lost] = [
    await part.runtime.runPodSandbox(part.sandboxConfig("kept"), ""),
    await part.runtime.runPodSandbox(part.sandboxConfig("lost"), ""),
  ];
  const other = await bystander.runtime.runPodSandbox(
    bystander.sandboxConfig("other"),
    "",
  );
  expect(shims(part)).toEqual([kept, lost].sort());
  await part.daemon.kill();
  const state = path.join(path.dirname(socketOf(part)), "state");
  const bundle = path.join(state, "io.containerd.runtime.v2.task/k8s.io", lost);
  // Where the shim is found again: the one until containerd 1.6, the other since 2.
  const addresses = ["address", "bootstrap.json"].filter((name) =>
    fs.existsSync(path.join(bundle, name)),
  );
  expect(addresses).not.toEqual([]);
  for (const name of addresses) fs.rmSync(path.join(bundle, name));
  await part.restart();
  expect(await endForgotten()).toEqual([lost]);
  await eventually(() => processesIn(part.cgroupParent).length === 1, {
    what: "its sandbox to end",
  });
  expect(await ready(part)).toEqual([kept]);
  expect(shims(part)).toEqual([kept]);
  expect(await ready(bystander)).toEqual([other]);
  expect(shims(bystander)).toEqual([other]);
  await part.runtime.stopPodSandbox(lost);
  await part.runtime.removePodSandbox(lost);
  expect(leftOf([lost])).toEqual([]);
});

test("of a containerd that is killed while it makes sandboxes no shim outlives it but those of sandboxes", async () => {
  const found: string[] = [];
  // Which shim is forgotten is the kernel's choice: until there was one.
  for (let round = 0; round < 8 || (round < 40 && !found.length); round++) {
    const before = shims(part).length;
    const making = Promise.allSettled(
      [1, 2, 3].map((n) =>
        part.runtime.runPodSandbox(
          part.sandboxConfig(`round-${round}-${n}`),
          "",
        ),
      ),
    );
    await eventually(() => shims(part).length > before, {
      what: "a shim to begin",
      intervalMs: 1,
    });
    await part.daemon.kill();
    await making;
    await part.restart();
    found.push(...(await endForgotten()));
    // As the agent does.
    for (const { id, ready: runs } of await part.runtime.listPodSandboxes()) {
      if (runs) continue;
      await part.runtime.stopPodSandbox(id);
      await part.runtime.removePodSandbox(id);
    }
    await eventually(
      async () => {
        // One that was still being started is found by a later look, as the program takes them again and again.
        found.push(...(await endForgotten()));
        expect(shims(part)).toEqual(await ready(part));
        return true;
      },
      { what: "all shims to serve a sandbox" },
    );
  }
  // The test says something only when there was something to find.
  expect(found.length).toBeGreaterThan(0);
  expect(leftOf(found)).toEqual([]);
}, 170_000);
