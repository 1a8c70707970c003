// One of several processes that open the same store at the same time: writes until it is killed, and reports on stdout
// what it did: `open`, then `KEY REVISION` of each acknowledged write, or `refused CODE` and the end.
import * as fs from "node:fs";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { StoreError } from "../../../storage/store.ts";

async function main(): Promise<void> {
  const [directory, name] = process.argv.slice(2) as [string, string];
  const store = createFileStore({ directory, compactAboveBytes: 20_000 });
  try {
    await store.start();
  } catch (error) {
    const code = error instanceof StoreError ? error.code : String(error);
    fs.writeSync(1, `refused ${code}\n`);
    return;
  }
  fs.writeSync(1, "open\n");
  for (let count = 0; ; count++) {
    const key = `/${name}/${count % 50}`;
    const result = await store.write({
      key,
      expectedRevision: undefined,
      encode: (revision) => Buffer.from(`${name} ${revision}`.padEnd(100)),
    });
    if (result.ok) fs.writeSync(1, `${key} ${result.revision}\n`);
  }
}

void main();
