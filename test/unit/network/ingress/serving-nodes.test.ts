// Which of the nodes that serve writes what all have alike, and whose addresses Gateways have.
import type { Node } from "../../../../api/types/core-v1.ts";
import {
  allServingAddresses,
  writesForAll,
} from "../../../../network/ingress/feed/serving-nodes.ts";

const node = (name: string, serving = true, ready = true): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name,
    ...(serving ? { labels: { "ingress.orbit.io/serving": "true" } } : {}),
  },
  spec: {},
  status: {
    addresses: [{ type: "InternalIP", address: `192.0.2.${name}` }],
    conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
  },
});

const all: Readonly<Record<string, readonly Node[]>> = {
  alone: [node("2", false, false)],
  both: [node("1"), node("2")],
  "the first does not serve": [node("1", false), node("2")],
  "the first is not ready": [node("1", true, false), node("2")],
};

test.each([
  ["alone", "2", true],
  ["both", "1", true],
  ["both", "2", false],
  ["the first does not serve", "2", true],
  ["the first is not ready", "1", false],
  ["the first is not ready", "2", true],
  ["both", "3", false],
])("%s: %s writes: %s", (which, name, expected) =>
  expect(writesForAll(all[which]!, name)).toBe(expected),
);

test.each([
  ["alone", "2", ["192.0.2.2"]],
  ["both", "2", ["192.0.2.1", "192.0.2.2"]],
  ["the first does not serve", "2", ["192.0.2.2"]],
  ["the first is not ready", "2", ["192.0.2.2"]],
])("%s: the addresses that %s knows", (which, name, expected) =>
  expect(allServingAddresses(all[which]!, name)).toEqual(expected),
);
