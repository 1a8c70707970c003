// Every kind's row has the columns of facts.
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import columnFacts from "../../../../api/facts/table-columns.json";
import type { AnyObject } from "../../../../api/object.ts";
import {
  cellsOf,
  columnsOf,
} from "../../../../apiserver-lite/printing/table.ts";
import { createStrategies } from "../../../../apiserver-lite/resources/index.ts";

const strategyFor = createStrategies();

const catalogue = builtinCatalogue();
const infos = catalogue
  .groupVersions()
  .flatMap(({ group, version }) => catalogue.resources(group, version))
  .filter(
    (info) =>
      info.etcdPrefix && strategyFor(info.group, info.resource)?.printRow,
  );

const sample = {
  metadata: {
    name: "x",
    namespace: "n",
    creationTimestamp: "2025-01-01T00:00:00Z",
  },
  spec: { containers: [], source: {}, attacher: "a", nodeName: "n" },
  status: {},
  roleRef: { kind: "Role", name: "r" },
  addressType: "IPv4",
  provisioner: "p",
  handler: "h",
  revision: 1,
  value: 1,
} as unknown as AnyObject;

test("many kinds print", () => expect(infos.length).toBeGreaterThan(40));

test.each(infos.map((info) => [`${info.kind}.${info.group}`, info] as const))(
  "%s",
  (key, info) => {
    const strategy = strategyFor(info.group, info.resource)!;
    const columns = columnsOf(info, strategy);
    expect(columns).toHaveLength(
      (columnFacts as unknown as Record<string, unknown[]>)[key]!.length,
    );
    const cells = cellsOf(strategy, sample, Date.parse("2025-01-01T00:01:00Z"));
    expect(cells).toHaveLength(columns.length);
    for (const [index, { name, type }] of columns.entries()) {
      // The reference puts numbers and booleans into some columns it declares as strings.
      const allowed =
        type === "integer" ? ["number"] : ["string", "number", "boolean"];
      expect([name, allowed.includes(typeof cells[index])]).toEqual([
        name,
        true,
      ]);
    }
  },
);
