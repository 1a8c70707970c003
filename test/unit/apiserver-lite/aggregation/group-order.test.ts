// Groups and versions in discovery's order; the reference's priorities of built-in ones give the catalogue's order.
import { orderedGroups } from "../../../../apiserver-lite/aggregation/group-order.ts";
import {
  builtinPriorities,
  otherPriorities,
} from "../../../../apiserver-lite/aggregation/group-priorities.ts";
import { builtinGroupVersions } from "../../../../api/catalogue.ts";

const one = (
  group: string,
  version: string,
  groupPriority: number,
  versionPriority = 100,
) => ({ group, version, groupPriority, versionPriority });

function shown(all: ReturnType<typeof one>[]): string[] {
  return orderedGroups(all).map(
    ({ name, versions }) =>
      `${name}: ${versions.map(({ version }) => version).join(" ")}`,
  );
}

test("groups follow by priority, then name; versions by priority, then form", () => {
  expect(
    shown([
      one("b.test", "v1beta1", 1000),
      one("z.test", "v1", 5000),
      one("b.test", "v2", 1000),
      one("b.test", "v10", 1000),
      one("a.test", "v1alpha1", 1000, 200),
      one("a.test", "v1", 1000),
    ]),
  ).toEqual(["z.test: v1", "a.test: v1alpha1 v1", "b.test: v10 v2 v1beta1"]);
});

test("the highest version's priority is the group's", () => {
  expect(
    shown([
      one("a.test", "v1", 10),
      one("b.test", "v1", 20),
      one("a.test", "v2", 30),
    ]),
  ).toEqual(["a.test: v2 v1", "b.test: v1"]);
});

test("every built-in group version has priorities, and no other", () => {
  for (const { group, version } of builtinGroupVersions)
    expect([group, version, builtinPriorities(group, version)]).toEqual([
      group,
      version,
      group === "apiregistration.k8s.io"
        ? undefined
        : [expect.any(Number), expect.any(Number)],
    ]);
  for (const name of ["toString", "constructor", "custom.test", "app"])
    expect(builtinPriorities(name, "v1")).toBeUndefined();
  expect(otherPriorities("custom.test")).toEqual([1000, 100]);
});
