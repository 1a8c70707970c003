// Directories in directories, deeper than any path: a container makes them, and root still counts and removes them.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { directoryUsage } from "../../../../agent/volumes/files/directory-usage.ts";
import { removeTree } from "../../../../agent/volumes/files/remove-tree.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();

/** A directory and a link change places without end. */
const swapper = `
  const { renameSync } = require("node:fs");
  const [directory, link, aside] = process.argv.slice(1);
  for (let round = 0; ; round++) {
    renameSync(directory, aside);
    renameSync(link, directory);
    renameSync(directory, link);
    renameSync(aside, directory);
    if (round === 0) require("node:fs").writeSync(1, "swaps");
  }
`;

/** As a shell in a container does it, one directory at a time, with a file of 1 MiB in the last one. */
function makeDeep(root: string, levels: number): void {
  const name = "d".repeat(200);
  const chunk = Array.from({ length: 10 }, () => name).join("/");
  // Each part is made in a directory of its own and then moved below the one before it.
  let inner: string | undefined;
  for (let made = 0; made < levels; made += 10) {
    const top = path.join(root, `part-${made}`);
    fs.mkdirSync(path.join(top, chunk), { recursive: true });
    if (inner === undefined)
      fs.writeFileSync(path.join(top, chunk, "big"), Buffer.alloc(1 << 20));
    else fs.renameSync(inner, path.join(top, chunk, "next"));
    inner = top;
  }
}

test("what lies deeper than a path reaches is counted", async () => {
  const root = directories();
  makeDeep(root, 60);
  const { bytes, inodes } = await directoryUsage(root);
  expect(bytes).toBeGreaterThanOrEqual(1 << 20);
  expect(inodes).toBe(60 + 6 + 1);
  await removeTree(root);
});

test("it is removed with all that is below, and nothing that links in it name", async () => {
  const root = directories();
  const kept = path.join(directories(), "kept");
  fs.mkdirSync(kept);
  fs.writeFileSync(path.join(kept, "file"), "of the host");
  makeDeep(root, 60);
  fs.symlinkSync(kept, path.join(root, "link"));
  await removeTree(root);
  expect(fs.existsSync(root)).toBe(false);
  expect(fs.readFileSync(path.join(kept, "file"), "utf8")).toBe("of the host");
  await removeTree(root);
});

test("thousands of files are removed, by another program", async () => {
  const root = directories();
  const kept = path.join(directories(), "kept");
  fs.writeFileSync(kept, "of the host");
  const given = path.join(root, "-rf $(touch x)");
  for (const directory of ["a", "b/c"]) {
    const made = path.join(given, directory);
    fs.mkdirSync(made, { recursive: true });
    for (let i = 0; i < 600; i++) fs.writeFileSync(path.join(made, `${i}`), "");
    fs.symlinkSync(kept, path.join(made, "link"));
  }
  await removeTree(given);
  expect(fs.readdirSync(root)).toEqual([]);
  expect(fs.readFileSync(kept, "utf8")).toBe("of the host");
});

test.each([1, 1000])(
  "what is mounted below is left, beside %d files",
  async (files) => {
    const root = directories();
    const below = path.join(root, "a/mounted");
    fs.mkdirSync(below, { recursive: true });
    for (let i = 0; i < files; i++)
      fs.writeFileSync(path.join(root, `${i}`), "");
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", below]);
    try {
      fs.writeFileSync(path.join(below, "file"), "another's");
      await expect(removeTree(root)).rejects.toThrow(
        /another file system|different device/,
      );
      expect(fs.readdirSync(below)).toEqual(["file"]);
    } finally {
      execFileSync("umount", [below]);
    }
    await removeTree(root);
    expect(fs.existsSync(root)).toBe(false);
  },
);

test("a link in its place is removed, not what it names", async () => {
  const root = directories();
  const kept = path.join(root, "kept");
  fs.mkdirSync(kept);
  fs.symlinkSync(kept, path.join(root, "link"));
  await removeTree(path.join(root, "link"));
  expect(fs.readdirSync(root)).toEqual(["kept"]);
});

test("depth without end is more than any limit", async () => {
  const root = directories();
  makeDeep(root, 1200);
  expect((await directoryUsage(root)).bytes).toBeGreaterThan(2 ** 50);
  await removeTree(root);
  expect(fs.existsSync(root)).toBe(false);
});

test("each inode counts once, and what a link names not at all", async () => {
  const root = directories();
  const outside = directories();
  fs.writeFileSync(path.join(outside, "host"), Buffer.alloc(1 << 20));
  fs.mkdirSync(path.join(root, "d"));
  fs.writeFileSync(path.join(root, "d", "file"), Buffer.alloc(8192));
  fs.linkSync(path.join(root, "d", "file"), path.join(root, "again"));
  fs.symlinkSync(outside, path.join(root, "link"));
  fs.symlinkSync(outside, path.join(root, "d", "link"));
  const { bytes, inodes } = await directoryUsage(root);
  expect(inodes).toBe(4);
  expect(bytes).toBeGreaterThanOrEqual(8192);
  expect(bytes).toBeLessThan(1 << 19);
});

test("a directory that becomes a link while it is read leads nowhere", async () => {
  const outside = directories();
  fs.writeFileSync(path.join(outside, "host"), Buffer.alloc(64 << 20));
  const root = directories();
  const [directory, link] = ["directory", "link"].map((name) =>
    path.join(root, name),
  ) as [string, string];
  fs.mkdirSync(directory);
  // Many entries before it, so that what was found of it is old when it is opened.
  for (let i = 0; i < 100; i++) fs.mkdirSync(path.join(root, `a${i}`));
  fs.symlinkSync(outside, link);
  // As a container would: by a process that does nothing else.
  const swapping = spawn(
    process.execPath,
    ["-e", swapper, directory, link, path.join(root, "aside")],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    await once(swapping.stdout, "data");
    for (let round = 0; round < 60; round++)
      expect((await directoryUsage(root)).bytes).toBeLessThan(32 << 20);
  } finally {
    swapping.kill("SIGKILL");
    await once(swapping, "close");
  }
});

test("what something else removes meanwhile is no end of the removal", async () => {
  for (let round = 0; round < 20; round++) {
    const root = path.join(directories(), "volume");
    fs.mkdirSync(path.join(root, "inner"), { recursive: true });
    const names = Array.from({ length: 100 }, (_, n) =>
      path.join(root, n % 2 ? "inner" : ".", `file-${n}`),
    );
    for (const name of names) fs.writeFileSync(name, "");
    const removing = removeTree(root);
    for (const name of names.toReversed())
      await fs.promises.rm(name, { force: true });
    await removing;
    expect(fs.existsSync(root)).toBe(false);
  }
});
