// Job, CronJob, HorizontalPodAutoscaler and PodDisruptionBudget: defaults, what is refused, what may change.
import { createEach, plain, updateEach, type Changes } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

const template = {
  spec: {
    restartPolicy: "Never",
    containers: [{ name: "c", image: "busybox:1" }],
  },
};

const policy = (rules: unknown): Changes => ({
  "spec.podFailurePolicy": { rules },
});
const indexed = (changes: Changes): Changes => ({
  "spec.completionMode": "Indexed",
  "spec.completions": 3,
  ...changes,
});
const T = "2024-01-02T03:04:05Z";
const U = "2024-01-02T03:05:05Z";

const jobCases = (spec: string): Changes[] => {
  const at = (changes: Changes): Changes =>
    Object.fromEntries(
      Object.entries(changes).map(([path, value]) => [
        path.replace(/^spec/, spec),
        value,
      ]),
    );
  return [
    { "spec.parallelism": -1 },
    { "spec.completions": -1 },
    { "spec.backoffLimit": -1 },
    { "spec.activeDeadlineSeconds": -1 },
    { "spec.ttlSecondsAfterFinished": -1 },
    { "spec.completionMode": "Other" },
    { "spec.completionMode": "Indexed" },
    { "spec.template.spec.restartPolicy": "Always" },
    { "spec.template.spec.restartPolicy": undefined },
    { "spec.template.spec.restartPolicy": "OnFailure" },
    { "spec.template": undefined },
    { "spec.template.spec.containers": [] },
    { "spec.suspend": true },
    { "spec.suspend": "true" },
    { "spec.podReplacementPolicy": "Failed" },
    { "spec.podReplacementPolicy": "Other" },
    { "spec.managedBy": "a.b/c" },
    { "spec.managedBy": "c" },
    { "spec.managedBy": `a.b/${"c".repeat(64)}` },
    { "spec.backoffLimitPerIndex": 1 },
    { "spec.maxFailedIndexes": 1 },
    indexed({ "spec.backoffLimitPerIndex": 1 }),
    indexed({ "spec.backoffLimitPerIndex": -1 }),
    indexed({ "spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": 4 }),
    indexed({ "spec.backoffLimitPerIndex": 1, "spec.maxFailedIndexes": -1 }),
    indexed({ "spec.maxFailedIndexes": 1 }),
    indexed({
      "spec.backoffLimitPerIndex": 1,
      "spec.template.spec.restartPolicy": "OnFailure",
    }),
    indexed({ "spec.parallelism": 100001 }),
    indexed({ "spec.completions": 100001, "spec.parallelism": 10001 }),
    indexed({
      "spec.backoffLimitPerIndex": 1,
      "spec.completions": 100001,
      "spec.parallelism": 10001,
      "spec.maxFailedIndexes": 10001,
    }),
    indexed({ "spec.backoffLimitPerIndex": 1, "spec.completions": 100001 }),
    indexed({ "spec.successPolicy": { rules: [{ succeededIndexes: "0,2" }] } }),
    indexed({ "spec.successPolicy": { rules: [] } }),
    indexed({ "spec.successPolicy": { rules: [{}] } }),
    indexed({
      "spec.successPolicy": {
        rules: [
          { succeededCount: 4 },
          { succeededCount: 0 },
          { succeededIndexes: "3-1" },
          { succeededIndexes: "a" },
          { succeededIndexes: "0-1", succeededCount: 3 },
          { succeededIndexes: "9" },
          { succeededIndexes: "1,1" },
          { succeededIndexes: "1-2-3" },
        ],
      },
    }),
    { "spec.successPolicy": { rules: [{ succeededCount: 1 }] } },
    policy([
      { action: "FailJob", onExitCodes: { operator: "In", values: [1, 2] } },
    ]),
    policy([
      { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
    ]),
    policy([
      { action: "Ignore", onPodConditions: [{ type: "", status: "Perhaps" }] },
    ]),
    policy([]),
    policy([{}]),
    policy([{ action: "Other" }]),
    policy([
      { action: "FailIndex", onExitCodes: { operator: "In", values: [1] } },
    ]),
    policy([
      { action: "Count", onExitCodes: { operator: "Near", values: [] } },
    ]),
    policy([
      {
        action: "Count",
        onExitCodes: { operator: "In", values: [0, 2, 1, 1] },
      },
    ]),
    policy([
      {
        action: "Count",
        onExitCodes: { containerName: "x", operator: "NotIn", values: [1] },
      },
    ]),
    policy([
      {
        action: "Count",
        onExitCodes: { containerName: "c", operator: "NotIn", values: [0] },
        onPodConditions: [{ type: "A" }],
      },
    ]),
    policy([{ action: "Count", onExitCodes: { values: [1] } }]),
    {
      ...policy([{ action: "Ignore", onPodConditions: [{ type: "A" }] }]),
      "spec.template.spec.restartPolicy": "OnFailure",
    },
    {
      "spec.parallelism": -1,
      "spec.completions": -1,
      "spec.activeDeadlineSeconds": -1,
      "spec.backoffLimit": -1,
      "spec.completionMode": "X",
      "spec.podReplacementPolicy": "Y",
      "spec.ttlSecondsAfterFinished": -1,
      "spec.template.spec.restartPolicy": "Always",
      "spec.managedBy": "/",
    },
  ].map(at);
};

const hpaMetric = (metric: unknown): Changes => ({ "spec.metrics": [metric] });

export const jobs: Scenario = {
  name: "jobs",
  async run(server) {
    const { namespace, call } = server;
    const at = (group: string, resource: string): string =>
      `/apis/${group}/namespaces/${namespace}/${resource}`;

    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "j" },
      spec: { template },
    };
    await createEach(server, "job", at("batch/v1", "jobs"), job, [
      ...jobCases("spec"),
      { spec: undefined },
      { spec: {} },
      { "metadata.name": "a.b" },
      { "spec.manualSelector": true },
      {
        "spec.manualSelector": true,
        "spec.selector": { matchLabels: { a: "b" } },
        "spec.template.metadata": { labels: { a: "b" } },
      },
      {
        "spec.manualSelector": true,
        "spec.selector": { matchLabels: { a: "b" } },
        "spec.template.metadata": { labels: { a: "c" } },
      },
      { "spec.selector": { matchLabels: { a: "b" } } },
      {
        "spec.selector": { matchLabels: { a: "b" } },
        "spec.template.metadata": { labels: { a: "b" } },
      },
      {
        "spec.template.metadata": {
          labels: { "job-name": "x", "controller-uid": "y" },
        },
      },
      {
        "spec.template.metadata": {
          labels: { "batch.kubernetes.io/job-name": "x" },
        },
      },
      { "spec.completions": 2, "spec.parallelism": 0 },
      { "spec.completions": 0 },
      { "metadata.labels": { app: "a" } },
      { status: { succeeded: 3, startTime: T } },
      { "metadata.generation": 5 },
      { "spec.template.spec.activeDeadlineSeconds": 3 },
    ]);
    await updateEach(server, "job", at("batch/v1", "jobs"), job, [
      {},
      { "spec.parallelism": 3 },
      { "spec.completions": 3 },
      { "spec.backoffLimit": 3 },
      { "spec.activeDeadlineSeconds": 3 },
      { "spec.ttlSecondsAfterFinished": 3 },
      { "spec.suspend": true },
      { "spec.completionMode": "Indexed" },
      {
        "spec.podFailurePolicy": {
          rules: [{ action: "Count", onPodConditions: [{ type: "A" }] }],
        },
      },
      { "spec.backoffLimitPerIndex": 3 },
      { "spec.managedBy": "a.b/c" },
      { "spec.podReplacementPolicy": "Failed" },
      { "spec.template.metadata.annotations": { a: "b" } },
      { "spec.template.spec.containers.0.image": "" },
      { "spec.selector": undefined },
      { "status.succeeded": 3 },
      { "metadata.labels": { a: "b" } },
      { "spec.parallelism": -3, "spec.backoffLimit": -3 },
      { "spec.manualSelector": true },
    ]);
    const elastic = {
      ...job,
      metadata: { name: "je" },
      spec: {
        template,
        completionMode: "Indexed",
        completions: 3,
        parallelism: 3,
        suspend: true,
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 1,
      },
    };
    await updateEach(server, "indexed job", at("batch/v1", "jobs"), elastic, [
      { "spec.completions": 4, "spec.parallelism": 4 },
      { "spec.completions": 4 },
      { "spec.completions": undefined },
      { "spec.maxFailedIndexes": 2 },
      { "spec.suspend": false },
      { "spec.template.spec.nodeSelector": { a: "b" } },
      { "spec.template.spec.tolerations": [{ key: "a" }] },
      {
        "spec.template.metadata.annotations": { a: "b" },
        "spec.suspend": false,
      },
      { "spec.template.spec.schedulingGates": [{ name: "g" }] },
      { "spec.completionMode": "NonIndexed" },
      { "spec.successPolicy": { rules: [{ succeededCount: 1 }] } },
    ]);
    const condition = (type: string, status = "True"): unknown => ({
      type,
      status,
      lastTransitionTime: T,
      lastProbeTime: T,
    });
    await updateEach(
      server,
      "job",
      at("batch/v1", "jobs"),
      job,
      [
        { "status.active": -1 },
        {
          "status.succeeded": -1,
          "status.failed": -1,
          "status.terminating": -1,
          "status.ready": -1,
        },
        { "status.active": 1, "status.startTime": T },
        { "status.active": 1 },
        { "status.completionTime": T },
        { "status.startTime": U, "status.completionTime": T },
        { "status.startTime": T, "status.completionTime": U },
        {
          "status.startTime": T,
          "status.completionTime": U,
          "status.conditions": [condition("Complete")],
        },
        {
          "status.startTime": T,
          "status.completionTime": U,
          "status.succeeded": 1,
          "status.conditions": [
            condition("SuccessCriteriaMet"),
            condition("Complete"),
          ],
        },
        { "status.startTime": T, "status.conditions": [condition("Failed")] },
        {
          "status.startTime": T,
          "status.conditions": [
            condition("FailureTarget"),
            condition("Failed"),
          ],
        },
        {
          "status.startTime": T,
          "status.conditions": [
            condition("FailureTarget"),
            condition("Failed"),
            condition("Complete"),
          ],
        },
        {
          "status.startTime": T,
          "status.conditions": [condition("Suspended")],
        },
        {
          "status.startTime": T,
          "status.conditions": [condition("FailureTarget")],
          "status.active": 1,
        },
        { "status.startTime": T, "status.active": 1, "status.ready": 2 },
        {
          "status.startTime": T,
          "status.active": 3,
          "status.failed": 2,
          "status.conditions": [
            condition("FailureTarget"),
            condition("Failed"),
          ],
        },
        {
          "status.startTime": T,
          "status.uncountedTerminatedPods": {
            succeeded: ["a", "a", ""],
            failed: ["a"],
          },
        },
        { "status.completedIndexes": "1,3" },
        { "status.failedIndexes": "1,3" },
        {
          "status.startTime": T,
          "status.conditions": [condition("A", "Perhaps"), condition("")],
        },
        {
          "status.startTime": T,
          "metadata.labels": { a: "b" },
          "spec.parallelism": 3,
        },
        { status: undefined },
      ],
      "status",
    );
    await updateEach(
      server,
      "indexed job",
      at("batch/v1", "jobs"),
      elastic,
      [
        { "status.completedIndexes": "0,2", "status.startTime": T },
        { "status.completedIndexes": "2,1" },
        { "status.completedIndexes": "0-1-2" },
        { "status.completedIndexes": "5" },
        { "status.failedIndexes": "0-2" },
        { "status.failedIndexes": "x" },
        { "status.completedIndexes": "1", "status.failedIndexes": "1" },
      ],
      "status",
    );
    await call(
      "job by status.successful",
      "GET",
      `${at("batch/v1", "jobs")}?fieldSelector=status.successful%3D0`,
      { keep: (body) => body.items?.length ?? body, lean: true },
    );
    await call("job deleted", "DELETE", `${at("batch/v1", "jobs")}/j`, {
      keep: (body) => body.metadata?.finalizers ?? body,
      lean: true,
    });
    await call(
      "job deleted in the background",
      "DELETE",
      `${at("batch/v1", "jobs")}/je?propagationPolicy=Background`,
      plain,
    );

    const cronJob = {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "cj" },
      spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template } } },
    };
    await createEach(server, "cronjob", at("batch/v1", "cronjobs"), cronJob, [
      ...jobCases("spec.jobTemplate.spec").slice(0, 2),
      ...[
        "",
        "x",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "@hourly",
        "@every 1h",
        "@every x",
        "@never",
        "TZ=UTC * * * * *",
        "CRON_TZ=UTC 1 * * * *",
        "1-0 * * * *",
        "*/0 * * * *",
        "1-2-3 * * * *",
        "1/2/3 * * * *",
        "a * * * *",
        "* * 0 * *",
        "* * * JAN MON",
        "* * * * 7",
        "-1 * * * *",
        "1,2,x * * * *",
        "0 24 * * *",
        "? ? ? ? ?",
        " 1 * * * * ",
      ].map((schedule) => ({ "spec.schedule": schedule })),
      { "spec.schedule": undefined },
      { "spec.schedule": 5 },
      ...[
        "Etc/UTC",
        "",
        "Local",
        "local",
        "No/Where",
        "UTC",
        "utc",
        "/etc",
        "Europe/Berlin ",
      ].map((timeZone) => ({ "spec.timeZone": timeZone })),
      { "spec.concurrencyPolicy": "Forbid" },
      { "spec.concurrencyPolicy": "Other" },
      { "spec.concurrencyPolicy": "" },
      { "spec.startingDeadlineSeconds": -1 },
      {
        "spec.successfulJobsHistoryLimit": -1,
        "spec.failedJobsHistoryLimit": -1,
      },
      {
        "spec.successfulJobsHistoryLimit": 0,
        "spec.failedJobsHistoryLimit": 0,
      },
      { "spec.suspend": true },
      { "spec.jobTemplate": undefined },
      { "spec.jobTemplate.spec.manualSelector": true },
      { "spec.jobTemplate.spec.selector": { matchLabels: { a: "b" } } },
      {
        "spec.jobTemplate.metadata": {
          labels: { "a b": "c" },
          annotations: { "a b": "c" },
        },
      },
      { "metadata.name": "a".repeat(52) },
      { "metadata.name": "a".repeat(53) },
      { "metadata.name": "a.b" },
      { spec: undefined },
      { status: { active: [{}] } },
      {
        "spec.schedule": "x",
        "spec.timeZone": "y",
        "spec.concurrencyPolicy": "z",
        "spec.startingDeadlineSeconds": -1,
        "spec.failedJobsHistoryLimit": -1,
        "spec.jobTemplate.spec.parallelism": -1,
        "metadata.name": "b".repeat(60),
      },
    ]);
    await updateEach(server, "cronjob", at("batch/v1", "cronjobs"), cronJob, [
      {},
      { "spec.schedule": "TZ=UTC 1 * * * *" },
      { "spec.schedule": "x" },
      { "spec.timeZone": "No/Where" },
      { "spec.suspend": true },
      { "spec.jobTemplate.spec.template.spec.containers.0.image": "other" },
      { "spec.jobTemplate.spec.completions": 5 },
      { "status.lastScheduleTime": T },
    ]);
    await updateEach(
      server,
      "cronjob",
      at("batch/v1", "cronjobs"),
      cronJob,
      [
        { "status.lastScheduleTime": T, "status.lastSuccessfulTime": U },
        { "status.active": [{ name: "x", namespace: "y" }] },
        { "status.lastScheduleTime": "x" },
        { "spec.suspend": true, "metadata.labels": { a: "b" } },
      ],
      "status",
    );
    await call(
      "cronjob deleted",
      "DELETE",
      `${at("batch/v1", "cronjobs")}/cj`,
      plain,
    );
    for (const version of ["v1beta1", "v2alpha1"])
      await call(
        `batch/${version}`,
        "GET",
        `/apis/batch/${version}/namespaces/${namespace}/cronjobs`,
        plain,
      );

    const scaler = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "h" },
      spec: {
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "d",
        },
        maxReplicas: 5,
      },
    };
    const hpas = at("autoscaling/v2", "horizontalpodautoscalers");
    const cpu = {
      type: "Resource",
      resource: {
        name: "cpu",
        target: { type: "Utilization", averageUtilization: 50 },
      },
    };
    await createEach(server, "hpa", hpas, scaler, [
      { "spec.minReplicas": 0 },
      { "spec.minReplicas": -1 },
      { "spec.minReplicas": 6 },
      { "spec.maxReplicas": 0 },
      { "spec.maxReplicas": -1 },
      { "spec.maxReplicas": undefined },
      { "spec.scaleTargetRef": undefined },
      { "spec.scaleTargetRef": {} },
      { "spec.scaleTargetRef.name": "a/b" },
      { "spec.scaleTargetRef.kind": "a%b" },
      { "spec.scaleTargetRef.kind": ".." },
      { "spec.scaleTargetRef.apiVersion": undefined },
      { "spec.scaleTargetRef.apiVersion": "a/b/c" },
      { spec: undefined },
      { "metadata.name": "A_b" },
      { status: { currentReplicas: 3 } },
      hpaMetric(cpu),
      hpaMetric({ type: "Resource" }),
      hpaMetric({ type: "Other" }),
      hpaMetric({}),
      hpaMetric({ ...cpu, type: "Pods" }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "",
          target: { type: "Utilization", averageUtilization: 50 },
        },
      }),
      hpaMetric({
        type: "Resource",
        resource: { name: "cpu", target: { type: "", averageUtilization: 50 } },
      }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Other", averageUtilization: 50 },
        },
      }),
      hpaMetric({
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization" } },
      }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: 0 },
        },
      }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "cpu",
          target: {
            type: "Utilization",
            averageUtilization: 5,
            averageValue: "1",
          },
        },
      }),
      hpaMetric({
        type: "Resource",
        resource: { name: "cpu", target: { type: "Value", value: "1" } },
      }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "AverageValue", averageValue: "-1" },
        },
      }),
      hpaMetric({
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "AverageValue", averageValue: "x" },
        },
      }),
      hpaMetric({
        type: "ContainerResource",
        containerResource: {
          name: "cpu",
          container: "c",
          target: { type: "Utilization", averageUtilization: 50 },
        },
      }),
      hpaMetric({
        type: "ContainerResource",
        containerResource: {
          name: "",
          container: "",
          target: { type: "Utilization" },
        },
      }),
      hpaMetric({
        type: "Pods",
        pods: {
          metric: { name: "m" },
          target: { type: "AverageValue", averageValue: "10" },
        },
      }),
      hpaMetric({
        type: "Pods",
        pods: { metric: { name: "" }, target: { type: "Value", value: "10" } },
      }),
      hpaMetric({
        type: "Pods",
        pods: {
          metric: { name: "a/b", selector: { matchLabels: { "a b": "c" } } },
          target: { type: "AverageValue" },
        },
      }),
      hpaMetric({
        type: "Object",
        object: {
          describedObject: { kind: "Service", name: "s" },
          metric: { name: "m" },
          target: { type: "Value", value: "10" },
        },
      }),
      hpaMetric({
        type: "Object",
        object: {
          describedObject: { kind: "", name: "" },
          metric: { name: "" },
          target: { type: "Value" },
        },
      }),
      hpaMetric({
        type: "Object",
        object: {
          describedObject: { kind: "Service", name: "s" },
          metric: { name: "m" },
          target: { type: "Value", value: "1", averageValue: "1" },
        },
      }),
      hpaMetric({
        type: "External",
        external: {
          metric: { name: "m" },
          target: { type: "Value", value: "10" },
        },
      }),
      hpaMetric({
        type: "External",
        external: {
          metric: { name: "" },
          target: { type: "Value", averageUtilization: 3 },
        },
      }),
      hpaMetric({
        type: "External",
        external: {
          metric: { name: "m" },
          target: { type: "Value", value: "0" },
        },
      }),
      { "spec.behavior": {} },
      { "spec.behavior": { scaleUp: {} } },

      {
        "spec.behavior": {
          scaleUp: {
            policies: [{ type: "Pods", value: 3, periodSeconds: 60 }],
          },
        },
      },
      {
        "spec.behavior": {
          scaleUp: {
            stabilizationWindowSeconds: 3601,
            selectPolicy: "Other",
            policies: [{ type: "X", value: 0, periodSeconds: 0 }],
          },
        },
      },
      {
        "spec.behavior": {
          scaleDown: {
            stabilizationWindowSeconds: -1,
            selectPolicy: "Disabled",
            policies: [{ type: "Percent", value: -1, periodSeconds: 1801 }],
          },
        },
      },
      { "spec.behavior": { scaleDown: { tolerance: "0.1" } } },
      {
        "spec.minReplicas": 0,
        "spec.maxReplicas": 0,
        "spec.scaleTargetRef": { kind: "", name: "" },
        "spec.metrics": [{ type: "Resource" }, { type: "Pods" }],
      },
    ]);
    await updateEach(
      server,
      "hpa",
      hpas,
      { ...scaler, spec: { ...scaler.spec, metrics: [cpu] } },
      [
        {},
        { "spec.maxReplicas": 0 },
        { "spec.maxReplicas": 9 },
        { "status.currentReplicas": 3 },
        { "spec.metrics": undefined },
        { "spec.scaleTargetRef.name": "other" },
      ],
    );
    await updateEach(
      server,
      "hpa",
      hpas,
      scaler,
      [
        { "status.currentReplicas": 3, "status.desiredReplicas": -1 },
        { "status.currentReplicas": -3 },
        { "spec.maxReplicas": 9 },
        { status: undefined },
        { "status.conditions": [{ type: "AbleToScale", status: "True" }] },
        {
          "status.currentMetrics": [
            {
              type: "Resource",
              resource: { name: "cpu", current: { averageValue: "1" } },
            },
          ],
        },
      ],
      "status",
    );
    const v1 = at("autoscaling/v1", "horizontalpodautoscalers");
    await call("hpa in v1", "GET", `${v1}/h`, plain);
    await createEach(
      server,
      "hpa v1",
      v1,
      {
        apiVersion: "autoscaling/v1",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "h1" },
        spec: {
          scaleTargetRef: { kind: "Deployment", name: "d" },
          maxReplicas: 5,
          targetCPUUtilizationPercentage: 60,
        },
      },
      [
        { "spec.targetCPUUtilizationPercentage": undefined },
        { "spec.targetCPUUtilizationPercentage": 0 },
        { "spec.targetCPUUtilizationPercentage": -1 },
        { "spec.minReplicas": 0 },
        { "spec.maxReplicas": 0 },
        {
          "metadata.annotations": {
            "autoscaling.alpha.kubernetes.io/metrics": "[]",
          },
        },
        {
          "metadata.annotations": {
            "autoscaling.alpha.kubernetes.io/metrics": "x",
          },
        },
      ],
    );
    for (const version of ["v2beta1", "v2beta2"])
      await call(
        `autoscaling/${version}`,
        "GET",
        `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`,
        plain,
      );
    await call("hpa deleted", "DELETE", `${hpas}/h`, plain);

    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "p" },
      spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
    };
    const budgets = at("policy/v1", "poddisruptionbudgets");
    await createEach(server, "pdb", budgets, budget, [
      { spec: undefined },
      { spec: {} },
      { "spec.minAvailable": undefined },
      { "spec.maxUnavailable": 1 },
      { "spec.minAvailable": undefined, "spec.maxUnavailable": "30%" },
      { "spec.minAvailable": -1 },
      { "spec.minAvailable": "x" },
      { "spec.minAvailable": "101%" },
      { "spec.minAvailable": "-5%" },
      { "spec.minAvailable": undefined, "spec.maxUnavailable": -3 },
      { "spec.selector": undefined },
      { "spec.selector": {} },
      { "spec.selector.matchLabels": { "a b": "c d" } },
      { "spec.selector.matchExpressions": [{ key: "a", operator: "X" }] },
      { "spec.unhealthyPodEvictionPolicy": "AlwaysAllow" },
      { "spec.unhealthyPodEvictionPolicy": "Other" },
      { "spec.unhealthyPodEvictionPolicy": "" },
      { status: { disruptionsAllowed: 3 } },
      { "metadata.name": "A" },
      {
        "spec.minAvailable": -1,
        "spec.maxUnavailable": "x",
        "spec.selector.matchLabels": { "?": "" },
        "spec.unhealthyPodEvictionPolicy": "Z",
      },
    ]);
    await updateEach(server, "pdb", budgets, budget, [
      {},
      { "spec.minAvailable": 2 },
      { "spec.selector.matchLabels": { c: "d" } },
      { "spec.minAvailable": -2 },
      { "status.disruptionsAllowed": 3 },
      { "metadata.resourceVersion": undefined },
      { "metadata.labels": { a: "b" } },
    ]);
    await updateEach(
      server,
      "pdb",
      budgets,
      budget,
      [
        { "status.disruptionsAllowed": 3 },
        {
          "status.disruptionsAllowed": -3,
          "status.currentHealthy": -1,
          "status.desiredHealthy": -1,
          "status.expectedPods": -1,
        },
        { "status.conditions": [{ type: "A", status: "True" }] },
        {
          "status.conditions": [
            { type: "A b", status: "Z", reason: "", lastTransitionTime: null },
          ],
        },
        { "spec.minAvailable": 9 },
        { "status.disruptedPods": { x: T } },
        { status: undefined },
      ],
      "status",
    );
    await call(
      "policy/v1beta1",
      "GET",
      `/apis/policy/v1beta1/namespaces/${namespace}/poddisruptionbudgets`,
      plain,
    );
    await call("pdb deleted", "DELETE", `${budgets}/p`, plain);
  },
};
