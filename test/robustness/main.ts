// `node tools/robustness.mjs --pods KILLS [--seed S]`: a real server with containerd is killed so often while pods come and
// go (pods/churn.ts). `node tools/robustness.mjs --rounds N [--seed S]`: rounds with the seeds S, S + 1 …; prints the rounds, the faults by
// kind and what broke, with the seed that makes the round again (`--rounds 1 --seed THAT`). Exit code 1 when any broke.
import * as path from "node:path";
import { parseArgs } from "node:util";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { startOrbit } from "../support/start-orbit.ts";
import { churnPods } from "./pods/churn.ts";
import { Random } from "./random.ts";
import { Runner } from "./runner.ts";

function whole(text: string | undefined, name: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text ?? "") || !Number.isSafeInteger(value))
    throw new Error(`--${name} must be a whole number`);
  return value;
}

/** The bundled program lies in a directory below the project's root. */
const root = path.dirname(path.dirname(process.argv[1]!));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      pods: { type: "string" },
      rounds: { type: "string", default: "100" },
      seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    },
  });
  const rounds = whole(values.rounds, "rounds");
  const seed = whole(values.seed, "seed");
  if (values.pods !== undefined)
    return await killedWhilePodsChurn(whole(values.pods, "pods"), seed);
  const startedMs = performance.now();
  const runner = new Runner(root);
  const { run } = runner;
  // A rejection that nobody handles is a defect of what is tested.
  const stray: string[] = [];
  process.on("unhandledRejection", (reason) => stray.push(String(reason)));
  try {
    for (let round = 0; round < rounds; round++) {
      const at = seed + round;
      const { broken } = await runner.round(at);
      for (const what of [...broken, ...stray.splice(0)])
        console.log(`seed ${at}: ${what}`);
    }
  } finally {
    runner.close();
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  const sorted = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `  ${String(count).padStart(7)} ${name}\n`)
      .join("");
  console.log(
    `${run.rounds} rounds in ${seconds} s, seeds ${seed} to ${seed + rounds - 1}\n${sorted(run.kinds)}faults\n${sorted(run.faults)}broken: ${run.broken.length}`,
  );
  if (run.broken.length === 0) return 0;
  console.log(
    `again: node tools/robustness.mjs --rounds 1 --seed ${run.broken[0]!.seed}`,
  );
  return 1;
}

async function killedWhilePodsChurn(
  kills: number,
  seed: number,
): Promise<number> {
  const tar = await busyboxImageTar();
  let orbit = await startOrbit({ readyTimeoutMs: 60_000 });
  try {
    const { directory } = orbit;
    await orbit.orbit(["image", "load", `--data-dir=${directory}/data`, tar]);
    const result = await churnPods(orbit, {
      kills,
      random: new Random(seed),
      onKill: (count) => {
        if (count % 10 === 0) console.log(`${count} kills`);
      },
    });
    orbit = result.orbit;
    console.log(
      `seed ${seed}: ${kills} kills, ${result.pods} pods\n${result.broken.join("\n")}`,
    );
    return result.broken.length === 0 ? 0 : 1;
  } finally {
    await orbit.clean();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
