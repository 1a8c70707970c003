// Scheduled snapshots of a real server: taken by the schedule, listed, and restored by one command; and the thread that
// writes one, on its own: what it leaves when it fails or is ended.
import * as fs from "node:fs";
import * as path from "node:path";
import * as esbuild from "esbuild";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { loadSnapshot } from "../../../storage/snapshot.ts";
import {
  listSnapshots,
  snapshotOwner,
} from "../../../storage/snapshots/snapshot-directory.ts";
import { takeInWorker } from "../../../storage/snapshots/take-in-worker.ts";
import { eventually } from "../../support/eventually.ts";
import {
  orbitProgram,
  startOrbit,
  type RunningOrbit,
} from "../../support/start-orbit.ts";
import { runCommand } from "../../support/kubectl.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();

describe("orbit server", () => {
  let orbit: RunningOrbit;
  const stored = (...args: string[]) =>
    orbit.orbit([
      "store",
      "snapshot",
      ...args,
      "--data-dir",
      `${orbit.directory}/data`,
    ]);
  const kubectl = async (...args: string[]): Promise<string> => {
    const { stdout, stderr, code } = await orbit.kubectl(args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const configMaps = async (): Promise<string[]> =>
    (await kubectl("get", "configmaps", "-o", "name"))
      .split("\n")
      .filter((name) => name.includes("written"));

  beforeAll(async () => {
    orbit = await startOrbit({
      args: [
        "--disable=agent,scheduler,controllers",
        "--snapshot-schedule=* * * * * *",
        "--snapshot-retention=3",
      ],
    });
  });
  afterAll(() => orbit.clean());

  it("is restored from a scheduled snapshot by one command", async () => {
    await kubectl("create", "configmap", "written-before");
    const directory = path.join(orbit.directory, "data/snapshots");
    const beforeMs = Date.now();
    const kept = path.join(tempDirectory(), "kept");
    // All that are left began after the write. The copy fails when pruning was faster: tried again.
    await eventually(
      () => {
        const all = listSnapshots(directory);
        if (all.length !== 3 || all[0]!.takenAtMs <= beforeMs) return false;
        const newest = path.join(directory, all.at(-1)!.name);
        expect(fs.statSync(newest).mode & 0o777).toBe(0o600);
        fs.copyFileSync(newest, kept);
        return true;
      },
      { timeoutMs: 60_000, what: "snapshots" },
    );
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    const metrics = await kubectl("get", "--raw", "/metrics");
    expect(metrics).toMatch(
      /^orbit_store_snapshots_total\{result="taken"\} [1-9]/m,
    );
    expect(metrics).toMatch(
      /^orbit_store_snapshots_total\{result="failed"\} 0$/m,
    );

    await kubectl("create", "configmap", "written-after");
    expect(await orbit.stop()).toBe(0);
    expect(fs.readdirSync(directory).filter((x) => x.endsWith(".new"))).toEqual(
      [],
    );
    const listed = await stored("list");
    expect(listed.stdout).toMatch(
      // One more when the stop came between the newest and the removal of the oldest.
      /^NAME +TAKEN +REVISION +BYTES\n(orbit-\S+ +\S+Z +\d+ +\d+\n){3,4}$/,
    );
    expect((await stored("restore", kept)).code).toBe(2);
    expect(await stored("restore", kept, "--replace")).toMatchObject({
      code: 0,
    });
    orbit = await orbit.restart();
    expect(await configMaps()).toEqual(["configmap/written-before"]);
    await kubectl("create", "configmap", "written-again");
  });

  it("lists and prunes by hand", async () => {
    await orbit.stop();
    const before = (await stored("list")).stdout.match(/^orbit-/gm)!.length;
    expect(before).toBeGreaterThan(1);
    const pruned = await stored("prune", "--snapshot-retention", "1");
    const names = pruned.stdout.trim().split("\n");
    expect(names).toHaveLength(before - 1);
    const listed = (await stored("list")).stdout;
    for (const name of names) expect(listed).not.toContain(name);
    const left = /^orbit-\S+/m.exec(listed)![0];
    // A name of the list will do.
    expect((await stored("status", left)).stdout).toMatch(/^revision \d+$/m);
    expect((await stored("list", "more")).code).toBe(1);
    orbit = await orbit.restart();
  });
});

describe("a bad option is refused by its name", () => {
  test.each([
    [
      ["server", "--snapshot-schedule=0 0 31 2 *"],
      '"0 0 31 2 *" for "--snapshot-schedule": dayOfMonth',
    ],
    [["server", "--snapshot-retention=0"], "--snapshot-retention"],
    [
      ["server", "--store=memory", "--snapshot-schedule=@daily"],
      "--snapshot-schedule: a memory store",
    ],
    [
      ["server", "--store=memory", "--snapshot-retention=2"],
      "--snapshot-retention: a memory store",
    ],
    [
      [
        "apiserver",
        "--etcd-servers=http://127.0.0.1:1",
        "--snapshot-dir=/backup",
      ],
      "--snapshot-dir: etcd is saved with its own tools",
    ],
    [
      [
        "apiserver",
        "--storage-backend=file",
        "--snapshot-schedule=@daily",
        "--snapshot-dir=/proc/none",
      ],
      "--snapshot-dir: ",
    ],
  ])("%j", async (args, message) => {
    const directory = tempDirectory();
    const own = {
      server: [
        `--data-dir=${directory}`,
        `--manifests=${directory}/manifests`,
        "--write-kubeconfig=",
      ],
      apiserver: [`--cert-dir=${directory}`],
    };
    const { code, stderr } = await runCommand(process.execPath, [
      orbitProgram,
      ...args,
      ...own[args[0] as "server" | "apiserver"],
    ]);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });
});

describe("the thread", () => {
  const takenAtMs = Date.UTC(2025, 0, 1);
  let program: string;
  const directories = () => ({
    storeDirectory: path.join(tempDirectory(), "store"),
    directory: path.join(tempDirectory(), "snapshots"),
  });
  const take = (
    work: { storeDirectory: string; directory: string },
    signal = new AbortController().signal,
  ) =>
    takeInWorker(
      {
        ...work,
        owner: snapshotOwner(work.storeDirectory),
        keep: 2,
        takenAtMs,
      },
      signal,
      program,
    );

  beforeAll(async () => {
    program = path.join(tempDirectory(), "worker.cjs");
    await esbuild.build({
      entryPoints: [
        path.join(__dirname, "../../../storage/snapshots/snapshot-worker.ts"),
      ],
      bundle: true,
      platform: "node",
      outfile: program,
      logLevel: "error",
    });
  });

  async function fill(storeDirectory: string, keys: number) {
    const store = createFileStore({ directory: storeDirectory });
    await store.start();
    await Promise.all(
      Array.from({ length: keys }, (_, index) =>
        store.write({
          key: `/registry/k${index}`,
          expectedRevision: 0,
          encode: () => Buffer.alloc(1000, index),
        }),
      ),
    );
    return store;
  }

  it("saves a store that is open", async () => {
    const work = directories();
    const store = await fill(work.storeDirectory, 1000);
    const taken = await take(work);
    expect(taken).toMatchObject({
      name: expect.stringContaining(`-r${store.revision}.snapshot`),
      revision: store.revision,
      keys: 1000,
      removed: [],
    });
    expect(fs.readdirSync(work.directory)).toEqual([taken.name]);
    expect(
      (await loadSnapshot(path.join(work.directory, taken.name))).entries,
    ).toHaveLength(1000);
    await store.stop();
  });

  it("leaves nothing when it is ended half-way, or fails", async () => {
    const work = directories();
    const store = await fill(work.storeDirectory, 20_000);
    const abort = new AbortController();
    const ended = take(work, abort.signal);
    ended.catch(() => undefined);
    await eventually(
      () =>
        fs.existsSync(work.directory) &&
        fs.readdirSync(work.directory).length > 0,
      { intervalMs: 1, what: "a file being written" },
    );
    abort.abort();
    await expect(ended).rejects.toThrow();
    const names = fs.readdirSync(work.directory);
    // It may have been whole by then.
    for (const name of names) expect(name).toMatch(/\.snapshot$/);
    await store.stop();

    await expect(
      take({ ...work, storeDirectory: "/nowhere/store" }),
    ).rejects.toThrow(/ENOENT/);
    await expect(
      take({ ...work, directory: "/nowhere/snapshots" }),
    ).rejects.toThrow(/ENOENT/);
    expect(fs.readdirSync(work.directory)).toEqual(names);
  });
});
