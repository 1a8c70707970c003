// A range of ids for each pod: given once, kept in the pod's directory over restarts, free again when the pod is over;
// never one of two pods, whatever the files say.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserNamespaces } from "../../../../agent/resources/users/user-namespaces.ts";
import type { IdMapping } from "../../../../cri/user-mappings.ts";
import { sandboxOf, testPod } from "../runtime-objects.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

const size = 65_536;

let root: string;
beforeEach(() => {
  root = makeTempDirectory("orbit-users-");
});
afterEach(() => removeTempDirectory(root));

const fileOf = (uid: string): string => join(root, "pods", uid, "userns");

async function makePod(uid: string): Promise<void> {
  await mkdir(join(root, "pods", uid), { recursive: true });
}

async function writeRecord(uid: string, record: unknown): Promise<void> {
  await makePod(uid);
  const text = typeof record === "string" ? record : JSON.stringify(record);
  await writeFile(fileOf(uid), text);
}

const record = (hostId: number, change: object = {}): object => {
  const mappings = [{ hostId, containerId: 0, length: size, ...change }];
  return { uidMappings: mappings, gidMappings: mappings };
};

interface Machine {
  ranges?: number;
  /** The ids of sandboxes that run, by the uids of their pods. */
  running?: Readonly<Record<string, IdMapping>>;
  firstTried?: number;
}

/** An agent's, as it starts; the first range begins at 65536. */
async function allocator({
  ranges = 4,
  running = {},
  firstTried = 0,
}: Machine = {}): Promise<(uid: string) => Promise<number>> {
  const namespaces = await started({ ranges, running, firstTried });
  return async (uid) => await firstId(namespaces, uid);
}

async function started({
  ranges = 4,
  running = {},
  firstTried = 0,
}: Machine = {}): Promise<UserNamespaces> {
  const namespaces = new UserNamespaces({
    rootDirectory: root,
    ids: () => Promise.resolve({ first: size, length: ranges * size }),
    pods: () =>
      Object.entries(running).map(([uid, mapping]) => ({
        uid,
        sandboxes: [
          sandboxOf(testPod(), { users: { uids: [mapping], gids: [mapping] } }),
        ],
      })),
    firstTried: () => firstTried,
  });
  await namespaces.start();
  return namespaces;
}

/** Makes its directory, as a pod's start does. */
async function firstId(
  namespaces: UserNamespaces,
  uid: string,
): Promise<number> {
  await makePod(uid);
  const { uids, gids } = await namespaces.of(uid);
  expect(uids).toEqual([
    { hostId: uids[0]!.hostId, containerId: 0, length: size },
  ]);
  expect(gids).toEqual(uids);
  return uids[0]!.hostId;
}

const exhausted =
  "create user namespace: could not find an empty slot to allocate a user namespace";

test("each pod has a range of its own, also when they ask at once, and keeps it", async () => {
  const of = await allocator();
  const uids = ["a", "b", "c", "d"];
  const given = await Promise.all(uids.map(of));
  expect([...given].sort((one, other) => one - other)).toEqual([
    size,
    2 * size,
    3 * size,
    4 * size,
  ]);
  expect(await Promise.all(uids.map(of))).toEqual(given);
});

test("the file has the reference's form, for its owner alone", async () => {
  const of = await allocator({ firstTried: 2 });
  await of("a");
  expect(await readFile(fileOf("a"), "utf8")).toBe(
    '{"uidMappings":[{"hostId":196608,"containerId":0,"length":65536}],"gidMappings":[{"hostId":196608,"containerId":0,"length":65536}]}',
  );
});

test("the range that is tried first may be any: those behind it and then those before it follow", async () => {
  const of = await allocator({ ranges: 3, firstTried: 2 });
  expect([await of("a"), await of("b"), await of("c")]).toEqual([
    3 * size,
    size,
    2 * size,
  ]);
});

test("an agent that is started again finds every pod's range", async () => {
  const before = await allocator();
  const given = [await before("a"), await before("b")];
  const after = await allocator();
  expect(await after("c")).not.toBe(given[0]);
  expect([await after("a"), await after("b")]).toEqual(given);
});

test("no range is left: refused, until a pod is over", async () => {
  const namespaces = await started({ ranges: 2 });
  const a = await firstId(namespaces, "a");
  await firstId(namespaces, "b");
  await expect(firstId(namespaces, "c")).rejects.toThrow(exhausted);
  await namespaces.release("a");
  expect(await firstId(namespaces, "c")).toBe(a);
  await expect(firstId(namespaces, "a")).rejects.toThrow(exhausted);
});

test("a pod that was over before the agent was started again has no range", async () => {
  await firstId(await started(), "a");
  const after = await started();
  await after.release("a");
  await expect(readFile(fileOf("a"))).rejects.toThrow("ENOENT");
  expect(await firstId(after, "b")).toBe(size);
});

test("a directory that was removed gives its range back", async () => {
  const of = await allocator({ ranges: 1 });
  expect(await of("a")).toBe(size);
  await rm(join(root, "pods", "a"), { recursive: true });
  expect(await of("b")).toBe(size);
});

test("a file that was lost while the agent runs is written again", async () => {
  const of = await allocator({ ranges: 2, firstTried: 1 });
  expect(await of("a")).toBe(2 * size);
  await rm(fileOf("a"));
  expect(await of("b")).toBe(size);
  expect(await of("a")).toBe(2 * size);
  expect(await readFile(fileOf("a"), "utf8")).toContain('"hostId":131072');
});

test("what the runtime still runs is not given out, though no file tells of it", async () => {
  const mapping = { hostId: 1.5 * size, containerId: 0, length: size };
  const of = await allocator({ ranges: 3, running: { lost: mapping } });
  expect(await of("a")).toBe(3 * size);
  await expect(of("b")).rejects.toThrow(exhausted);
});

test("its own sandbox is no hindrance", async () => {
  const mapping = { hostId: size, containerId: 0, length: size };
  await writeRecord("a", record(size));
  const of = await allocator({ running: { a: mapping } });
  expect(await of("a")).toBe(size);
});

test("a record of ids in which another pod runs is refused", async () => {
  const mapping = { hostId: size, containerId: 0, length: size };
  await writeRecord("a", record(size));
  const of = await allocator({ running: { other: mapping } });
  await expect(of("a")).rejects.toThrow(
    'range picked for pod "a" already taken',
  );
});

test("two pods with the same record are both refused", async () => {
  await writeRecord("a", record(size));
  await writeRecord("b", record(size));
  const of = await allocator();
  await expect(of("a")).rejects.toThrow("already taken");
  await expect(of("b")).rejects.toThrow("already taken");
  expect(await of("c")).toBe(2 * size);
});

test("a record of ids that the machine has no more for pods: that pod is refused", async () => {
  await writeRecord("a", record(9 * size));
  const of = await allocator();
  await expect(of("a")).rejects.toThrow("id 589824 is out of range");
  expect(await of("b")).toBe(size);
});

test("a record that was changed while the agent runs is refused", async () => {
  const of = await allocator();
  await of("a");
  await writeRecord("a", record(3 * size));
  await expect(of("a")).rejects.toThrow(
    'different user namespace range already used by pod "a"',
  );
});

test.each<[string, unknown, string]>([
  ["cut off", '{"uidMappings":[{"hostId":65', "JSON"],
  ["empty", "", "JSON"],
  ["null", "null", "mapping is allowed"],
  ["another form", { hostId: size }, "mapping is allowed"],
  [
    "two mappings",
    {
      uidMappings: [
        { hostId: size, containerId: 0, length: size },
        { hostId: 2 * size, containerId: size, length: size },
      ],
      gidMappings: [],
    },
    "mapping is allowed",
  ],
  [
    "groups unlike users",
    {
      ...record(size),
      gidMappings: [{ hostId: 2 * size, containerId: 0, length: size }],
    },
    "GID and UID mapping should be identical",
  ],
  ["the host's own ids", record(0), "wrong user namespace offset specified 0"],
  ["an odd beginning", record(size + 1), "wrong user namespace offset"],
  ["a text for a number", record(size, { hostId: "65536" }), "offset"],
  ["another length", record(size, { length: 2 * size }), "length 131072"],
  ["without root", record(size, { containerId: 1 }), "ID 0 must be mapped"],
])(
  "a damaged record (%s) is refused, and nobody is given a range",
  async (_, content, message) => {
    await writeRecord("a", content);
    const of = await allocator();
    for (const uid of ["a", "b"])
      await expect(of(uid)).rejects.toThrow(
        new RegExp(`pods/a/userns: .*${message}`),
      );
    // The damaged pod goes: others can have a range again.
    await rm(join(root, "pods", "a"), { recursive: true });
    expect(await of("b")).toBe(size);
  },
);

test("a record that is a directory is refused", async () => {
  await mkdir(fileOf("a"), { recursive: true });
  const of = await allocator();
  await expect(of("b")).rejects.toThrow("EISDIR");
});

test("without the pod's directory nothing is given out", async () => {
  const namespaces = await started();
  await makePod("other");
  await expect(namespaces.of("a")).rejects.toThrow("ENOENT");
});

test("files beside the pods' directories are no pods", async () => {
  await makePod("a");
  await writeFile(join(root, "pods", "notes"), "");
  const of = await allocator();
  expect(await of("a")).toBe(size);
});

test("ids of the machine that are of no use keep the agent from starting", async () => {
  const namespaces = new UserNamespaces({
    rootDirectory: root,
    ids: () => Promise.reject(new Error("mismatched")),
    pods: () => [],
  });
  await expect(namespaces.start()).rejects.toThrow(
    "create user namespace manager: kubelet mappings: mismatched",
  );
});

test("by chance without a choice: within the machine's ids", async () => {
  const namespaces = new UserNamespaces({
    rootDirectory: root,
    ids: () => Promise.resolve({ first: size, length: 3 * size }),
    pods: () => [],
  });
  await namespaces.start();
  expect([size, 2 * size, 3 * size]).toContain(await firstId(namespaces, "a"));
});
