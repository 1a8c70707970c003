// Mounts below a volume whose files the agent writes: their places are made for the runtime, and stay.
import fs from "node:fs/promises";
import path from "node:path";
import { mountsOf } from "../../../../agent/volumes/container-mounts.ts";
import { writePayload } from "../../../../agent/volumes/files/atomic-writer.ts";
import { unmount } from "../../../../agent/volumes/files/mounts.ts";
import type { MountedVolume } from "../../../../agent/volumes/volume-plugin.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const files = (
  texts: Record<string, string>,
): Map<string, { data: Buffer; mode: number }> =>
  new Map(
    Object.entries(texts).map(([name, text]) => [
      name,
      { data: Buffer.from(text), mode: 0o644 },
    ]),
  );
const visible = async (directory: string): Promise<string[]> =>
  (await fs.readdir(directory)).filter((name) => !name.startsWith("..")).sort();

test("what others made in a volume stays when its content changes", async () => {
  const directory = directories();
  await writePayload(directory, files({ a: "1", gone: "2" }));
  await fs.mkdir(path.join(directory, "cache"));
  await fs.writeFile(path.join(directory, "file"), "");
  await fs.mkdir(path.join(directory, "..2026_11_28_14_14_18.329237573"));
  expect(await writePayload(directory, files({ a: "3", new: "4" }))).toBe(true);
  expect(await visible(directory)).toEqual(["a", "cache", "file", "new"]);
  expect(
    (await fs.readdir(directory)).filter((name) => name.startsWith("..")),
  ).toHaveLength(2);
});

test("a writer that was killed before it made the links is made up for", async () => {
  const directory = directories();
  await writePayload(directory, files({ a: "1", b: "2" }));
  await fs.rm(path.join(directory, "a"));
  await fs.symlink("..data/old", path.join(directory, "old"));
  expect(await writePayload(directory, files({ a: "1", b: "2" }))).toBe(false);
  expect(await visible(directory)).toEqual(["a", "b"]);
});

test("paths that are not in their shortest form are visible, and written once", async () => {
  const directory = directories();
  const unusual = files({ "./a/b": "1", "c//d": "2", "e/": "3" });
  await writePayload(directory, unusual);
  expect(await visible(directory)).toEqual(["a", "c", "e"]);
  expect(await fs.readFile(path.join(directory, "a/b"), "utf8")).toBe("1");
  expect(await fs.readFile(path.join(directory, "e"), "utf8")).toBe("3");
  expect(await writePayload(directory, unusual)).toBe(false);
});

test("places for mounts below are made as what is mounted there", async () => {
  const content = directories();
  const data = directories();
  const file = path.join(directories(), "file");
  await fs.writeFile(file, "");
  await writePayload(content, files({ key: "1" }));
  const mounted = (
    hostPath: string,
    more?: Partial<MountedVolume>,
  ): MountedVolume => ({ path: hostPath, readOnly: false, ...more });
  await mountsOf(
    {
      ...{ name: "c", image: "x" },
      volumeMounts: [
        { name: "data", mountPath: "/etc/app/cache/tmp/" },
        { name: "content", mountPath: "/etc/app" },
        { name: "data", mountPath: "/etc/app/cache/tmp/deeper" },
        { name: "file", mountPath: "/etc/app/extra" },
        { name: "file", mountPath: "/etc/app/key" },
        { name: "data", mountPath: "/etc/application" },
        { name: "data", mountPath: "/etc/app/..data/x" },
      ],
    },
    new Map([
      ["content", mounted(content, { readOnly: true, written: true })],
      ["data", mounted(data)],
      ["file", mounted(file)],
    ]),
    directories(),
    () => undefined,
    false,
  );
  expect(await visible(content)).toEqual(["cache", "extra", "key"]);
  expect(await fs.readdir(path.join(content, "cache"))).toEqual(["tmp"]);
  expect(await fs.readdir(path.join(content, "cache/tmp"))).toEqual([]);
  expect((await fs.stat(path.join(content, "extra"))).isFile()).toBe(true);
  expect(await fs.readFile(path.join(content, "key"), "utf8")).toBe("1");
  expect(await fs.readdir(path.join(content, "..data"))).toEqual(["key"]);
  expect(await fs.readdir(data)).toEqual([]);
});

test("an absent key as a sub-path is an empty directory, as at the reference", async () => {
  const content = directories();
  await writePayload(content, files({ key: "1" }));
  const [mount] = await mountsOf(
    {
      ...{ name: "c", image: "x" },
      volumeMounts: [
        { name: "content", mountPath: "/etc/app.conf", subPath: "absent" },
      ],
    },
    new Map([["content", { path: content, readOnly: true, written: true }]]),
    directories(),
    () => undefined,
    false,
  );
  try {
    expect(await fs.readdir(mount!.hostPath)).toEqual([]);
    expect(mount!.readonly).toBe(true);
    // It stays when the content changes: a container has it.
    await writePayload(content, files({ key: "2" }));
    expect(await visible(content)).toEqual(["absent", "key"]);
  } finally {
    await unmount(mount!.hostPath);
  }
});
