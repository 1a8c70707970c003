// fsGroup: which directories are gone through, and what becomes of the modes of payloads.
import * as fs from "node:fs";
import * as path from "node:path";
import { writePayload } from "../../../../agent/volumes/files/atomic-writer.ts";
import { setGroup } from "../../../../agent/volumes/files/ownership.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const temp = useTempDirectories();
const group = 4242;
const modeOf = (file: string): number => fs.statSync(file).mode & 0o7777;

test.each([
  [0o2770, true],
  [0o2777, true],
  [0o2070, false],
  [0o0770, false],
])(
  "with OnRootMismatch a root of mode %o is left alone: %s",
  async (mode, isLeft) => {
    const root = temp();
    const file = path.join(root, "file");
    fs.writeFileSync(file, "", { mode: 0o600 });
    fs.chownSync(root, 0, group);
    fs.chmodSync(root, mode);
    await setGroup(root, group, true);
    expect(modeOf(file)).toBe(isLeft ? 0o600 : 0o660);
    expect(modeOf(root)).toBe(isLeft ? mode : mode | 0o2770);
  },
);

test("a payload is read by the group and written by nobody of it", async () => {
  const root = temp();
  const data = Buffer.from("x");
  await writePayload(
    root,
    new Map([
      ["a", { data, mode: 0o400 }],
      ["below/b", { data, mode: 0o644 }],
    ]),
    group,
  );
  const written = path.join(root, "..data");
  expect(
    ["", "a", "below", "below/b"].map((name) =>
      modeOf(path.join(written, name)).toString(8),
    ),
  ).toEqual(["2755", "440", "2755", "644"]);
});
