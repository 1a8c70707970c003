// kill -9 under a write storm: every acknowledged write is there afterwards, and revisions go on upwards.
// ORBIT_CRASH_ROUNDS sets the rounds (5 in the suite; 200 for a release).
import { spawn } from "node:child_process";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { bundleProgram } from "../../support/bundle-program.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const rounds = Number(process.env["ORBIT_CRASH_ROUNDS"] ?? 5);

interface Acknowledged {
  readonly revision: number;
  readonly value: string | undefined;
  /** Another write of the key was under way when the kill came: it may be durable without anybody having been told. */
  readonly open: boolean;
}

/** Runs the storm and kills it; the last acknowledged write of each key. */
function storm(
  program: string,
  directory: string,
  round: number,
): Promise<Map<string, Acknowledged>> {
  const child = spawn(process.execPath, [program, directory, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    // From the first acknowledgement on, however long it took on a busy machine.
    if (!timer && /^\d/m.test(chunk.toString()))
      timer = setTimeout(
        () => child.kill("SIGKILL"),
        20 + ((round * 37) % 180),
      );
  });
  return new Promise((resolve, reject) => {
    child.on("close", (_, signal) => {
      clearTimeout(timer);
      if (signal !== "SIGKILL")
        return reject(new Error("the storm ended by itself"));
      const last = new Map<string, Acknowledged>();
      const lines = Buffer.concat(chunks).toString().split("\n").slice(0, -1);
      for (const line of lines) {
        const [revision, key, value] = line.split(" ") as [
          string,
          string,
          string,
        ];
        const known = last.get(key);
        if (revision === "intent") {
          if (known) last.set(key, { ...known, open: true });
          continue;
        }
        last.set(key, {
          revision: Number(revision),
          value: value === "-" ? undefined : value,
          open: false,
        });
      }
      resolve(last);
    });
  });
}

it(
  `keeps every acknowledged write through ${rounds} kills`,
  async () => {
    const directory = tempDirectory();
    const program = path.join(tempDirectory(), "storm.cjs");
    await bundleProgram(path.join(__dirname, "write-storm.ts"), program);
    let highest = 0;
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await storm(
        program,
        path.join(directory, "store"),
        round,
      );
      expect(acknowledged.size).toBeGreaterThan(0);
      const store = createFileStore({
        directory: path.join(directory, "store"),
      });
      await store.start();
      for (const [key, { revision, value, open }] of acknowledged) {
        expect(revision).toBeGreaterThan(highest);
        expect(store.revision).toBeGreaterThanOrEqual(revision);
        const found = await store.get(key);
        if (open && found?.revision !== revision) continue;
        expect(
          found && {
            revision: found.revision,
            value: Buffer.from(found.value).toString(),
          },
        ).toEqual(value === undefined ? undefined : { revision, value });
      }
      highest = store.revision;
      await store.stop();
    }
  },
  150_000 + rounds * 10_000,
);
