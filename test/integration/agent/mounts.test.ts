// What is mounted below a directory, whatever characters its name has.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  mountPoints,
  mountsBelow,
  mountTmpfs,
  unmount,
} from "../../../agent/volumes/files/mounts.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-test-mounts-");

test.each(["plain", "with space", "back\\slash\\040", "tab\tnew\nline", "#ü"])(
  "mounts below a directory named %j",
  async (name) => {
    const directory = join(temporary(), name);
    // Names that the directory's is the beginning of are not below it.
    const made = [directory, join(directory, "deep er"), `${directory}2`];
    for (const each of made) await mkdir(each, { recursive: true });
    try {
      for (const each of made) {
        await mkdir(each, { recursive: true });
        await mountTmpfs(each, undefined);
      }
      expect(await mountsBelow(directory)).toEqual([made[1], made[0]]);
      const all = (await mountPoints()).map(({ target }) => target);
      expect(all).toEqual(expect.arrayContaining(made));
    } finally {
      for (const each of made.toReversed()) await unmount(each).catch(() => {});
    }
    expect(await mountsBelow(directory)).toEqual([]);
  },
);
