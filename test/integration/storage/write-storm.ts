// Run as a child by crash.test.ts: writes as fast as it can until it is killed, telling each acknowledged write on stdout.
import * as fs from "node:fs";
import { createFileStore } from "../../../storage/file/file-store.ts";

async function main(): Promise<void> {
  const [directory, round] = process.argv.slice(2) as [string, string];
  // A small limit, so that kills also hit compactions.
  const store = createFileStore({ directory, compactAboveBytes: 200_000 });
  await store.start();
  let counter = 0;
  const writer = async (id: number): Promise<never> => {
    for (;;) {
      const key = `/storm/${id}/${counter++ % 40}`;
      const value = `${round}:${counter}:${"v".repeat(counter % 700)}`;
      const removes = counter % 17 === 0;
      fs.writeSync(1, `intent ${key}\n`);
      const result = await store.write({
        key,
        expectedRevision: undefined,
        encode: () => (removes ? undefined : Buffer.from(value)),
      });
      // Synchronous, so that what is told before the kill is what was acknowledged before it.
      if (result.ok)
        fs.writeSync(1, `${result.revision} ${key} ${removes ? "-" : value}\n`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, id) => writer(id)));
}

void main();
