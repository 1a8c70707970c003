// A data directory on a disk that fills up: writes fail with a clear Status, reads go on, nothing acknowledged is lost,
// and writes go on as soon as there is room again, all without a restart.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../support/eventually.ts";
import { runCommand } from "../support/kubectl.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";
import { makeTempDirectory } from "../support/temp-directory.ts";

let directory: string;
let orbit: RunningOrbit;

beforeAll(async () => {
  directory = makeTempDirectory("orbit-full-");
  const mounted = await runCommand("mount", [
    "-t",
    "tmpfs",
    "-o",
    "size=8m",
    "tmpfs",
    directory,
  ]);
  expect(mounted).toMatchObject({ code: 0 });
  orbit = await startOrbit({ directory, args: ["--disable=agent"] });
});

afterAll(async () => {
  await orbit?.stop("SIGKILL");
  await runCommand("umount", ["-l", directory]);
  fs.rmSync(directory, { recursive: true, force: true });
});

const text = (seed: number): string =>
  Array.from({ length: 40_000 }, (_, index) =>
    String.fromCharCode(97 + ((index * 7919 + seed * 104_729) % 26)),
  ).join("");

test("fills, refuses, reads on, recovers, and lost nothing", async () => {
  const kept: string[] = [];
  let refused = "";
  for (let round = 0; round < 40 && refused === ""; round++) {
    const names = Array.from(
      { length: 20 },
      (_, index) => `c${round}-${index}`,
    );
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: names.map((name, index) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name },
        data: { text: text(round * 20 + index) },
      })),
    };
    const done = await orbit.kubectl("create -o name -f -", {
      stdin: JSON.stringify(list),
    });
    kept.push(...done.stdout.split("\n").filter(Boolean));
    refused = done.stderr;
  }
  expect(refused).toMatch(
    /\(InternalError\): .*can't write to the store: .*no space left on device/,
  );
  expect(kept.length).toBeGreaterThan(20);
  const names = async (): Promise<string> =>
    (await orbit.kubectl("get configmaps -o name")).stdout;
  const before = await names();
  expect(kept.filter((name) => !before.includes(`${name}\n`))).toEqual([]);

  await runCommand("mount", ["-o", "remount,size=64m", directory]);
  await eventually(
    async () =>
      (await orbit.kubectl("create configmap after --from-literal=a=b"))
        .code === 0,
    { timeoutMs: 30_000, intervalMs: 200, what: "writes to go on" },
  );
  expect((await orbit.kubectl("get --raw /readyz")).stdout).toBe("ok");

  await orbit.stop("SIGKILL");
  orbit = await orbit.restart();
  const after = await names();
  expect(
    [...kept, "configmap/after"].filter((name) => !after.includes(`${name}\n`)),
  ).toEqual([]);
});

test("a second server on the same directory is told who has it", async () => {
  const second = await orbit.orbit([
    "server",
    "--disable=agent",
    `--data-dir=${path.join(directory, "data")}`,
    `--write-kubeconfig=${directory}/second`,
    `--manifests=${directory}/second-manifests`,
    "--secure-port=1",
    "--controllers-port=0",
  ]);
  expect(second.stderr).toMatch(
    new RegExp(`data/store is in use by process ${orbit.pid}`),
  );
  expect(second.code).toBe(2);
});
