// Nodes by their labels, also where a label has a name that every object has, or a value that is nearly a number.
import { matchesNodeAffinity } from "../../../../api/objects/node-affinity.ts";
import type {
  Node,
  NodeSelectorRequirement,
} from "../../../../api/types/core-v1.ts";

const node = (labels?: Record<string, string>): Node => ({
  metadata: { name: "n", ...(labels ? { labels } : {}) },
  spec: {},
});
const chosen = (
  requirement: NodeSelectorRequirement,
  labels?: Record<string, string>,
): boolean =>
  matchesNodeAffinity(
    {
      containers: [],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [requirement] }],
          },
        },
      },
    },
    node(labels),
  );

test("a label that nobody set is not there, whatever its name", () => {
  for (const labels of [{}, undefined]) {
    expect(chosen({ key: "constructor", operator: "Exists" }, labels)).toBe(
      false,
    );
    expect(chosen({ key: "toString", operator: "DoesNotExist" }, labels)).toBe(
      true,
    );
  }
  const set = { constructor: "x" };
  expect(
    chosen({ key: "constructor", operator: "In", values: ["x"] }, set),
  ).toBe(true);
  expect(
    matchesNodeAffinity(
      { containers: [], nodeSelector: { constructor: "x" } },
      node({}),
    ),
  ).toBe(false);
});

test.each([
  ["4", "3", true],
  ["3", "3", false],
  ["+4", "-3", true],
  ["9007199254740993", "9007199254740992", true],
  ["", "-1", false],
  ["0x10", "3", false],
  ["1e3", "3", false],
  ["4.0", "3", false],
])("%j above %j: %p", (value, bound, is) => {
  expect(
    chosen({ key: "n", operator: "Gt", values: [bound] }, { n: value }),
  ).toBe(is);
});
