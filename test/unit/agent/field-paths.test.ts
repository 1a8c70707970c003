// What a pod reads of its own metadata.
import { podFieldValue } from "../../../agent/pods/shape/field-paths.ts";
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
