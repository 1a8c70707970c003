// What a CronJob wants at a moment, without a server.
import type {
  CronJob,
  CronJobStatus,
  Job,
} from "../../../api/types/batch-v1.ts";
import {
  dueFromMs,
  followJobs,
  planDue,
  surplusJobs,
  unseenJobs,
  wasSetBack,
} from "../../../controllers/cronjob/cronjob-plan.ts";
import { parseSchedule } from "../../../controllers/cronjob/schedule.ts";

const day = "2025-01-01T";
const at = (time: string): number => Date.parse(`${day}${time}Z`);

const cronJobOf = (
  spec: Partial<CronJob["spec"]> = {},
  status?: CronJobStatus,
): CronJob => ({
  metadata: {
    name: "c",
    namespace: "ns",
    creationTimestamp: `${day}10:00:30Z`,
  },
  spec: { schedule: "*/10 * * * *", jobTemplate: {}, ...spec },
  ...(status ? { status } : {}),
});

/** `name state [start]`: active, Complete, Failed; its uid is its name. */
function jobOf(text: string): Job {
  const [name = "", state = "", start = "10:00:00"] = text.split(" ");
  return {
    metadata: { name, namespace: "ns", uid: name },
    spec: { template: {} },
    status: {
      startTime: `${day}${start}Z`,
      ...(state === "active"
        ? {}
        : { conditions: [{ type: state, status: "True" }] }),
      ...(state === "Complete" ? { completionTime: `${day}${start}Z` } : {}),
    },
  };
}
const active = (...names: string[]): CronJobStatus => ({
  active: names.map((name) => ({ name, uid: name })),
});
const numberOf = (time: string): number => at(time) / 60_000;

test.each<
  [
    string,
    string,
    Partial<CronJob["spec"]>,
    CronJobStatus | undefined,
    string[],
    string,
  ]
>([
  ["nothing before its time", "10:09:59", {}, undefined, [], ""],
  ["a Job at its time", "10:10:00", {}, undefined, [], "10:10:00"],
  [
    "only the last of those it missed",
    "10:45:00",
    {},
    undefined,
    [],
    "10:40:00",
  ],
  [
    "none twice",
    "10:15:00",
    {},
    { lastScheduleTime: `${day}10:10:00Z` },
    [],
    "",
  ],
  [
    "none after its starting deadline",
    "10:15:00",
    { startingDeadlineSeconds: 60 },
    undefined,
    [],
    "",
  ],
  [
    "one within it",
    "10:10:59",
    { startingDeadlineSeconds: 60 },
    undefined,
    [],
    "10:10:00",
  ],
  [
    "one beside another",
    "10:10:00",
    { concurrencyPolicy: "Allow" },
    active("old"),
    [],
    "10:10:00",
  ],
  [
    "none beside another where that is forbidden",
    "10:10:00",
    { concurrencyPolicy: "Forbid" },
    active("old"),
    [],
    " JobAlreadyActive",
  ],
  [
    "one in place of another",
    "10:10:00",
    { concurrencyPolicy: "Replace" },
    active("old"),
    [],
    "10:10:00 instead of old",
  ],
  [
    "one that was made already, when the status does not have it",
    "10:10:00",
    { concurrencyPolicy: "Forbid" },
    active("old"),
    [`c-${numberOf("10:10:00")} active`],
    "10:10:00",
  ],
  [
    "none when the status has it",
    "10:10:00",
    {},
    active(`c-${numberOf("10:10:00")}`),
    [`c-${numberOf("10:10:00")} active`],
    "",
  ],
  [
    "a warning where the time never comes",
    "10:10:00",
    { schedule: "59 23 31 2 *" },
    undefined,
    [],
    " InvalidSchedule",
  ],
  [
    "one and a warning after more than a hundred misses",
    "23:59:00",
    { schedule: "* * * * *" },
    undefined,
    [],
    "23:59:00 TooManyMissedTimes",
  ],
])("%s", (_, time, spec, status, jobs, expected) => {
  const cronJob = cronJobOf(spec, status);
  const known = jobs.map(jobOf);
  const { start, events } = planDue(
    cronJob,
    parseSchedule(cronJob.spec.schedule, "UTC"),
    at(time),
    (name) => known.find(({ metadata }) => metadata.name === name),
  );
  const shown = start
    ? `${new Date(start.dueMs).toISOString().slice(11, 19)}${start.replaces.length > 0 ? ` instead of ${start.replaces.join()}` : ""}`
    : "";
  expect(`${shown}${events.map(({ reason }) => ` ${reason}`).join("")}`).toBe(
    expected,
  );
  if (start)
    expect(start.jobName).toBe(`c-${Math.floor(start.dueMs / 60_000)}`);
});

test("Jobs that ended or went missing leave the status, with an event each", () => {
  const cronJob = cronJobOf({}, active("runs", "ended", "failed", "gone"));
  const { status, events } = followJobs(cronJob, [
    jobOf("runs active"),
    jobOf("ended Complete 10:20:00"),
    jobOf("failed Failed"),
    jobOf("earlier Complete 10:10:00"),
  ]);
  expect(status.active).toEqual([{ name: "runs", uid: "runs" }]);
  expect(status.lastSuccessfulTime).toBe(`${day}10:20:00Z`);
  expect(events.map(({ message }) => message)).toEqual([
    "Saw completed job: ended, condition: Complete",
    "Saw completed job: failed, condition: Failed",
    "Active job went missing: gone",
  ]);
});

test("a Job that runs and that the status does not know is an event; one that ended is none", () => {
  const cronJob = cronJobOf({}, active("runs"));
  const { status, events } = followJobs(cronJob, [
    jobOf("runs active"),
    jobOf("manual active"),
    jobOf("before Complete 10:10:00"),
  ]);
  expect(status.active).toEqual([{ name: "runs", uid: "runs" }]);
  expect(events).toEqual([
    {
      type: "Warning",
      reason: "UnexpectedJob",
      message: "Saw a job that the controller did not create or forgot: manual",
    },
  ]);
});

test("Jobs of the status that were not observed are named", () => {
  const cronJob = cronJobOf({}, active("runs", "late"));
  expect(unseenJobs(cronJob, [jobOf("runs active")])).toEqual([
    { name: "late", uid: "late" },
  ]);
});

test.each<[Partial<CronJob["spec"]>, string[]]>([
  [{}, ["c1"]],
  [{ successfulJobsHistoryLimit: 1 }, ["c1", "c2", "c3"]],
  [
    { successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 },
    ["c1", "c2", "c3", "c4", "f1"],
  ],
  [{ successfulJobsHistoryLimit: 9, failedJobsHistoryLimit: 9 }, []],
])("history with %j", (spec, expected) => {
  const jobs = [
    "c3 Complete 10:30:00",
    "c1 Complete 10:10:00",
    "runs active 09:00:00",
    "c4 Complete 10:40:00",
    "c2 Complete 10:20:00",
    "f1 Failed 10:10:00",
  ].map(jobOf);
  expect(
    surplusJobs(cronJobOf(spec), jobs).map(({ metadata }) => metadata.name),
  ).toEqual(expected);
});

test("after the clock was set back times are due from then on, not from where it was", () => {
  const status = { lastScheduleTime: `${day}20:00:00Z` };
  const cronJob = cronJobOf({}, status);
  const schedule = parseSchedule(cronJob.spec.schedule);
  const due = (time: string, fromMs = dueFromMs(cronJob)): string | undefined =>
    planDue(cronJob, schedule, at(time), () => undefined, fromMs).start
      ?.jobName;
  expect(wasSetBack(cronJob, at("20:00:00"))).toBe(false);
  expect(wasSetBack(cronJob, at("19:59:51"))).toBe(false);
  expect(wasSetBack(cronJob, at("12:05:00"))).toBe(true);
  expect(due("12:10:00")).toBeUndefined();
  expect(due("12:05:00", at("12:05:00"))).toBeUndefined();
  expect(due("12:10:00", at("12:05:00"))).toBe(`c-${numberOf("12:10:00")}`);
});
