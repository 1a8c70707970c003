// Several processes start on one store's directory at the same time, again and again, and are killed. One of them at a
// time has the store; whatever it acknowledged is there in the end.
import { spawn, type ChildProcess } from "node:child_process";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { Random } from "../random.ts";
import { Faults, type RoundResult } from "../round.ts";

interface Starter {
  readonly child: ChildProcess;
  readonly name: string;
  readonly exited: Promise<void>;
  output: string;
  /** It has written `open` and not ended. */
  holds: boolean;
}

/** @param program starter.ts, bundled */
export async function startersRound(
  seed: number,
  directory: string,
  program: string,
): Promise<RoundResult> {
  const random = new Random(seed);
  const faults = new Faults();
  const broken: string[] = [];
  const store = path.join(directory, "store");
  const live = new Set<Starter>();
  const all: Starter[] = [];
  const start = (): void => {
    const name = `s${all.length}`;
    const child = spawn(process.execPath, [program, store, name], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const starter: Starter = {
      ...{ child, name, output: "", holds: false },
      exited: new Promise((resolve) =>
        child.once("close", () => {
          starter.holds = false;
          live.delete(starter);
          resolve();
        }),
      ),
    };
    child.stdout.on("data", (chunk: Buffer) => {
      starter.output += chunk.toString();
      if (!starter.holds && starter.output.startsWith("open")) {
        starter.holds = child.exitCode === null && child.signalCode === null;
        const others = [...live].filter(
          (other) =>
            other !== starter && other.holds && other.child.signalCode === null,
        );
        // The kernel reports an end before the pipe does: a killed one may seem to hold it still.
        if (others.some((other) => !other.child.killed))
          broken.push(`${name} opened the store that ${others[0]!.name} holds`);
      }
      if (/refused (?!locked)/.test(starter.output))
        broken.push(`${name}: ${starter.output.trim()}`);
    });
    live.add(starter);
    all.push(starter);
  };
  for (let turn = 0; turn < 4; turn++) {
    faults.add("two starters");
    for (let count = 2 + random.integer(2); count > 0; count--) start();
    await acknowledged(live, 5 + random.integer(40));
    // Sometimes the next ones start while this one still lives.
    if (turn === 3 || random.chance(0.7)) {
      faults.add("kill of a holder");
      const ending = [...live];
      for (const { child } of ending) child.kill("SIGKILL");
      if (turn === 3 || random.chance(0.5))
        await Promise.all(ending.map(({ exited }) => exited));
    }
  }
  await Promise.all(all.map(({ exited }) => exited));
  if (!all.some(({ output }) => output.startsWith("open")))
    broken.push("no process could open the store");
  const opened = createFileStore({ directory: store });
  try {
    await opened.start();
    for (const { output, name } of all) {
      const last = new Map<string, number>();
      for (const line of output.split("\n").slice(1, -1)) {
        const [key, revision] = line.split(" ");
        last.set(key!, Number(revision));
      }
      for (const [key, revision] of last) {
        const found = await opened.get(key);
        if (!found || found.revision < revision)
          broken.push(`${key} at ${revision} of ${name} is lost`);
      }
    }
    await opened.stop();
  } catch (error) {
    broken.push(`the store does not open in the end: ${String(error)}`);
  }
  return { faults: faults.counts, broken };
}

/** Resolves when one of them has reported so many writes, or when none did for long. */
async function acknowledged(
  starters: ReadonlySet<Starter>,
  writes: number,
): Promise<void> {
  const untilMs = performance.now() + 20_000;
  while (
    performance.now() < untilMs &&
    ![...starters].some(({ output }) => output.split("\n").length > writes)
  )
    await new Promise((resolve) => setTimeout(resolve, 5));
}
