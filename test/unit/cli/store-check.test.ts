import * as fs from "node:fs";
import * as path from "node:path";
import { runStore } from "../../../cli/store.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
let printed = "";
beforeEach(() => {
  printed = "";
  jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => jest.restoreAllMocks());

it("says what is sound in a log, and where it is damaged", async () => {
  const dataDirectory = tempDirectory();
  const directory = path.join(dataDirectory, "store");
  const store = createFileStore({ directory });
  await store.start();
  for (const key of ["/a", "/b", "/c"])
    await store.write({
      key,
      expectedRevision: 0,
      encode: () => Buffer.from(key.repeat(20)),
    });
  const argv = ["check", "--data-dir", dataDirectory];
  expect(await runStore(argv)).toBe(0);
  expect(printed).toMatch(/revision 4\nkeys +3\nsound +every frame\n/);
  await store.stop();

  const log = path.join(directory, "log");
  const sound = fs.readFileSync(log);
  fs.writeFileSync(log, sound.subarray(0, sound.length - 5));
  printed = "";
  expect(await runStore(argv)).toBe(0);
  expect(printed).toMatch(/torn +the last 44 bytes/);

  sound[sound.indexOf("/b/b") + 3]! ^= 1;
  fs.writeFileSync(log, sound);
  printed = "";
  await expect(runStore(argv)).rejects.toThrow(/a server refuses to start/);
  expect(printed).toMatch(
    /keys +2\ndamaged +bytes \d+ to \d+; in danger: revisions 3 to 3\n/,
  );
  await expect(createFileStore({ directory }).start()).rejects.toMatchObject({
    code: "corrupt",
  });
});
