// What is done with an object by the states of its owners, and the graph that says whom to look at.
import type { KubeObject } from "../../../api/object.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import { planCollection } from "../../../controllers/garbage-collector/collection-plan.ts";
import type { OwnerState } from "../../../controllers/garbage-collector/collection-plan.ts";
import { OwnerGraph } from "../../../controllers/garbage-collector/graph.ts";
import { randomNumbers } from "../../support/random-numbers.ts";

const owner = (uid: string, block = false): OwnerReference => ({
  apiVersion: "v1",
  kind: "Thing",
  name: `n${uid}`,
  uid,
  ...(block ? { blockOwnerDeletion: true } : {}),
});
const pods = {
  group: "",
  version: "v1",
  resource: "things",
  kind: "Thing",
  namespaced: true,
};
const object = (
  uid: string,
  owners: OwnerReference[] = [],
  more: Partial<KubeObject["metadata"]> = {},
): KubeObject => ({
  metadata: {
    name: `n${uid}`,
    namespace: "ns",
    uid,
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
    ...more,
  },
});

const none = { any: false, waiting: false };
test.each<
  [string, OwnerState[], Parameters<typeof planCollection>[2], string[], object]
>([
  ["without owners it stays", [], none, [], { action: "keep" }],
  ["with a solid one it stays", ["solid"], none, [], { action: "keep" }],
  [
    "and loses those that are gone or going",
    ["dangling", "solid", "waiting"],
    none,
    [],
    { action: "drop-owners", owners: [owner("0"), owner("2")] },
  ],
  [
    "with none left it goes",
    ["dangling", "dangling"],
    none,
    [],
    { action: "delete", policy: "Background" },
  ],
  [
    "as its finalizers say",
    ["dangling"],
    none,
    ["foregroundDeletion"],
    { action: "delete", policy: "Foreground" },
  ],
  [
    "orphaning goes before",
    ["dangling"],
    none,
    ["foregroundDeletion", "orphan"],
    { action: "delete", policy: "Orphan" },
  ],
  [
    "its own dependents first, when an owner waits",
    ["waiting", "dangling"],
    { any: true, waiting: false },
    [],
    { action: "delete", policy: "Foreground", unblockOwners: false },
  ],
  [
    "letting go of its owners, when a dependent waits as well",
    ["waiting"],
    { any: true, waiting: true },
    [],
    { action: "delete", policy: "Foreground", unblockOwners: true },
  ],
  [
    "at once, when it has no dependents",
    ["waiting"],
    none,
    [],
    { action: "delete", policy: "Background", unblockOwners: false },
  ],
])("%s", (_, states, dependents, finalizers, expected) => {
  const plan = planCollection(
    object("x", [], { finalizers }),
    states.map((state, index) => [owner(String(index)), state] as const),
    dependents,
  );
  expect(plan).toMatchObject(expected);
});

describe("the graph", () => {
  const setUp = () => {
    const examined: string[] = [];
    const orphaned: string[] = [];
    const graph = new OwnerGraph({
      examine: ({ uid }) => examined.push(uid),
      orphan: ({ uid }) => orphaned.push(uid),
    });
    const take = (): string[] => examined.splice(0);
    return { graph, take, orphaned };
  };

  test("an owner that is not known is looked for", () => {
    const { graph, take } = setUp();
    graph.observe(pods, object("2", [owner("1")]));
    expect(take()).toEqual(["1"]);
    expect(graph.get("1")).toMatchObject({ virtual: true, name: "n1" });
    graph.observe(pods, object("1"));
    expect(take()).toEqual([]);
    expect(graph.get("1")).toMatchObject({ virtual: false });
  });

  test("the dependents of what is gone are looked at", () => {
    const { graph, take } = setUp();
    graph.observe(pods, object("1"));
    graph.observe(pods, object("2", [owner("1")]));
    graph.observe(pods, object("3", [owner("1")]));
    graph.remove("1");
    expect(take()).toEqual(["2", "3"]);
  });

  test("an owner that waits is looked at when a dependent goes or lets go", () => {
    const { graph, take } = setUp();
    const deleted = {
      deletionTimestamp: "2025-01-01T12:00:00Z",
      finalizers: ["foregroundDeletion"],
    };
    for (const uid of ["2", "3"])
      graph.observe(pods, object(uid, [owner("1", true)]));
    take();
    graph.observe(pods, object("1", [], deleted));
    expect(take()).toEqual(["2", "3", "1"]);
    graph.observe(pods, object("2", [owner("1")]));
    expect(take()).toEqual(["1"]);
    graph.remove("3");
    expect(take()).toEqual(["1"]);
  });

  test("what was not seen in a resource's other version is looked for there", () => {
    const { graph, take } = setUp();
    const other = { ...pods, version: "v2" };
    graph.observe(pods, object("1"));
    graph.observe(pods, object("2"));
    graph.observe(other, object("1"));
    graph.move(pods, other);
    expect(take()).toEqual(["2"]);
    expect(graph.get("2")).toMatchObject({ ref: { version: "v2" } });
  });

  test("one that orphans its dependents says so", () => {
    const { graph, orphaned } = setUp();
    graph.observe(
      pods,
      object("1", [], {
        deletionTimestamp: "2025-01-01T12:00:00Z",
        finalizers: ["orphan"],
      }),
    );
    expect(orphaned).toEqual(["1"]);
  });

  test("one that a wrong name stood for is replaced, and who named it looked at", () => {
    const { graph, take } = setUp();
    graph.observe(pods, object("2", [{ ...owner("1"), name: "wrong" }]));
    take();
    graph.observe(pods, object("1"));
    expect(take()).toEqual(["2"]);
    expect(graph.get("1")!.dependents.size).toBe(1);
  });

  test("keeps its invariants whatever comes and goes", () => {
    const random = randomNumbers(5);
    const below = (bound: number): number => Math.floor(random() * bound);
    const { graph } = setUp();
    const present = new Map<string, string[]>();
    for (let step = 0; step < 300; step++) {
      const uid = String(below(10));
      if (below(3) === 0) {
        graph.remove(uid);
        present.delete(uid);
      } else {
        const owners = Array.from({ length: below(3) }, () =>
          String(below(10)),
        ).filter((other, at, all) => all.indexOf(other) === at);
        graph.observe(
          pods,
          object(
            uid,
            owners.map((other) => owner(other)),
          ),
        );
        present.set(uid, owners);
      }
      // Each object that is there is among the dependents of exactly those of its owners that are known.
      for (const [dependent, owners] of present) {
        expect(graph.get(dependent)).toMatchObject({ virtual: false });
        for (let other = 0; other < 10; other++) {
          const known = graph.get(String(other));
          const isDependent = [...(known?.dependents ?? [])].some(
            (node) => node.uid === dependent,
          );
          if (isDependent) expect(owners).toContain(String(other));
        }
      }
      const virtual = Array.from({ length: 10 }, (_, other) =>
        graph.get(String(other)),
      ).filter((node) => node?.virtual);
      for (const node of virtual)
        expect(node!.dependents.size).toBeGreaterThan(0);
    }
  });
});
