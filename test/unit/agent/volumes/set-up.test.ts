// Owner and rights of a volume are given once for a pod, before its containers: what these change of them stays, also when
// the agent starts again.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { resolveAgentConfig } from "../../../../agent/config/agent-config.ts";
import { setGroup } from "../../../../agent/volumes/files/ownership.ts";
import { unmount } from "../../../../agent/volumes/files/mounts.ts";
import { emptyDirPlugin } from "../../../../agent/volumes/types/empty-dir.ts";
import { VolumeManager } from "../../../../agent/volumes/volume-manager.ts";
import type {
  MountedVolume,
  VolumePlugin,
} from "../../../../agent/volumes/volume-plugin.ts";
import { createClient } from "../../../../client/create-client.ts";
import { MemoryObjects } from "../../../../client/memory-objects.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });
const group = 4242;
const mode = (file: string): number => fs.statSync(file).mode & 0o7777;

const pod = (volumes: Pod["spec"]["volumes"] = []): Pod =>
  testPod({ volumes, securityContext: { fsGroup: group } });

/** A directory of the node's as a volume, as a persistent volume may be. */
const directoryPlugin = (mounted: MountedVolume): VolumePlugin => ({
  field: "nfs",
  serves: ["pod"],
  mount: () => Promise.resolve(mounted),
});
const nfs = { name: "v", nfs: { server: "s", path: "/" } };

const shared: string[] = [];

function agent(
  rootDirectory: string,
  ...plugins: readonly VolumePlugin[]
): VolumeManager {
  const config = resolveAgentConfig({ nodeName: "n", rootDirectory });
  const clock = new FakeClock();
  return new VolumeManager({
    ...{ config, client: undefined, clock, logger },
    claims: createClient(new MemoryObjects(), { clock, logger }),
    source: {
      configMap: () => Promise.resolve(undefined),
      secret: () => Promise.resolve(undefined),
      nodeResources: () => ({
        ...{ cpuMillis: 1, memoryBytes: 1, ephemeralStorageBytes: 1 },
      }),
      serviceAccountToken: () => Promise.resolve(""),
    },
    objects: { hold: () => undefined, release: () => undefined },
    forgetTokens: () => undefined,
    onShared: (_pod, message) => void shared.push(message),
    plugins: [emptyDirPlugin(config, () => 1 << 20), ...plugins],
  });
}

test.each(["", "Memory"])(
  "an agent that starts again leaves the rights in an emptyDir of medium %p",
  async (medium) => {
    const root = directories();
    const wanted = pod([{ name: "v", emptyDir: { medium } }]);
    const uid = wanted.metadata.uid!;
    const where = path.join(
      root,
      `pods/${uid}/volumes/kubernetes.io~empty-dir/v`,
    );
    await agent(root).mount(wanted);
    try {
      expect(mode(where)).toBe(0o2777);
      const key = path.join(where, "key");
      fs.writeFileSync(key, "");
      fs.chmodSync(key, 0o600);
      fs.chmodSync(where, 0o700);
      await agent(root).mount(wanted);
      expect(mode(where)).toBe(0o700);
      expect(mode(key)).toBe(0o600);
      // The memory is gone with a restart of the machine, the directory when somebody removed it.
      if (medium) await unmount(where);
      else fs.rmSync(where, { recursive: true });
      await agent(root).mount(wanted);
      expect(mode(where)).toBe(0o2777);
      expect(fs.readdirSync(where)).toEqual([]);
    } finally {
      await agent(root).unmount(uid);
    }
    expect(fs.readdirSync(path.join(root, `pods/${uid}/plugins`))).toEqual([]);
  },
);

test("a link in the place of an emptyDir is refused, also when it was set up", async () => {
  const root = directories();
  const wanted = pod([{ name: "v", emptyDir: {} }]);
  const uid = wanted.metadata.uid!;
  const where = path.join(
    root,
    `pods/${uid}/volumes/kubernetes.io~empty-dir/v`,
  );
  await agent(root).mount(wanted);
  fs.rmdirSync(where);
  fs.symlinkSync(directories(), where);
  await expect(agent(root).mount(wanted)).rejects.toThrow("must not be a link");
});

test("and in a persistent volume, unless it is mounted anew", async () => {
  const root = directories();
  const data = directories();
  const key = path.join(data, "key");
  fs.writeFileSync(key, "", { mode: 0o600 });
  const mounted = {
    path: data,
    readOnly: false,
    fsGroup: "by-policy",
  } as const;
  const start = (more: Partial<MountedVolume> = {}): Promise<void> =>
    agent(root, directoryPlugin({ ...mounted, ...more })).mount(pod([nfs]));
  await start();
  expect(mode(key)).toBe(0o660);
  fs.chmodSync(key, 0o600);
  await start();
  expect(mode(key)).toBe(0o600);
  await start({ isNew: true });
  expect(mode(key)).toBe(0o660);
});

test("a volume that is asked for read-only, or that another pod has, keeps its group", async () => {
  const data = directories();
  const mounted = { path: data, fsGroup: "by-policy" } as const;
  const groupOf = (): number => fs.statSync(data).gid;
  const own = groupOf();
  await agent(
    directories(),
    directoryPlugin({ ...mounted, readOnly: true }),
  ).mount(pod([nfs]));
  expect(groupOf()).toBe(own);
  const volumes = agent(
    directories(),
    directoryPlugin({ ...mounted, readOnly: false }),
  );
  await volumes.mount(pod([nfs]));
  expect(groupOf()).toBe(group);
  const other = testPod({
    volumes: [nfs],
    securityContext: { fsGroup: group + 1 },
  });
  await volumes.mount({ ...other, metadata: { name: "o", uid: "other" } });
  expect(groupOf()).toBe(group);
  expect(shared).toEqual([
    "The requested fsGroup is 4243, but the volume v has GID 4242. The volume may not be shareable.",
  ]);
});

test("the root is changed last: what was broken off is begun again", async () => {
  const data = directories();
  const below = path.join(data, "below");
  fs.mkdirSync(below);
  const deep = Array.from({ length: 513 }, () => "d").join("/");
  fs.mkdirSync(path.join(below, deep), { recursive: true });
  await expect(setGroup(data, group, true)).rejects.toThrow("deeper than 512");
  expect(fs.statSync(data).gid).not.toBe(group);
});
