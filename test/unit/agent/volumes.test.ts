import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Pod, Volume } from "../../../api/types/core-v1.ts";
import {
  checkPayloadPath,
  writePayload,
} from "../../../agent/volumes/files/atomic-writer.ts";
import {
  checkHostPath,
  makeFile,
} from "../../../agent/volumes/types/host-path.ts";
import { configMapType } from "../../../agent/volumes/payload/config-map.ts";
import { downwardApiType } from "../../../agent/volumes/payload/downward-api.ts";
import type { PayloadSource } from "../../../agent/volumes/payload/payload.ts";
import { projectedType } from "../../../agent/volumes/payload/projected.ts";
import { secretType } from "../../../agent/volumes/payload/secret.ts";
import { mountTmpfs, unmount } from "../../../agent/volumes/files/mounts.ts";
import {
  directCalls,
  directTurn,
  memoryCalls,
  pooledCalls,
} from "../../../agent/volumes/files/file-calls.ts";
import { removeSmallTree } from "../../../agent/volumes/files/remove-small-tree.ts";
import { mountSubPath } from "../../../agent/volumes/files/sub-path.ts";
import { ServiceAccountTokens } from "../../../agent/volumes/payload/service-account-tokens.ts";
import type { Client } from "../../../client/client.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => setImmediate(resolve));
const payload = (
  files: Record<string, string>,
  mode = 0o644,
): Map<string, { data: Buffer; mode: number }> =>
  new Map(
    Object.entries(files).map(([name, text]) => [
      name,
      { data: Buffer.from(text), mode },
    ]),
  );

describe.each([
  ["through the pool of threads", pooledCalls],
  ["at once", directCalls],
])("a payload that is written %s", (_how, calls) => {
  const write = (
    directory: string,
    files: ReturnType<typeof payload>,
    groupId?: number,
  ): Promise<boolean> => writePayload(directory, files, groupId, calls);

  test("is swapped as a whole and left alone when it is the same", async () => {
    const directory = directories();
    const first = payload({ a: "1", "deep/b": "2" });
    expect(await write(directory, first)).toBe(true);
    expect(await fs.readFile(path.join(directory, "deep/b"), "utf8")).toBe("2");
    const dated = await fs.readlink(path.join(directory, "..data"));
    expect(await write(directory, first)).toBe(false);
    expect(await fs.readlink(path.join(directory, "..data"))).toBe(dated);
    const second = { a: "1", c: "3" };
    expect(await write(directory, payload(second))).toBe(true);
    const names = await fs.readdir(directory);
    expect(names.filter((name) => !name.startsWith("..")).sort()).toEqual([
      "a",
      "c",
    ]);
    expect(names.filter((name) => name.startsWith(".."))).toHaveLength(2);
    expect(await write(directory, payload(second, 0o400))).toBe(true);
    const { mode } = await fs.stat(path.join(directory, "a"));
    expect(mode & 0o777).toBe(0o400);
  });

  test("goes on where a writer was killed, and leaves what others made", async () => {
    const directory = directories();
    await fs.symlink("..gone", path.join(directory, "..data_tmp"));
    await fs.mkdir(path.join(directory, "a"));
    await write(directory, payload({ a: "1", b: "2" }));
    expect(await fs.readFile(path.join(directory, "b"), "utf8")).toBe("2");
    expect((await fs.lstat(path.join(directory, "a"))).isDirectory()).toBe(
      true,
    );
    expect(await fs.readdir(directory)).not.toContain("..data_tmp");
  });

  test("belongs to the group, which may read it", async () => {
    const directory = directories();
    await write(directory, payload({ "deep/b": "2" }, 0o600), 1234);
    for (const [name, mode] of [
      ["deep/b", 0o640],
      ["deep", 0o2755],
      ["..data/", 0o2755],
    ] as const) {
      const found = await fs.stat(path.join(directory, name));
      expect([name, found.gid, found.mode & 0o7777]).toEqual([
        name,
        1234,
        mode,
      ]);
    }
  });
});

test("a small directory is removed at once, with its links and not what they lead to", async () => {
  const directory = directories();
  const kept = path.join(directory, "kept");
  await fs.writeFile(kept, "");
  const small = path.join(directory, "small");
  await fs.mkdir(path.join(small, "a/b"), { recursive: true });
  await fs.writeFile(path.join(small, "a/b/file"), "");
  await fs.symlink(directory, path.join(small, "link"));
  expect(removeSmallTree(small)).toBe(true);
  expect(await fs.readdir(directory)).toEqual(["kept"]);
  expect(removeSmallTree(small)).toBe(true);
});

test("a larger one is not, nor a link, nor what is mounted", async () => {
  const directory = directories();
  const large = path.join(directory, "large");
  await fs.mkdir(large);
  for (let index = 0; index < 80; index++)
    await fs.writeFile(path.join(large, `f${index}`), "");
  expect(removeSmallTree(large)).toBe(false);
  expect(await fs.readdir(large)).not.toHaveLength(0);
  const link = path.join(directory, "link");
  const kept = path.join(directory, "kept");
  await fs.mkdir(path.join(kept, "mounted"), { recursive: true });
  await fs.symlink(kept, link);
  expect(removeSmallTree(link)).toBe(false);
  await mountTmpfs(path.join(kept, "mounted"), undefined);
  try {
    await fs.writeFile(path.join(kept, "mounted/file"), "");
    await nextTurn();
    expect(removeSmallTree(kept)).toBe(false);
    expect(await fs.readdir(path.join(kept, "mounted"))).toEqual(["file"]);
  } finally {
    await unmount(path.join(kept, "mounted"));
  }
});

test("what is found there is read at once only where it is small and a file", async () => {
  const directory = directories();
  const names = [...Array(100).keys()].map((n) => [`f${n}`, "1"]);
  await writePayload(directory, payload(Object.fromEntries(names)));
  const write = (): Promise<boolean> =>
    writePayload(directory, payload({ f1: "1" }), undefined, directCalls);
  expect(await write()).toBe(true);
  expect(await fs.readdir(directory)).toHaveLength(3);
  expect(await write()).toBe(false);
  const file = path.join(directory, "..data/f1");
  await fs.rm(file);
  execFileSync("mkfifo", ["-m", "644", file]);
  expect(await write()).toBe(true);
  expect(await fs.readFile(file, "utf8")).toBe("1");
});

test("between two turns of the event loop so much is done at once and no more", async () => {
  await nextTurn();
  const small = payload({ token: "t", namespace: "n", "ca.crt": "c" });
  expect(memoryCalls(small)).toBe(directCalls);
  const before = Array.from({ length: 20 }, () => memoryCalls(small));
  expect(before).toContain(pooledCalls);
  await nextTurn();
  expect(memoryCalls(small)).toBe(directCalls);
  await nextTurn();
  // Deep, many or large.
  for (const files of [
    payload({ [`${"a/".repeat(100)}b`]: "" }),
    payload(Object.fromEntries([...Array(100).keys()].map((n) => [n, ""]))),
    payload({ a: "x".repeat(1 << 20) }),
  ])
    expect(memoryCalls(files)).toBe(pooledCalls);
});

test("what is to be done at once and is too much for one turn waits for the next", async () => {
  await nextTurn();
  let done = 0;
  const all = Array.from({ length: 10 }, () =>
    directTurn(100).then(() => done++),
  );
  await Promise.resolve();
  expect(done).toBe(2);
  await Promise.all(all);
  expect(done).toBe(10);
});

test("of a payload that can't be written nothing is left", async () => {
  const directory = directories();
  const bad = new Map(payload({ a: "1" }));
  // A name that is a file and a directory.
  for (const [name, file] of payload({ "a/b": "2" })) bad.set(name, file);
  await expect(writePayload(directory, bad)).rejects.toThrow("ENOTDIR");
  expect(await fs.readdir(directory)).toEqual([]);
  await expect(
    writePayload(directory, payload({ ["n".repeat(256)]: "1" })),
  ).rejects.toThrow(
    "invalid path: filenames must be less than or equal to 255 characters",
  );
});

test.each(["", "/etc/passwd", "../x", "a/../../x", "..data"])(
  "the payload path %p is refused",
  (name) => {
    expect(() => checkPayloadPath(name)).toThrow(/invalid path/);
  },
);

const source: PayloadSource = {
  configMap: (_namespace, name) =>
    Promise.resolve(
      name === "cm"
        ? { metadata: { name }, data: { k: "v" }, binaryData: { bin: "AAE=" } }
        : undefined,
    ),
  secret: (_namespace, name) =>
    Promise.resolve(
      name === "s"
        ? {
            metadata: { name },
            data: { p: Buffer.from("pw").toString("base64") },
          }
        : undefined,
    ),
  nodeResources: () => ({
    cpuMillis: 2000,
    memoryBytes: 4096,
    ephemeralStorageBytes: 0,
  }),
  serviceAccountToken: () => Promise.resolve("token"),
};
const files = async (
  pod: Pod,
  volume: Omit<Volume, "name">,
): Promise<Record<string, string>> => {
  const type = [
    configMapType,
    secretType,
    downwardApiType,
    projectedType(() => undefined),
  ].find(({ field }) => volume[field as keyof typeof volume] !== undefined)!;
  const found = await type.files(pod, volume, source);
  return Object.fromEntries(
    [...found].map(([name, { data, mode }]) => [
      name,
      `${data.toString("latin1")}:${mode.toString(8)}`,
    ]),
  );
};

test("contents of every kind", async () => {
  const pod = testPod();
  pod.metadata.labels = { b: '2"', a: "1" };
  expect(
    await files(pod, { configMap: { name: "cm", defaultMode: 0o600 } }),
  ).toEqual({ k: "v:600", bin: "\0\x01:600" });
  expect(
    await files(pod, { configMap: { name: "none", optional: true } }),
  ).toEqual({});
  expect(
    await files(pod, {
      secret: {
        secretName: "s",
        items: [{ key: "p", path: "x/y", mode: 0o400 }],
      },
    }),
  ).toEqual({ "x/y": "pw:400" });
  expect(
    await files(pod, {
      downwardAPI: {
        items: [
          { path: "l", fieldRef: { fieldPath: "metadata.labels" } },
          { path: "n", fieldRef: { fieldPath: "metadata.labels['a']" } },
        ],
      },
    }),
  ).toEqual({ l: 'a="1"\nb="2\\"":644', n: "1:644" });
  expect(
    await files(pod, {
      projected: {
        sources: [
          { serviceAccountToken: { path: "token" } },
          { configMap: { name: "cm", items: [{ key: "k", path: "ca.crt" }] } },
          {
            downwardAPI: {
              items: [
                {
                  path: "namespace",
                  fieldRef: { fieldPath: "metadata.namespace" },
                },
              ],
            },
          },
        ],
      },
    }),
  ).toEqual({ token: "token:644", "ca.crt": "v:644", namespace: "ns:644" });
});

test("certificates are as private as tokens", async () => {
  const from: PayloadSource = {
    ...source,
    trustAnchors: () => Promise.resolve(Buffer.from("ca")),
  };
  const volume = {
    projected: {
      sources: [{ clusterTrustBundle: { name: "b", path: "ca.crt" } }],
    },
  };
  const made = await projectedType(() => undefined).files(
    testPod({ securityContext: { runAsUser: 7 } }),
    volume,
    from,
  );
  expect(made.get("ca.crt")).toMatchObject({ mode: 0o600, userId: 7 });
});

test.each<[Omit<Volume, "name">, string | RegExp]>([
  [{ configMap: { name: "none" } }, 'configmap "none" not found'],
  [{ secret: { secretName: "none" } }, 'secret "none" not found'],
  [
    { configMap: { name: "cm", items: [{ key: "x", path: "x" }] } },
    "configmap references non-existent config key: x",
  ],
  [
    { secret: { secretName: "s", items: [{ key: "x", path: "x" }] } },
    /^references non-existent secret key: x$/,
  ],
  [
    {
      projected: {
        sources: [
          { secret: { name: "none" } },
          { configMap: { name: "cm" } },
          { configMap: { name: "none" } },
          { secret: { name: "none" } },
        ],
      },
    },
    /^\[secret "none" not found, configmap "none" not found\]$/,
  ],
  [
    {
      downwardAPI: {
        items: [{ path: "x", fieldRef: { fieldPath: "spec.none" } }],
      },
    },
    "unsupported fieldPath: spec.none",
  ],
])("%j is refused", async (volume, message) => {
  await expect(files(testPod(), volume)).rejects.toThrow(message);
});

test("a pipe where a file is to be made holds nobody, and a file keeps what it has", async () => {
  const directory = directories();
  const pipe = path.join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  await makeFile(pipe);
  await expect(checkHostPath(pipe, "FileOrCreate")).rejects.toThrow(
    `hostPath type check failed: ${pipe} is not a file`,
  );
  const file = path.join(directory, "file");
  await makeFile(file);
  await fs.writeFile(file, "kept");
  await makeFile(file);
  expect(await fs.readFile(file, "utf8")).toBe("kept");
});

test("hostPath types", async () => {
  const directory = directories();
  const file = path.join(directory, "f");
  await checkHostPath(path.join(directory, "a/b"), "DirectoryOrCreate");
  await checkHostPath(file, "FileOrCreate");
  await checkHostPath(path.join(directory, "none"), "");
  await expect(checkHostPath(file, "Directory")).rejects.toThrow(
    `hostPath type check failed: ${file} is not a directory`,
  );
  await expect(
    checkHostPath(path.join(directory, "none"), "File"),
  ).rejects.toThrow(/is not a file/);
  await expect(checkHostPath("/dev/null", "BlockDevice")).rejects.toThrow(
    /is not a block device/,
  );
  await checkHostPath("/dev/null", "CharDevice");
});

test("a subPath that is made has the rights of its volume and inherits its group", async () => {
  const directory = directories();
  const volume = path.join(directory, "volume");
  await fs.mkdir(volume);
  await fs.chmod(volume, 0o2777);
  const umask = process.umask(0o077);
  const target = path.join(directory, "target");
  try {
    await mountSubPath(volume, "a/b", target, false);
    for (const name of ["a", "a/b"])
      expect((await fs.stat(path.join(volume, name))).mode & 0o7777).toBe(
        0o2777,
      );
  } finally {
    process.umask(umask);
    await unmount(target);
  }
});

test("a subPath can't lead out of its volume", async () => {
  const directory = directories();
  const volume = path.join(directory, "volume");
  await fs.mkdir(path.join(volume, "inner"), { recursive: true });
  await fs.mkdir(path.join(directory, "outside"));
  await fs.symlink("../outside", path.join(volume, "escape"));
  await fs.symlink("/etc", path.join(volume, "absolute"));
  const target = path.join(directory, "target");
  for (const bad of [
    "../outside",
    "/etc",
    "escape",
    "escape/new",
    "absolute/passwd",
    "inner/../../outside",
  ])
    await expect(mountSubPath(volume, bad, target, false)).rejects.toThrow(
      /subPath/,
    );
  expect(await fs.readdir(path.join(directory, "outside"))).toEqual([]);
});

/** Tokens t1, t2 … that hold for 1,000 s, while the server is there. */
function numberedTokens() {
  const clock = new FakeClock();
  const server = { asked: 0, failing: false };
  const client = {
    resource: () => ({
      createSubresource: () => {
        if (server.failing) return Promise.reject(new Error("away"));
        return Promise.resolve({
          status: {
            token: `t${++server.asked}`,
            expirationTimestamp: new Date(
              clock.now() + 1_000_000,
            ).toISOString(),
          },
        });
      },
    }),
  } as unknown as Client;
  const tokens = new ServiceAccountTokens(client, clock);
  return { clock, server, get: () => tokens.get(testPod(), "", 1000) };
}

test("tokens are renewed at four fifths of their life, an old one serves while it is valid", async () => {
  const { clock, server, get } = numberedTokens();
  expect([await get(), await get()]).toEqual(["t1", "t1"]);
  clock.advance(799_000);
  expect(await get()).toBe("t1");
  clock.advance(2000);
  server.failing = true;
  expect(await get()).toBe("t1");
  server.failing = false;
  expect(await get()).toBe("t2");
  clock.advance(1_001_000);
  server.failing = true;
  await expect(get()).rejects.toThrow("failed to fetch token: away");
});

test("a token that is not valid yet, as the clock was set back, is renewed at once", async () => {
  const { clock, server, get } = numberedTokens();
  expect(await get()).toBe("t1");
  clock.jump(-29_000);
  expect(await get()).toBe("t1");
  clock.jump(-2000);
  server.failing = true;
  expect(await get()).toBe("t1");
  server.failing = false;
  expect(await get()).toBe("t2");
  expect(await get()).toBe("t2");
});
