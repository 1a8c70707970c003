import * as fs from "node:fs";
import * as path from "node:path";
import {
  listSnapshots,
  makeSnapshotDirectory,
  pruneSnapshots,
  removeAbandoned,
  snapshotName,
  snapshotOwner,
} from "../../../../storage/snapshots/snapshot-directory.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const owner = snapshotOwner("/var/lib/orbit/store");
const hourMs = 3_600_000;
const startMs = Date.UTC(2025, 0, 31, 12);

function fill(directory: string, count: number, by = owner): string[] {
  return Array.from({ length: count }, (_, index) => {
    const name = snapshotName(by, startMs + index * hourMs, 100 + index);
    fs.writeFileSync(path.join(directory, name), "x");
    return name;
  });
}

it("names a snapshot by owner, time and revision, and reads the name back", () => {
  const directory = tempDirectory();
  expect(snapshotName("0011aabb", startMs, 7)).toBe(
    "orbit-0011aabb-20250131T120000Z-r7.snapshot",
  );
  const [name] = fill(directory, 1);
  expect(listSnapshots(directory, owner)).toEqual([
    { name, takenAtMs: startMs, revision: 100, bytes: 1 },
  ]);
});

it("lists none where there is no directory", () => {
  expect(listSnapshots(path.join(tempDirectory(), "none"), owner)).toEqual([]);
});

it("makes the directory for its owner only", async () => {
  const directory = path.join(tempDirectory(), "snapshots");
  await makeSnapshotDirectory(directory);
  await makeSnapshotDirectory(directory);
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
});

it("removes the oldest and nothing it did not make", async () => {
  const directory = tempDirectory();
  const names = fill(directory, 8);
  const others = [
    ...fill(directory, 8, snapshotOwner("/elsewhere/store")),
    "state",
    "orbit.snapshot",
    `${names[0]}.bak`,
    `${names[0]}.812.new`,
    `copy-${names[0]}`,
  ];
  for (const name of others.slice(8))
    fs.writeFileSync(path.join(directory, name), "mine");
  // Names of its own form that are no files of its own.
  const folder = snapshotName(owner, 0, 1);
  fs.mkdirSync(path.join(directory, folder));
  const link = snapshotName(owner, 1000, 1);
  fs.symlinkSync(path.join(directory, "state"), path.join(directory, link));

  expect(await pruneSnapshots(directory, owner, 5)).toEqual(names.slice(0, 3));
  expect(await pruneSnapshots(directory, owner, 5)).toEqual([]);
  expect(fs.readdirSync(directory).sort()).toEqual(
    [...names.slice(3), ...others, folder, link].sort(),
  );
});

it("keeps the snapshot just taken when the clock was set back", async () => {
  const directory = tempDirectory();
  const names = fill(directory, 5);
  const newest = snapshotName(owner, startMs - 24 * hourMs, 200);
  fs.writeFileSync(path.join(directory, newest), "x");
  expect(await pruneSnapshots(directory, owner, 5, newest)).toEqual([names[0]]);
  expect(fs.existsSync(path.join(directory, newest))).toBe(true);
});

it("never lists half-written files, and removes those nobody writes any more", () => {
  const directory = tempDirectory();
  const name = (pid: number, by = owner): string =>
    `${snapshotName(by, startMs, 1)}.${pid}.new`;
  const theirs = name(10, snapshotOwner("/elsewhere/store"));
  const [own, another, old] = [name(10), name(11), name(12)];
  for (const each of [own, another, old, theirs])
    fs.writeFileSync(path.join(directory, each), "half");
  const nowMs = Date.now();
  fs.utimesSync(path.join(directory, old), 0, (nowMs - 2 * hourMs) / 1000);
  fs.utimesSync(path.join(directory, theirs), 0, (nowMs - 2 * hourMs) / 1000);
  expect(listSnapshots(directory)).toEqual([]);
  removeAbandoned(directory, owner, 10, nowMs);
  expect(fs.readdirSync(directory).sort()).toEqual([another, theirs].sort());
});
