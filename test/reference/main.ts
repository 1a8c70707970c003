// `node tools/reference.mjs diff|record|show …`: plays scenarios against servers (see test/reference/README.md).
//   show   SERVER [NAME…]            what a server answers
//   record SERVER [NAME…]            keeps what the reference answers in recorded/
//   diff   REFERENCE SERVER [NAME…]  where two servers differ; with `-` for REFERENCE, from the recordings
// SERVER is URL=TOKEN. Each scenario wants a server that has not seen it before.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { differences } from "./differences.ts";
import { play, type Recording, type Target } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

const recorded = join("test", "reference", "recorded");

function parseTarget(text: string | undefined): Target {
  const [, url, token] = /^(.*?)=(.*)$/.exec(text ?? "") ?? [];
  if (!url || !token) throw new Error("a server is given as URL=TOKEN");
  return { url, token };
}

function format(recording: Recording): string {
  const steps = Object.entries(recording).map(
    ([label, shown]) => `${JSON.stringify(label)}: ${JSON.stringify(shown)}`,
  );
  return `{\n${steps.join(",\n")}\n}\n`;
}

async function main([verb, ...args]: string[]): Promise<void> {
  const servers = args.splice(0, verb === "diff" ? 2 : 1);
  const chosen = scenarios.filter(
    ({ name }) => args.length === 0 || args.includes(name),
  );
  let failed = 0;
  for (const scenario of chosen) {
    const file = join(recorded, `${scenario.name}.json`);
    if (verb === "record")
      writeFileSync(
        file,
        format(await play(scenario, parseTarget(servers[0]))),
      );
    else if (verb === "show")
      console.log(format(await play(scenario, parseTarget(servers[0]))));
    else if (verb === "diff") {
      if (servers[0] === "-" && !existsSync(file)) continue;
      const expected =
        servers[0] === "-"
          ? (JSON.parse(readFileSync(file, "utf8")) as Recording)
          : await play(scenario, parseTarget(servers[0]));
      const lines = differences(
        expected,
        await play(scenario, parseTarget(servers[1])),
      );
      failed += lines.length;
      console.log(`${scenario.name}: ${lines.length} differences`);
      for (const line of lines) console.log(`  ${line}`);
    } else throw new Error("diff, record or show");
  }
  if (failed > 0) process.exitCode = 1;
}

void main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 2;
});
