// How long agents may keep what they have read: more nodes, longer, without going to and fro at a bound.
import type { Node } from "../../../api/types/core-v1.ts";
import { nodes } from "../../../client/resources.ts";
import { secondsAt, stepOf } from "../../../controllers/node/ttl-controller.ts";
import {
  passes,
  startControlPlane,
  testNode,
} from "../../support/control-plane.ts";

test("by the number of nodes, and by what it was before", () => {
  let step = 0;
  const course = [1, 100, 101, 95, 90, 89, 2500, 1800, 1799, 400, 0];
  expect(
    course.map((count) => secondsAt((step = stepOf(step, count)))),
  ).toEqual([0, 0, 15, 15, 15, 0, 300, 300, 60, 15, 0]);
});

test("each node is annotated, also when the annotation is taken away", async () => {
  const plane = await startControlPlane({
    controllers: { controllers: ["ttl-controller"] },
  });
  const ttl = () =>
    plane.api.all<Node>(nodes)[0]?.metadata.annotations?.[
      "node.alpha.kubernetes.io/ttl"
    ];
  await plane.client.resource(nodes).create(testNode("a"));
  await passes(() => expect(ttl()).toBe("0"));
  await plane.client.resource(nodes).patch("a", undefined, {
    type: "merge",
    body: { metadata: { annotations: null } },
  });
  expect(ttl()).toBeUndefined();
  await passes(() => expect(ttl()).toBe("0"));
  await plane.stop();
});
