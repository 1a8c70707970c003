// Pods' volumes hold secrets: no other user of the machine reads them, they lie in memory, and a container that swaps
// directories of its volume for links while the agent works on it gets nothing outside of the volume changed.
import {
  execFileSync,
  spawn,
  spawnSync,
  type ChildProcess,
} from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { setGroup } from "../../../agent/volumes/files/ownership.ts";
import { mountSubPath } from "../../../agent/volumes/files/sub-path.ts";
import { bindMount, unmount } from "../../../agent/volumes/files/mounts.ts";
import { VolumeManager } from "../../../agent/volumes/volume-manager.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();

function volumeManager(rootDirectory: string): VolumeManager {
  return new VolumeManager({
    config: resolveAgentConfig({ nodeName: "n", rootDirectory }),
    client: undefined,
    claims: undefined as never,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
    objects: { hold: () => undefined, release: () => undefined },
    forgetTokens: () => undefined,
    source: {
      configMap: (_namespace, name) =>
        Promise.resolve({ metadata: { name }, data: { k: "plain" } }),
      secret: (_namespace, name) =>
        Promise.resolve({
          metadata: { name },
          data: { p: Buffer.from("hidden").toString("base64") },
        }),
      nodeResources: () => ({
        cpuMillis: 1000,
        memoryBytes: 1 << 30,
        ephemeralStorageBytes: 0,
      }),
      serviceAccountToken: () => Promise.resolve("token"),
    },
  });
}

const pod = testPod({
  volumes: [
    { name: "s", secret: { secretName: "s" } },
    { name: "cm", configMap: { name: "cm" } },
    { name: "e", emptyDir: {} },
  ],
});

function filesBelow(directory: string): string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function readAs(user: number, file: string): string {
  const { status, stdout } = spawnSync(
    "setpriv",
    [`--reuid=${user}`, `--regid=${user}`, "--clear-groups", "cat", file],
    { encoding: "utf8" },
  );
  return status === 0 ? stdout : "refused";
}

test("no other user reads a volume's files, and secrets lie on a tmpfs", async () => {
  // The agent's own directory may be open, as /var/lib is.
  const parent = directories();
  fs.chmodSync(parent, 0o755);
  const root = path.join(parent, "agent");
  fs.mkdirSync(root, { mode: 0o755 });
  const volumes = volumeManager(root);
  await volumes.start();
  expect(fs.statSync(path.join(root, "plugins")).mode & 0o777).toBe(0o700);
  await volumes.mount(pod);
  const files = filesBelow(root);
  expect(files).toHaveLength(2);
  for (const file of files) {
    expect(fs.statSync(file).mode & 0o004).toBe(0o004);
    expect(readAs(0, file)).toMatch(/hidden|plain/);
    expect(readAs(65534, file)).toBe("refused");
  }
  const memory = path.join(root, "memory");
  expect(fs.statfsSync(memory).type >>> 0).toBe(0x01021994);
  expect(fs.statSync(memory).mode & 0o777).toBe(0o700);
  // Pods go on while the agent is away: their secrets stay.
  await volumes.stop();
  expect(filesBelow(memory)).toHaveLength(1);
  await volumes.unmount(pod.metadata.uid!);
  await volumes.stop();
  expect(fs.existsSync(memory)).toBe(false);
});

test("what was mounted below a volume in memory is left whole when the pod goes", async () => {
  const root = directories();
  const volumes = volumeManager(root);
  await volumes.start();
  await volumes.mount(pod);
  const uid = pod.metadata.uid!;
  const secret = path.join(root, "memory", uid, "kubernetes.io~secret/s");
  const kept = path.join(root, "kept");
  const place = path.join(secret, "place");
  for (const directory of [kept, place]) fs.mkdirSync(directory);
  fs.writeFileSync(path.join(kept, "file"), "");
  await bindMount(kept, place);
  await volumes.unmount(uid);
  expect(fs.readdirSync(kept)).toEqual(["file"]);
  expect(await volumes.uids()).toEqual([]);
  await volumes.stop();
  expect(fs.readdirSync(root).sort()).toEqual(["kept", "plugins", "pods"]);
});

test("directories an earlier version made for everybody are closed at the start", async () => {
  const root = directories();
  for (const name of ["pods", "memory"])
    fs.mkdirSync(path.join(root, name), { mode: 0o755 });
  const volumes = volumeManager(root);
  await volumes.start();
  for (const name of ["pods", "memory"])
    expect(fs.statSync(path.join(root, name)).mode & 0o777).toBe(0o700);
});

test.each(["pods", "memory"])(
  "a link in the place of %s is refused",
  async (name) => {
    const root = directories();
    fs.symlinkSync(directories(), path.join(root, name));
    await expect(volumeManager(root).start()).rejects.toThrow(
      /must not be a link/,
    );
  },
);

test("somebody else's directory is refused", async () => {
  const root = directories();
  fs.mkdirSync(path.join(root, "memory"));
  fs.chownSync(path.join(root, "memory"), 65534, 65534);
  await expect(volumeManager(root).start()).rejects.toThrow(
    /belongs to user 65534/,
  );
});

describe("while a container swaps a directory for a link", () => {
  let swapper: ChildProcess | undefined;
  afterEach(() => void swapper?.kill("SIGKILL"));

  /** Swaps volume/d between a directory and a link to `outside`, thousands of times a second. */
  function swap(volume: string, outside: string): void {
    const script = `
      const fs = require("node:fs"); process.chdir(${JSON.stringify(volume)});
      for (;;) {
        try {
          fs.renameSync("d", "real"); fs.symlinkSync(${JSON.stringify(outside)}, "d");
          fs.unlinkSync("d"); fs.renameSync("real", "d");
        } catch {}
        if (!fs.existsSync("real") && !fs.existsSync("d")) fs.mkdirSync("d");
      }`;
    swapper = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
  }

  test("fsGroup changes nothing outside of the volume", async () => {
    const volume = directories();
    const outside = directories();
    const file = path.join(outside, "f");
    fs.writeFileSync(file, "", { mode: 0o600 });
    fs.mkdirSync(path.join(volume, "d"));
    fs.writeFileSync(path.join(volume, "d/f"), "");
    swap(volume, outside);
    for (let round = 0; round < 1500; round++)
      await setGroup(volume, 4242, false).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        },
      );
    expect(fs.statSync(volume).gid).toBe(4242);
    for (const each of [outside, file]) {
      expect(fs.statSync(each).gid).not.toBe(4242);
      expect(fs.statSync(each).mode & 0o070).toBe(0);
    }
  });

  test("fsGroup leaves what can't be changed, and changes the rest", async () => {
    const volume = directories();
    for (const name of ["a", "fixed", "z"])
      fs.writeFileSync(path.join(volume, name), "", { mode: 0o600 });
    const fixed = path.join(volume, "fixed");
    execFileSync("chattr", ["+i", fixed]);
    try {
      const { count, error } = await setGroup(volume, 4242, false);
      expect(count).toBe(1);
      expect(error).toMatchObject({ code: "EPERM" });
      for (const name of ["a", "z"])
        expect(fs.statSync(path.join(volume, name)).gid).toBe(4242);
      expect(fs.statSync(fixed).gid).not.toBe(4242);
    } finally {
      execFileSync("chattr", ["-i", fixed]);
    }
    expect(await setGroup(volume, 4242, false)).toMatchObject({ count: 0 });
    expect(fs.statSync(fixed).mode & 0o777).toBe(0o660);
  });

  test("subPath makes nothing outside of the volume", async () => {
    const volume = directories();
    const outside = directories();
    fs.mkdirSync(path.join(volume, "d"));
    swap(volume, outside);
    const target = path.join(directories(), "t");
    for (let round = 0; round < 150; round++) {
      try {
        await mountSubPath(volume, `d/n${round}`, target, false);
      } catch (error) {
        expect((error as Error).message).toMatch(
          /leads out of|ENOENT|EEXIST|failed to prepare/,
        );
      }
    }
    await unmount(target).catch(() => undefined);
    expect(fs.readdirSync(outside)).toEqual([]);
  });
});
