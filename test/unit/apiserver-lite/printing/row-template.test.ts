// A filled template says what the row says, for every kind and at every moment.
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import type { AnyObject } from "../../../../api/object.ts";
import {
  fillTemplate,
  rowTemplate,
} from "../../../../apiserver-lite/printing/row-template.ts";
import { printerOf } from "../../../../apiserver-lite/printing/table.ts";
import { createStrategies } from "../../../../apiserver-lite/resources/index.ts";

const strategyFor = createStrategies();

const created = Date.parse("2025-01-01T00:00:00Z");
const moments = [
  0,
  59,
  119,
  121,
  3_600,
  86_400 * 9,
  86_400 * 4000,
  -1,
  -90,
].map((seconds) => created + seconds * 1000);

type Strategy = Parameters<typeof printerOf>[1];
const printer = (strategy: Strategy) =>
  printerOf({ group: "", kind: "" }, strategy);

function filled(strategy: Strategy, object: AnyObject, now: number): string {
  const template = rowTemplate(printer(strategy), object);
  const out = Buffer.alloc(template.length);
  return out.toString("utf8", 0, fillTemplate(template, now, out, 0));
}

const expected = (strategy: Strategy, object: AnyObject, now: number): string =>
  `{"cells":${JSON.stringify(printer(strategy).cells(object, now))},"object":`;

const terminated = {
  name: "c",
  ready: true,
  restartCount: 3,
  state: { running: {} },
  lastState: { terminated: { finishedAt: "2025-01-01T00:00:10Z" } },
};
const sample = {
  metadata: {
    name: "ä-\u2028",
    namespace: "n",
    creationTimestamp: "2025-01-01T00:00:00Z",
  },
  spec: { containers: [{ name: "c" }], source: {}, attacher: "a" },
  status: {
    startTime: "2025-01-01T00:00:05Z",
    lastScheduleTime: "2025-01-01T00:00:30Z",
    containerStatuses: [terminated],
    phase: "Running",
  },
  firstTimestamp: "2025-01-01T00:00:00Z",
  lastTimestamp: "2025-01-01T00:00:20Z",
  message: "it happened\n",
  involvedObject: { kind: "Pod", name: "p" },
  roleRef: { kind: "Role", name: "r" },
  addressType: "IPv4",
  provisioner: "p",
  handler: "h",
  revision: 1,
  value: 1,
} as unknown as AnyObject;

const catalogue = builtinCatalogue();
const kinds = catalogue
  .groupVersions()
  .flatMap(({ group, version }) => catalogue.resources(group, version))
  .filter(({ etcdPrefix }) => etcdPrefix)
  .map(
    ({ group, resource }) => [`${resource}.${group}`, group, resource] as const,
  );

test.each(kinds)("%s", (_name, group, resource) => {
  const strategy = strategyFor(group, resource) ?? {};
  for (const now of moments)
    expect(filled(strategy, sample, now)).toBe(expected(strategy, sample, now));
});

test("text that looks like a place for an age harms only itself", () => {
  const strategy = {
    printRow: () => ["\0\x01\0", "\\u0000\\u0001123\\u0000", "\0x\0", 'a"b'],
  };
  expect(filled(strategy, sample, created)).toBe(
    expected(strategy, sample, created),
  );
  const forged = { printRow: () => ["\0\x019999999999999999\0", "next"] };
  expect(JSON.parse(`${filled(forged, sample, created)}null}`)).toMatchObject({
    cells: [expect.any(String), "next"],
  });
});

test("times that are none", () => {
  const broken = {
    ...sample,
    metadata: { name: "x", creationTimestamp: "never" },
  };
  const strategy = strategyFor("", "configmaps")!;
  expect(filled(strategy, broken, created)).toBe(
    expected(strategy, broken, created),
  );
});
