// Directories that can't be made say why: file systems that are full or read-only, files in the way, /proc.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

let root: string;
beforeEach(() => {
  root = makeTempDirectory("orbit-directories-");
});
afterEach(() => removeTempDirectory(root));

const modeOf = (path: string): number => fs.statSync(path).mode & 0o777;

/** Runs with a tmpfs of these options mounted on a directory of its own. */
async function onTmpfs(
  options: string,
  body: (mounted: string) => Promise<void>,
): Promise<void> {
  const mounted = join(root, "mounted");
  fs.mkdirSync(mounted);
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", mounted]);
  try {
    await body(mounted);
  } finally {
    execFileSync("umount", [mounted]);
  }
}

test("what is missing is made with the mode, what is there keeps its own", async () => {
  fs.mkdirSync(join(root, "a"), { mode: 0o700 });
  await makeDirectory(join(root, "a/b/c"), 0o750);
  expect(["a", "a/b", "a/b/c"].map((path) => modeOf(join(root, path)))).toEqual(
    [0o700, 0o750, 0o750],
  );
  await makeDirectory(join(root, "a/b/c"), 0o700);
  expect(modeOf(join(root, "a/b/c"))).toBe(0o750);
  fs.symlinkSync(join(root, "a"), join(root, "link"));
  await makeDirectory(join(root, "link/d"), 0o700);
  expect(modeOf(join(root, "a/d"))).toBe(0o700);
  await makeDirectory(join(root, "link"), 0o700);
});

test("calls for the same directories do not disturb each other", async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      makeDirectory(join(root, `x/y/${n % 5}`), 0o750),
    ),
  );
  expect(fs.readdirSync(join(root, "x/y"))).toHaveLength(5);
});

test("files and dead links in the way are named", async () => {
  fs.writeFileSync(join(root, "file"), "");
  fs.symlinkSync(join(root, "nowhere"), join(root, "dead"));
  await expect(makeDirectory(join(root, "file"))).rejects.toThrow(
    /EEXIST.*file/,
  );
  await expect(makeDirectory(join(root, "file/below/it"))).rejects.toThrow(
    /ENOTDIR/,
  );
  await expect(makeDirectory(join(root, "dead"))).rejects.toThrow(/EEXIST/);
});

test("a file system without inodes is full, and not a missing file", () =>
  onTmpfs("nr_inodes=2", async (mounted) => {
    await makeDirectory(join(mounted, "one"));
    await expect(makeDirectory(join(mounted, "one/two/three"))).rejects.toThrow(
      /ENOSPC: .*one\/two'/,
    );
    // What is there needs nothing.
    await makeDirectory(join(mounted, "one"));
  }));

test("a read-only file system says so", () =>
  onTmpfs("ro", async (mounted) => {
    await expect(makeDirectory(join(mounted, "one/two"))).rejects.toThrow(
      /EROFS: .*one'/,
    );
    await makeDirectory(mounted);
  }));

test("where nothing can be made it ends", async () => {
  await expect(makeDirectory("/proc/orbit/below")).rejects.toThrow(
    /ENOENT: .*\/proc\/orbit'/,
  );
});
