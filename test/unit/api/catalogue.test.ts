// Versions that come while the server runs have their place among those of their group.
import { Catalogue, type ResourceInfo } from "../../../api/catalogue.ts";

const infoOf = (group: string, version: string): ResourceInfo => ({
  ...{ group, version, resource: "things", kind: "Thing", singular: "thing" },
  custom: true,
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
});
const shown = (catalogue: Catalogue): string[] =>
  catalogue.groupVersions().map(({ group, version }) => `${group}/${version}`);

test("versions are ordered, whenever they come", () => {
  const catalogue = new Catalogue();
  const add = (group: string, ...versions: string[]): void =>
    catalogue.addVersionsOf(versions.map((version) => infoOf(group, version)));
  add("a", "v1alpha1", "v2", "v1", "foo");
  add("b", "v1");
  expect(shown(catalogue)).toEqual([
    ...["a/v2", "a/v1", "a/v1alpha1", "a/foo"],
    "b/v1",
  ]);
  add("a", "v1beta1", "v1", "v3", "v10");
  expect(shown(catalogue)).toEqual([
    ...["a/v10", "a/v3", "a/v2", "a/v1", "a/v1beta1", "a/v1alpha1", "a/foo"],
    "b/v1",
  ]);
  const [first] = catalogue.groupVersions();
  expect(first).toEqual({
    ...{ group: "a", version: "v10", stability: "GA", custom: true },
    enabledByDefault: true,
    preferred: false,
  });
});

test("thousands of them are there at once", () => {
  const catalogue = new Catalogue();
  const versions = Array.from({ length: 5000 }, (_, index) => `v${index + 1}`);
  catalogue.addVersionsOf(versions.map((version) => infoOf("a", version)));
  expect(shown(catalogue)).toEqual(
    versions.map((version) => `a/${version}`).reverse(),
  );
});
