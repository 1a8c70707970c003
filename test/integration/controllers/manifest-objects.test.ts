// Custom resources in the manifests directory: a definition and its objects, in one file and in any order.
import { pino } from "pino";
import { startCluster, type Cluster } from "../../../index.ts";
import { systemClock } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { ManifestObjects } from "../../../controllers/manifests/manifest-objects.ts";
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const definition = crd();
const object = cronTab("from-file", { spec: { cron: "* * *" } });
const objectPath = `${cronTabs}/from-file`;
const definitionPath = `${definitions}/${definition.metadata.name}`;

let cluster: Cluster;
const running: ManifestObjects[] = [];
beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
afterAll(() => cluster.stop());

function startManifests(dataDirectory = directory()) {
  const problems: string[] = [];
  const objects = new ManifestObjects({
    client: cluster.client,
    dataDirectory,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    onProblem: (_, message) => problems.push(message),
  });
  running.push(objects);
  return {
    problems,
    dataDirectory,
    objects,
    set: (...list: AnyObject[]) =>
      objects.set(new Map(list.length > 0 ? [["all.yaml", list]] : [])),
  };
}

const found = (path: string): Promise<boolean> =>
  cluster.client.raw("GET", path).then(
    () => true,
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      return false;
    },
  );
const until = (path: string, there: boolean): Promise<unknown> =>
  eventually(async () => (await found(path)) === there, {
    what: `${path} to be ${there ? "there" : "gone"}`,
  });

test.each([
  ["before", [definition, object]],
  ["after", [object, definition]],
])(
  "a definition %s its object is served, and both are pruned with the file",
  async (_, list) => {
    const { set, problems } = startManifests();
    set(...list);
    await until(objectPath, true);
    set();
    await until(definitionPath, false);
    expect(await found(objectPath)).toBe(false);
    expect(problems).toEqual([]);
  },
);

test("an object without its definition is reported, and applied when the definition comes", async () => {
  const { set, problems } = startManifests();
  set(object);
  await eventually(() => problems.length > 0);
  expect(problems).toEqual([
    expect.stringMatching(/^all.yaml: CronTab from-file could not be applied/),
  ]);
  set(object, definition);
  await until(objectPath, true);
  set(definition);
  await until(objectPath, false);
  expect(await found(definitionPath)).toBe(true);
  set();
  await until(definitionPath, false);
  expect(problems).toHaveLength(1);
});

test("what another took away meanwhile is pruned too, also of a file removed while nobody looked", async () => {
  const other = crd({ plural: "others", kind: "Other" });
  const first = startManifests();
  first.set(definition, object, other);
  await until(objectPath, true);
  await until(`${definitions}/${other.metadata.name}`, true);
  await first.objects.stop();
  // Its group and version stay, its kind does not.
  await cluster.client.raw("DELETE", definitionPath);
  await until(definitionPath, false);
  const second = startManifests(first.dataDirectory);
  second.set();
  await until(`${definitions}/${other.metadata.name}`, false);
  const third = startManifests(first.dataDirectory);
  third.set(definition);
  await until(definitionPath, true);
  third.set();
  await until(definitionPath, false);
});

test("of very many that can't be applied the first are reported, and others are served meanwhile", async () => {
  const { set, problems } = startManifests();
  const namespaced = (name: string, namespace: string): AnyObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
  });
  let turns = 0;
  const turn = setInterval(() => turns++, 1);
  try {
    set(
      ...Array.from({ length: 1500 }, (_, n) => namespaced(`m${n}`, "absent")),
      namespaced("last", "default"),
    );
    await until("/api/v1/namespaces/default/configmaps/last", true);
  } finally {
    clearInterval(turn);
  }
  expect(turns).toBeGreaterThan(10);
  expect(problems).toHaveLength(20);
});
