// Types of volumes as plug-ins: when they are mounted, refreshed and unmounted, which type serves a claim, what is refused
// by name, and that a link in the place of a volume's directory is not followed.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import type {
  PersistentVolumeSpec,
  Pod,
  Volume,
} from "../../../api/types/core-v1.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { claimPlugins } from "../../../agent/volumes/types/claim.ts";
import { mountsBelow } from "../../../agent/volumes/files/mounts.ts";
import type { PayloadSource } from "../../../agent/volumes/payload/payload.ts";
import { VolumeManager } from "../../../agent/volumes/volume-manager.ts";
import type {
  VolumePlugin,
  VolumeRequest,
} from "../../../agent/volumes/volume-plugin.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { MemoryObjects } from "../../../client/memory-objects.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();

const exclusive = { hold: () => Promise.resolve() };

const empty: PayloadSource = {
  configMap: (_namespace, name) =>
    Promise.resolve({ metadata: { name }, data: { k: "1" } }),
  secret: () => Promise.resolve(undefined),
  nodeResources: () => ({
    cpuMillis: 1000,
    memoryBytes: 1,
    ephemeralStorageBytes: 0,
  }),
  serviceAccountToken: () => Promise.resolve("token"),
};

const noObjects = createClient(new MemoryObjects(), {
  clock: new FakeClock(),
  logger: pino({ level: "silent" }),
});

function manager(
  options: {
    root?: string;
    clock?: FakeClock;
    source?: Partial<PayloadSource>;
    plugins?: VolumePlugin[];
    client?: Client;
    forgotten?: string[];
    images?: boolean;
  } = {},
): VolumeManager {
  const rootDirectory = options.root ?? directories();
  return new VolumeManager({
    config: resolveAgentConfig({ nodeName: "n", rootDirectory }),
    client: options.client,
    claims: options.client ?? noObjects,
    clock: options.clock ?? new FakeClock(),
    logger: pino({ level: "silent" }),
    source: { ...empty, ...options.source },
    objects: { hold: () => undefined, release: () => undefined },
    forgetTokens: (uid) => options.forgotten?.push(uid),
    ...(options.plugins ? { plugins: options.plugins } : {}),
    ...(options.images ? { images: true } : {}),
  });
}

const podOf = (...volumes: Volume[]): Pod => testPod({ volumes });

/** A plug-in that writes down what is asked of it. */
function recording(
  calls: string[],
  rest: Partial<VolumePlugin> = {},
): VolumePlugin {
  return {
    field: "nfs",
    serves: ["pod", "persistent"],
    mount({ name, source }: VolumeRequest) {
      calls.push(`mount ${name} ${source.nfs?.server}`);
      return Promise.resolve({ path: "/nowhere", readOnly: false });
    },
    unmount(uid: string) {
      calls.push(`unmount ${uid}`);
      return Promise.resolve();
    },
    ...rest,
  };
}

const nfs: Volume = { name: "v", nfs: { server: "s", path: "/" } };

test("a plug-in mounts once, refreshes every 20 s and unmounts by uid", async () => {
  const calls: string[] = [];
  const clock = new FakeClock();
  const plugin = recording(calls, {
    refresh: () => Promise.resolve(void calls.push("refresh")),
  });
  const volumes = manager({ clock, plugins: [plugin] });
  await volumes.start();
  const pod = podOf(nfs);
  await volumes.mount(pod);
  await volumes.mount(pod);
  clock.advance(19_999);
  await volumes.mount(pod);
  expect(calls).toEqual(["mount v s"]);
  clock.advance(1);
  await volumes.mount(pod);
  await volumes.mount(pod);
  expect(calls).toEqual(["mount v s", "refresh"]);
  await volumes.unmount("u");
  // Nothing is remembered of it.
  await volumes.mount(pod);
  expect(calls.slice(2)).toEqual(["unmount u", "mount v s"]);
});

test("a plug-in without refresh is asked once, one that failed again", async () => {
  const calls: string[] = [];
  const clock = new FakeClock();
  let failing = true;
  const plugin = recording(calls, {
    mount() {
      calls.push("mount");
      return failing
        ? Promise.reject(new Error("no route"))
        : Promise.resolve({ path: "/nowhere", readOnly: false });
    },
  });
  const volumes = manager({ clock, plugins: [plugin] });
  const pod = podOf(nfs);
  await expect(volumes.mount(pod)).rejects.toThrow(
    'MountVolume.SetUp failed for volume "v" : no route',
  );
  failing = false;
  await volumes.mount(pod);
  clock.advance(3_600_000);
  await volumes.mount(pod);
  expect(calls).toEqual(["mount", "mount"]);
});

test("types that no plug-in serves are refused by name", async () => {
  await expect(
    manager().mount(
      podOf(
        { name: "v", glusterfs: { endpoints: "e", path: "p" } },
        { name: "c", csi: { driver: "d" } },
        { name: "x" },
      ),
    ),
  ).rejects.toThrow(
    'volume "v" : volumes of type glusterfs are not supported by this node agent; ' +
      'MountVolume.SetUp failed for volume "c" : volumes of type csi are not supported by this node agent; ' +
      'MountVolume.SetUp failed for volume "x" : volumes of type unknown are not supported by this node agent',
  );
  // What only persistent volumes are is no volume of a pod.
  await expect(
    manager().mount(podOf({ name: "l", local: { path: "/" } } as never)),
  ).rejects.toThrow(/volumes of type local are not supported/);
  await expect(
    manager().mount(podOf({ name: "e", emptyDir: { medium: "Floppy" } })),
  ).rejects.toThrow('emptyDir medium "Floppy" is not supported');
});

function clientWith(
  spec: PersistentVolumeSpec,
  phase = "Bound",
  annotations = {},
): Client {
  return {
    resource: ({ resource }: { resource: string }) => ({
      get: (name: string) =>
        Promise.resolve(
          resource === "persistentvolumes"
            ? { metadata: { name, annotations }, spec }
            : {
                metadata: { name },
                spec: { volumeName: "pv" },
                status: { phase },
              },
        ),
    }),
  } as unknown as Client;
}

const claim: Volume = {
  name: "v",
  persistentVolumeClaim: { claimName: "c", readOnly: true },
};

test("a claim is served by the plug-in of its volume's type", async () => {
  const calls: string[] = [];
  const spec: PersistentVolumeSpec = { nfs: { server: "far", path: "/" } };
  const [plugin] = claimPlugins({ claims: clientWith(spec), exclusive }, [
    recording(calls),
  ]);
  const { name, ...source } = claim;
  expect(await plugin!.mount({ pod: podOf(claim), name, source })).toEqual({
    path: "/nowhere",
    readOnly: true,
  });
  expect(calls).toEqual(["mount v far"]);
});

test.each([
  ["4242", [4242]],
  ["0", [0]],
  ["-1", []],
  ["staff", []],
  ["4242 ", []],
])("a volume with the group %s gives its pod %j", async (group, groups) => {
  const made = path.join(directories(), "volume");
  const volumes = manager({
    client: clientWith({ hostPath: { path: made } }, "Bound", {
      "pv.beta.kubernetes.io/gid": group,
    }),
  });
  const pod = podOf(claim);
  expect(volumes.groupsOf(pod)).toEqual([]);
  await volumes.mount(pod);
  expect(volumes.groupsOf(pod)).toEqual(groups);
});

test("a hostPath volume of a claim is made, a local one must be there", async () => {
  const root = directories();
  const made = path.join(root, "a/b");
  await manager({
    client: clientWith({ hostPath: { path: made } }),
  }).mount(podOf(claim));
  expect(fs.statSync(made).isDirectory()).toBe(true);
  await expect(
    manager({
      client: clientWith({ local: { path: path.join(root, "none") } }),
    }).mount(podOf(claim)),
  ).rejects.toThrow(
    `MountVolume.NewMounter initialization failed for volume "pv" : path "${path.join(root, "none")}" does not exist`,
  );
});

test.each([
  ["Block", "volumeMounts"],
  ["Filesystem", "volumeDevices"],
] as const)("a claim of mode %s is refused in %s", async (mode, wanted) => {
  const client = clientWith({
    hostPath: { path: directories() },
    volumeMode: mode,
  });
  const pod = testPod({
    volumes: [claim],
    containers: [
      {
        ...{ name: "c", image: "i" },
        [wanted]: [{ name: "v", mountPath: "/v", devicePath: "/dev/v" }],
      },
    ],
  });
  await expect(manager({ client }).mount(pod)).rejects.toThrow(
    `volume v has volumeMode ${mode}, but is specified in ${wanted}`,
  );
});

test("a failure names the claim's volume", async () => {
  const failing = recording([], {
    mount: () => Promise.reject(new Error("no")),
  });
  const client = clientWith({ nfs: { server: "s", path: "/" } });
  const plugins = claimPlugins({ claims: client, exclusive }, [failing]);
  await expect(
    manager({ client, plugins }).mount(podOf(claim)),
  ).rejects.toThrow('MountVolume.SetUp failed for volume "pv" : no');
});

test.each<[string, Client | undefined, RegExp]>([
  [
    "without an API server",
    undefined,
    /persistentvolumeclaims "[^"]+" not found/,
  ],
  [
    "not bound",
    clientWith({}, "Pending"),
    /persistentvolumeclaim "c" is not bound/,
  ],
  [
    "of a type nobody serves",
    clientWith({ csi: { driver: "d", volumeHandle: "h" } }),
    /persistent volume "pv" is of a type that is not supported/,
  ],
])("a claim %s is refused", async (_what, client, message) => {
  await expect(
    manager(client ? { client } : {}).mount(podOf(claim)),
  ).rejects.toThrow(message);
});

test.each<[string, Volume]>([
  ["empty-dir", { name: "v", emptyDir: {} }],
  ["configmap", { name: "v", configMap: { name: "c" } }],
])(
  "a link in the place of a volume of type %s is refused",
  async (type, volume) => {
    const root = directories();
    const outside = directories();
    fs.chmodSync(outside, 0o700);
    const parent = path.join(root, "pods/u/volumes", `kubernetes.io~${type}`);
    fs.mkdirSync(parent, { recursive: true });
    fs.symlinkSync(outside, path.join(parent, "v"));
    const pod = podOf(volume);
    pod.spec.securityContext = { fsGroup: 4242 };
    await expect(manager({ root }).mount(pod)).rejects.toThrow(
      /must not be a link/,
    );
    expect(fs.statSync(outside).mode & 0o777).toBe(0o700);
    expect(fs.statSync(outside).gid).not.toBe(4242);
    expect(fs.readdirSync(outside)).toEqual([]);
  },
);

test("content written once serves on while the API is away, also after a restart", async () => {
  const root = directories();
  const clock = new FakeClock();
  const away = { away: false };
  const source: Partial<PayloadSource> = {
    configMap: (_namespace, name) =>
      away.away
        ? Promise.reject(new Error("away"))
        : Promise.resolve({ metadata: { name }, data: { k: "1" } }),
  };
  const pod = podOf({ name: "v", configMap: { name: "c" } });
  const first = manager({ root, clock, source });
  await first.mount(pod);
  away.away = true;
  clock.advance(20_000);
  await first.mount(pod);
  const restarted = manager({ root, clock, source });
  await restarted.mount(pod);
  const file = path.join(root, "pods/u/volumes/kubernetes.io~configmap/v/k");
  expect(fs.readFileSync(file, "utf8")).toBe("1");
  const other = podOf({ name: "w", configMap: { name: "c" } });
  await expect(restarted.mount(other)).rejects.toThrow(/away/);
});

test("everything of a pod goes: subPaths, memory, tokens, directories", async () => {
  const root = directories();
  const forgotten: string[] = [];
  const volumes = manager({ root, forgotten });
  await volumes.start();
  const pod = podOf(
    { name: "m", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    {
      name: "t",
      projected: { sources: [{ serviceAccountToken: { path: "token" } }] },
    },
  );
  await volumes.mount(pod);
  const [mount] = await volumes.containerMounts(
    pod,
    {
      name: "app",
      volumeMounts: [{ name: "m", mountPath: "d", subPath: "deep/er" }],
    },
    () => undefined,
    false,
  );
  expect(mount).toMatchObject({ containerPath: "/d", readonly: false });
  const directory = path.join(root, "pods/u");
  expect(await mountsBelow(directory)).toHaveLength(2);
  // By another manager: the agent was restarted in between.
  await manager({ root, forgotten }).unmount("u");
  expect(await mountsBelow(directory)).toEqual([]);
  expect(fs.existsSync(path.join(directory, "volumes"))).toBe(false);
  expect(fs.existsSync(path.join(root, "memory/u"))).toBe(false);
  expect(forgotten).toEqual(["u"]);
  await volumes.stop();
});

test("an emptyDir of memory is open to all users, without the sticky bit of a fresh tmpfs", async () => {
  const root = directories();
  const pod = podOf({ name: "v", emptyDir: { medium: "Memory" } });
  const volumes = manager({ root });
  await volumes.mount(pod);
  const [mount] = await mountsBelow(root);
  try {
    expect(fs.statSync(mount!).mode & 0o7777).toBe(0o777);
  } finally {
    await volumes.unmount("u");
  }
  expect(await mountsBelow(root)).toEqual([]);
});

const ofImage = podOf({ name: "v", image: { reference: "data:1" } });
const mounting = (subPath?: string): Pod["spec"]["containers"][number] => ({
  name: "app",
  volumeMounts: [
    { name: "v", mountPath: "/data", ...(subPath ? { subPath } : {}) },
  ],
});

test("an image volume is mounted by the runtime, read-only", async () => {
  const volumes = manager({ images: true });
  await volumes.mount(ofImage);
  const image = { id: "sha256:1", reference: "data:1" };
  const mounts = (container: ReturnType<typeof mounting>, images = [image]) =>
    volumes.containerMounts(
      ofImage,
      container,
      () => undefined,
      false,
      new Map(images.map((each) => ["v", each])),
    );
  expect(await mounts(mounting())).toEqual([
    {
      containerPath: "/data",
      hostPath: "",
      readonly: true,
      propagation: "private",
      image,
    },
  ]);
  await expect(mounts(mounting("bin"))).rejects.toThrow(
    'volume "v" is an image, of which container "app" can\'t have a subPath',
  );
  await expect(mounts(mounting(), [])).rejects.toThrow(
    'the image of volume "v" is not known',
  );
});

test.each([
  ["/etc", "error SubPath `/etc` must not be an absolute path"],
  ["../x", "unable to provision SubPath `../x`: must not contain '..'"],
  ["a/../b", "unable to provision SubPath `a/../b`: must not contain '..'"],
  // Whether the node has a file shows in none of them.
  ...["there", "not-there", "loop", "file/below"].map((name) => [
    name,
    'failed to prepare subPath for volumeMount "v" of container "app"',
  ]),
])("subPath %s is refused", async (subPath, text) => {
  const volumes = manager();
  const pod = podOf({ name: "v", emptyDir: {} });
  await volumes.mount(pod);
  try {
    const [mounted] = await volumes.containerMounts(
      pod,
      mounting(),
      () => undefined,
      false,
      new Map(),
    );
    const inside = (name: string): string => `${mounted!.hostPath}/${name}`;
    fs.symlinkSync("/etc/passwd", inside("there"));
    fs.symlinkSync("/etc/no-such-file", inside("not-there"));
    fs.symlinkSync("loop", inside("loop"));
    fs.writeFileSync(inside("file"), "");
    await expect(
      volumes.containerMounts(
        pod,
        mounting(subPath),
        () => undefined,
        false,
        new Map(),
      ),
    ).rejects.toMatchObject({ message: text });
  } finally {
    await volumes.unmount(pod.metadata.uid!);
  }
});

test("without the gate an image volume is refused by name", async () => {
  await expect(manager().mount(ofImage)).rejects.toThrow(
    "volumes of type image are not supported by this node agent",
  );
});
