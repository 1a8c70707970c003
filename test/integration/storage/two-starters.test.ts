// One process a directory: of two that start at the same moment exactly one gets it, also after a kill, also from another
// PID namespace (needs root).
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import * as readline from "node:readline";
import { bundleProgram } from "../../support/bundle-program.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const rounds = Number(process.env["ORBIT_LOCK_ROUNDS"] ?? 20);
let program: string;
const running = new Set<Starter>();

beforeAll(async () => {
  program = path.join(tempDirectory(), "starter.cjs");
  await bundleProgram(path.join(__dirname, "starter.ts"), program);
});
afterEach(async () => {
  for (const starter of [...running]) await starter.kill();
});

/** A process that starts and stops a store when it is asked to. */
class Starter {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(directory: string, wrapper: readonly string[] = []) {
    const words = [...wrapper, process.execPath, program, directory];
    const [command, args] = [words[0]!, words.slice(1)];
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = readline.createInterface({ input: this.#child.stdout! });
    this.#lines = lines[Symbol.asyncIterator]();
    running.add(this);
  }

  async ask(what: "start" | "stop" | "write"): Promise<string> {
    this.#child.stdin!.write(`${what}\n`);
    const { value } = (await this.#lines.next()) as { value: string };
    return value;
  }

  async kill(): Promise<void> {
    running.delete(this);
    const ended = once(this.#child, "exit");
    if (this.#child.kill("SIGKILL")) await ended;
  }
}

it(`lets one of two in, ${rounds} times, after stops and kills`, async () => {
  const directory = path.join(tempDirectory(), "store");
  let pair = [new Starter(directory), new Starter(directory)];
  let written = 0;
  for (let round = 0; round < 2 * rounds; round++) {
    const answers = await Promise.all(pair.map((each) => each.ask("start")));
    expect([...answers].sort()).toEqual(["locked", "started"]);
    const [winner, loser] =
      answers[0] === "started" ? [pair[0]!, pair[1]!] : [pair[1]!, pair[0]!];
    // Whoever was before has lost nothing to this one.
    expect(await winner.ask("write")).toBe(`${++written}`);
    if (round % 2 === 0) {
      expect(await winner.ask("stop")).toBe("stopped");
      continue;
    }
    await winner.kill();
    pair = [loser, new Starter(directory)];
  }
});

it("is held against other PID namespaces", async () => {
  const directory = path.join(tempDirectory(), "store");
  const inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const holder = new Starter(directory, inside);
  const other = new Starter(directory);
  expect(await holder.ask("start")).toBe("started");
  expect(await other.ask("start")).toBe("locked");
  expect(await holder.ask("stop")).toBe("stopped");
  expect(await other.ask("start")).toBe("started");
  expect(await holder.ask("start")).toBe("locked");
});
