// Every kind's row has the columns of facts.
import fc from "fast-check";
import { builtinCatalogue } from "../../../../api/catalogue.ts";
import columnFacts from "../../../../api/facts/table-columns.json";
import type { AnyObject } from "../../../../api/object.ts";
import {
  cellsOf,
  columnsOf,
  printerOf,
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

const now = Date.parse("2025-01-02T00:00:00Z");
const started = "2025-01-01T00:00:00Z";
const state = fc.oneof(
  fc.record({ running: fc.constant({ startedAt: started }) }),
  fc.record({
    waiting: fc.record({ reason: fc.constantFrom("", "ErrImagePull") }),
  }),
  fc.record({
    terminated: fc.record(
      {
        exitCode: fc.constantFrom(0, 1),
        signal: fc.constantFrom(0, 9),
        reason: fc.constantFrom("", "Error", "Completed"),
        finishedAt: fc.constant(started),
      },
      { requiredKeys: ["exitCode"] },
    ),
  }),
);
const container = fc.record(
  {
    name: fc.constantFrom("a", "b"),
    image: fc.constant("i"),
    restartPolicy: fc.constant("Always"),
    env: fc.constant([{ name: "X", value: "y" }]),
  },
  { requiredKeys: ["name"] },
);
const containerStatus = fc.record(
  {
    name: fc.constantFrom("a", "b"),
    restartCount: fc.nat(3),
    ready: fc.boolean(),
    started: fc.boolean(),
    state,
    lastState: state,
  },
  { requiredKeys: ["name", "restartCount", "ready"] },
);
const condition = fc.record({
  type: fc.constantFrom("Ready", "Initialized", "PodScheduled", "gate"),
  status: fc.constantFrom("True", "False"),
  reason: fc.constantFrom("SchedulingGated", "x"),
});
const podTree = fc.record({
  kind: fc.constant("Pod"),
  metadata: fc.record(
    {
      name: fc.constant("p"),
      creationTimestamp: fc.constant(started),
      deletionTimestamp: fc.constant(started),
      labels: fc.constant({ a: "b" }),
    },
    { requiredKeys: ["name"] },
  ),
  spec: fc.record(
    {
      containers: fc.array(container, { minLength: 1, maxLength: 2 }),
      initContainers: fc.array(container, { maxLength: 2 }),
      nodeName: fc.constant("n"),
      readinessGates: fc.constant([{ conditionType: "gate" }]),
    },
    { requiredKeys: ["containers"] },
  ),
  status: fc.record(
    {
      phase: fc.constantFrom("Pending", "Running", "Succeeded", "Failed"),
      reason: fc.constantFrom("NodeLost", "Evicted"),
      conditions: fc.array(condition, { maxLength: 3 }),
      containerStatuses: fc.array(containerStatus, { maxLength: 2 }),
      initContainerStatuses: fc.array(containerStatus, { maxLength: 2 }),
      nominatedNodeName: fc.constant("m"),
      podIP: fc.constant("10.0.0.1"),
      podIPs: fc.constant([{ ip: "10.0.0.2" }]),
    },
    { requiredKeys: [] },
  ),
});

test("a pod's row reads no more than it asks for", () => {
  const printer = printerOf(
    { group: "", kind: "Pod" },
    strategyFor("", "pods")!,
  );
  fc.assert(
    fc.property(podTree, (pod) => {
      const json = Buffer.from(JSON.stringify(pod));
      const projected = printer.projection!.read(json) as AnyObject;
      expect(printer.cells(projected, now)).toEqual(
        printer.cells(pod as unknown as AnyObject, now),
      );
    }),
    { numRuns: 300, seed: 20261123 },
  );
});
