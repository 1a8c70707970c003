// What a pod reads of its own metadata.
import {
  podFieldValue,
  resourceFieldValue,
} from "../../../agent/pods/shape/field-paths.ts";
import type { Pod } from "../../../api/types/core-v1.ts";

const pod: Pod = {
  metadata: {
    name: "p",
    labels: { b: "2", a: "1" },
    annotations: { odd: 'a"\t\u00a0\u200b\u007fé', empty: "" },
  },
  spec: { containers: [] },
};
const value = (fieldPath: string): string => podFieldValue(pod, { fieldPath });

test("labels and annotations are lines sorted by key, with values as Go quotes them", () => {
  expect(value("metadata.labels")).toBe('a="1"\nb="2"');
  expect(value("metadata.annotations")).toBe(
    'empty=""\nodd="a\\"\\t\\u00a0\\u200b\\x7fé"',
  );
});

test("one of them is empty where it is not there, whatever its name", () => {
  expect(value("metadata.labels['a']")).toBe("1");
  expect(value("metadata.labels['c']")).toBe("");
  expect(value("metadata.labels['constructor']")).toBe("");
  expect(value("metadata.annotations['toString']")).toBe("");
});

test.each([
  ["limits.cpu", undefined, "4"],
  ["limits.memory", "1Mi", "8192"],
  ["limits.ephemeral-storage", "1Gi", "1"],
  ["requests.memory", undefined, "0"],
  ["limits.hugepages-2Mi", undefined, "0"],
])(
  "%s by %s is the node's where none is set: %s",
  (resource, divisor, text) => {
    const node = {
      cpuMillis: 4000,
      memoryBytes: 8 * 1024 ** 3,
      ephemeralStorageBytes: 1024 ** 3,
    };
    const of = (limits: Record<string, string>): string =>
      resourceFieldValue(
        pod,
        { name: "c", image: "i", resources: { limits } },
        { resource, ...(divisor ? { divisor } : {}) },
        node,
      );
    expect(of({})).toBe(text);
    // None is meant by zero, too.
    expect(of({ cpu: "0", memory: "0", "ephemeral-storage": "0" })).toBe(text);
  },
);

test("a resource that no field has is refused", () => {
  const container = { name: "c", image: "i" };
  for (const resource of ["limits.example.com/gpu", "cpu", "requests."])
    expect(() =>
      resourceFieldValue(
        pod,
        container,
        { resource },
        {
          cpuMillis: 0,
          memoryBytes: 0,
          ephemeralStorageBytes: 0,
        },
      ),
    ).toThrow(`unsupported container resource : ${resource}`);
});
