import type {
  Pod,
  ResourceRequirements,
} from "../../../../api/types/core-v1.ts";
import { qosClass } from "../../../../api/objects/pod-qos.ts";

const limits = { cpu: "1", memory: "1Gi" };

test.each<[string, (ResourceRequirements | undefined)[], string]>([
  ["nothing", [undefined], "BestEffort"],
  ["zero requests", [{ requests: { cpu: "0", memory: "0" } }], "BestEffort"],
  ["other resources", [{ requests: { "example.com/x": "1" } }], "BestEffort"],
  ["no quantity", [{ requests: { cpu: "much" } }], "BestEffort"],
  ["a request", [{ requests: { cpu: "10m" } }], "Burstable"],
  ["limits only", [{ limits }], "Guaranteed"],
  [
    "equal amounts, spelled otherwise",
    [{ limits, requests: { cpu: "1000m", memory: "1024Mi" } }],
    "Guaranteed",
  ],
  ["one container without", [{ limits }, undefined], "Burstable"],
  ["a smaller request", [{ limits, requests: { cpu: "500m" } }], "Burstable"],
  ["a request of zero", [{ limits, requests: { cpu: "0" } }], "Burstable"],
])("%s", (_, given, expected) => {
  const containers = given.map((resources, index) => ({
    name: `c${index}`,
    ...(resources ? { resources } : {}),
  }));
  const classOf = (spec: Pod["spec"]): string => qosClass({ spec });
  expect(classOf({ containers })).toBe(expected);
  // Init containers count as well.
  const [first, ...rest] = containers;
  expect(classOf({ containers: [first!], initContainers: rest })).toBe(
    expected,
  );
});
