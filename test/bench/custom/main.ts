// Measures custom resources beside built-in kinds of their size (`pairs.ts`), what rules cost (`rules.ts`), then how soon a new definition is served and
// published (`publication.ts`).
// `node tools/bench.mjs custom --kubeconfig F --pids PID`; DEFINITIONS=500 and DEFINITION_GROUPS=50 in the environment for the
// definitions that are there beside the new ones, `--only definitions` for nothing else.
import { Connection } from "../support/connection.ts";
import { benchOptions } from "../support/options.ts";
import { printRows, type Row } from "../support/statistics.ts";
import { make } from "./definition.ts";
import { pairRows } from "./pairs.ts";
import { publicationRows } from "./publication.ts";
import { ruleRows } from "./rules.ts";

const options = benchOptions(process.argv.slice(2));
const namespace = `bench-${process.pid}`;

async function main(): Promise<void> {
  const connections = Array.from(
    { length: 8 },
    () => new Connection(options.target),
  );
  const [setup] = connections as [Connection];
  await make(
    setup,
    "/api/v1/namespaces",
    JSON.stringify({ metadata: { name: namespace } }),
  );
  await make(
    setup,
    `/api/v1/namespaces/${namespace}/serviceaccounts`,
    JSON.stringify({ metadata: { name: "default" } }),
  );
  const rows: Row[] = await pairRows(setup, options, namespace);
  if (options.only.test("rules"))
    rows.push(...(await ruleRows(setup, options, namespace)));
  if (options.only.test("definitions"))
    rows.push(...(await publicationRows(connections, options.pids)));
  printRows(rows);
  for (const connection of connections) connection.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
