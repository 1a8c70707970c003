// The shelves of a local store's values hold what a map of all of them would, and find a resource without reading others.
import { LiveValues } from "../../../storage/local/live-values.ts";
import { LiveVersion } from "../../../storage/local/live-version.ts";

const version = (key: string, revision: number): LiveVersion =>
  new LiveVersion(key, Buffer.from(String(revision)), revision, 0);

const parts = ["registry", "pods", "a.example.com", "b", "c", "widgets", "x.y"];
const resources = [
  "",
  "/",
  "/registry",
  "/registry/",
  "/registry/p",
  "/registry/pods/",
  "/registry/pods/b/",
  "/registry/a.example.com/",
  "/registry/a.example.com/widgets",
  "/registry/a.example.com/widgets/",
  "/registry/a.example.com/widgets/b/",
  "/none/",
];

test("the same as one map, whatever comes and goes", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const values = new LiveValues();
  const model = new Map<string, number>();
  for (let revision = 1; revision < 6000; revision++) {
    const length = random(6);
    let key = random(9) === 0 ? "" : "/registry";
    for (let part = 0; part < length; part++)
      key += `/${parts[random(parts.length)]}`;
    if (random(5) === 0) key += "/";
    // Times with much, and times with nearly nothing.
    if (random(1000) > 500 + (revision % 2000 > 1000 ? -400 : 400)) {
      values.delete(key);
      model.delete(key);
    } else {
      values.set(key, version(key, revision));
      model.set(key, revision);
    }
    expect(values.size).toBe(model.size);
    expect(values.get(key)?.revision).toBe(model.get(key));
    if (revision % 50 > 0) continue;
    for (const prefix of resources)
      expect(
        values.withPrefix(prefix).map((one) => [one.key, one.revision]),
      ).toEqual(
        [...model]
          .filter(([one]) => one.startsWith(prefix))
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    expect(new Set([...values.values()].map((one) => one.key))).toEqual(
      new Set(model.keys()),
    );
  }
  values.clear();
  expect([values.size, values.withPrefix("").length]).toEqual([0, 0]);
  expect(values.get("/registry/pods/b")).toBeUndefined();
});

test("an iteration sees what is there all the time, while others come and go", () => {
  const values = new LiveValues();
  const put = (key: string): void => values.set(key, version(key, 1));
  for (const name of ["a", "b"]) put(`/registry/pods/n/${name}`);
  put("/registry/a.example.com/widgets/n/a");
  put("/registry/nodes/a");
  const seen: string[] = [];
  for (const { key } of values.values()) {
    seen.push(key);
    if (seen.length > 1) continue;
    values.delete("/registry/pods/n/a");
    values.delete("/registry/pods/n/b");
    put("/registry/pods/n/c");
    values.delete("/registry/nodes/a");
    put("/registry/nodes/b");
  }
  expect(seen).toEqual([
    "/registry/pods/n/a",
    "/registry/a.example.com/widgets/n/a",
    "/registry/pods/n/c",
    "/registry/nodes/b",
  ]);
});

test("finding a resource does not read the others", () => {
  const values = new LiveValues();
  let reads = 0;
  const watched = (key: string) => ({
    value: Buffer.alloc(0),
    revision: 1,
    expiresAtMs: 0,
    get key() {
      reads++;
      return key;
    },
  });
  for (let index = 0; index < 1000; index++) {
    const key = `/registry/configmaps/n/${index}`;
    values.set(key, watched(key));
    const other = `/registry/example.com/others/n/${index}`;
    values.set(other, watched(other));
  }
  values.set("/registry/example.com/widgets/n/a", watched("widget"));
  expect(values.withPrefix("/registry/example.com/widgets/").length).toBe(1);
  expect(values.withPrefix("/registry/example.com/things/").length).toBe(0);
  expect(reads).toBe(0);
});
