// What the changes of a name say of its file.
import { NameChanges } from "../../../../agent/sources/name-changes.ts";

const file = "/m/a.yaml";
const was = (
  changes: number,
  now: { ino: number; mtimeMs: number; ctimeMs: number },
): boolean => {
  const names = new NameChanges();
  for (let n = 0; n < changes; n++) names.note(file);
  names.note("/m/b.yaml");
  return names.wasRemoved(file, 7, now);
};

test.each([
  ["written in its place", 0, { ino: 7, mtimeMs: 2, ctimeMs: 2 }, false],
  ["a rename over it", 1, { ino: 8, mtimeMs: 2, ctimeMs: 2.5 }, false],
  ["a rename within a tick", 1, { ino: 8, mtimeMs: 2, ctimeMs: 2 }, false],
  ["two renames over it", 2, { ino: 8, mtimeMs: 2, ctimeMs: 2.5 }, false],
  ["removed and written", 2, { ino: 8, mtimeMs: 2, ctimeMs: 2 }, true],
  ["the same inode used again", 2, { ino: 7, mtimeMs: 2, ctimeMs: 2 }, true],
  ["moved away and back", 2, { ino: 7, mtimeMs: 1, ctimeMs: 3 }, true],
])("%s", (_what, changes, now, removed) => {
  expect(was(changes, now)).toBe(removed);
});

test("what is forgotten counts no more", () => {
  const names = new NameChanges();
  names.note(file);
  names.forget(file);
  names.note(file);
  expect(names.wasRemoved(file, 7, { ino: 7, mtimeMs: 2, ctimeMs: 2 })).toBe(
    false,
  );
});
