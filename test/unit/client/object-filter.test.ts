import { objectFilter } from "../../../client/object-filter.ts";
import type { Pod } from "../../../api/types/core-v1.ts";

const pod = {
  metadata: { name: "a", namespace: "ns", labels: { app: "web" } },
  spec: { nodeName: "n1", containers: [], hostNetwork: true },
} as Pod;

test.each<[Parameters<typeof objectFilter>[0], boolean]>([
  [{}, true],
  [{ namespace: "ns" }, true],
  [{ namespace: "other" }, false],
  [{ labelSelector: "app=web" }, true],
  [{ labelSelector: "app!=web" }, false],
  [{ fieldSelector: "spec.nodeName=n1" }, true],
  [{ fieldSelector: "spec.nodeName=n2" }, false],
  [{ fieldSelector: "spec.nodeName!=n1" }, false],
  [{ fieldSelector: "spec.nodeName!=" }, true],
  [{ fieldSelector: "spec.hostNetwork=true" }, true],
  // What is absent is "", at any depth.
  [{ fieldSelector: "status.phase=" }, true],
  [{ fieldSelector: "status.phase!=Failed" }, true],
  [{ fieldSelector: "metadata.name.first=" }, true],
  // Only the object's own fields count.
  [{ fieldSelector: "spec.constructor=" }, true],
  [{ fieldSelector: "spec.nodeName=n1,metadata.name!=a" }, false],
  [
    {
      namespace: "ns",
      labelSelector: "app",
      fieldSelector: "spec.nodeName=n1",
    },
    true,
  ],
])("%j", (options, expected) =>
  expect(objectFilter<Pod>(options)(pod)).toBe(expected),
);

test("a bad selector is refused when the filter is made", () => {
  expect(() => objectFilter({ fieldSelector: "spec.nodeName" })).toThrow(
    /invalid selector/,
  );
  expect(() => objectFilter({ labelSelector: "a in (" })).toThrow();
});
