import type { Job } from "../../../api/types/batch-v1.ts";
import { metSuccessPolicy } from "../../../controllers/job/success-policy.ts";

type Rules = NonNullable<Job["spec"]["successPolicy"]>["rules"];

it.each<[string, Rules, number[], number | undefined]>([
  ["all of the indexes", [{ succeededIndexes: "0,2-3" }], [0, 2, 3], 0],
  ["not all of them", [{ succeededIndexes: "0,2-3" }], [0, 2, 4], undefined],
  ["enough of any", [{ succeededCount: 2 }], [1, 4], 0],
  ["too few of any", [{ succeededCount: 2 }], [4], undefined],
  [
    "enough of the indexes",
    [{ succeededIndexes: "0-3", succeededCount: 2 }],
    [0, 3, 7],
    0,
  ],
  [
    "too few of the indexes",
    [{ succeededIndexes: "0-3", succeededCount: 2 }],
    [0, 6, 7],
    undefined,
  ],
  ["a later rule", [{ succeededIndexes: "0" }, { succeededCount: 1 }], [5], 1],
  ["no rules", [], [0], undefined],
])("%s", (_, rules, succeeded, rule) => {
  const job = {
    metadata: { name: "j" },
    spec: { completionMode: "Indexed", successPolicy: { rules } },
  } as unknown as Job;
  expect(metSuccessPolicy(job, new Set(succeeded))).toEqual(
    rule === undefined
      ? undefined
      : {
          reason: "SuccessPolicy",
          message: `Matched rules at index ${rule}`,
        },
  );
});
