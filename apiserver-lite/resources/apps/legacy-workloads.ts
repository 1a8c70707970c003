// Workloads as servers of the years before wrote them into etcd (strategy.ts, `upgrades`).
import type { Upgrade } from "../strategy.ts";

const MAX_INT32 = 2_147_483_647;

/** Labels and selector came from the template. */
const fromTemplate: Upgrade = ({ metadata, spec }) => {
  const labels = spec?.template?.metadata?.labels;
  if (!labels) return;
  if (Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels };
  spec.selector ??= { matchLabels: { ...labels } };
};

/** Keeps the value of a removed field in an annotation. */
const annotate =
  (
    field: string,
    name: string,
    textOf: (value: { revision?: number }) => string,
  ): Upgrade =>
  ({ metadata, spec }) => {
    if (spec?.[field] === undefined) return;
    (metadata.annotations ??= {})[name] = textOf(spec[field]);
    delete spec[field];
  };
const rollbackTo = annotate(
  "rollbackTo",
  "deprecated.deployment.rollback.to",
  ({ revision }) => String(revision ?? 0),
);
const templateGeneration = annotate(
  "templateGeneration",
  "deprecated.daemonset.template.generation",
  String,
);

const oldDeployment: Upgrade = ({ spec }) => {
  if (!spec) return;
  spec.revisionHistoryLimit ??= MAX_INT32;
  spec.progressDeadlineSeconds ??= MAX_INT32;
  spec.strategy ??= {};
  if ((spec.strategy.type ??= "RollingUpdate") !== "RollingUpdate") return;
  const rolling = (spec.strategy.rollingUpdate ??= {});
  rolling.maxSurge ??= 1;
  rolling.maxUnavailable ??= 1;
};

const betaDeployment: Upgrade = ({ spec }) => {
  if (spec) spec.revisionHistoryLimit ??= 2;
};

const onDelete: Upgrade = ({ spec }) => {
  if (spec) (spec.updateStrategy ??= {}).type ??= "OnDelete";
};

const all =
  (...steps: readonly Upgrade[]): Upgrade =>
  (object) => {
    for (const step of steps) step(object);
  };

type Upgrades = Readonly<Record<string, Upgrade>>;

export const deploymentUpgrades: Upgrades = {
  "extensions/v1beta1": all(fromTemplate, rollbackTo, oldDeployment),
  "apps/v1beta1": all(fromTemplate, rollbackTo, betaDeployment),
};
export const statefulSetUpgrades: Upgrades = {
  "apps/v1beta1": all(fromTemplate, onDelete),
};
export const daemonSetUpgrades: Upgrades = {
  "extensions/v1beta1": all(fromTemplate, templateGeneration, onDelete),
};
export const replicaSetUpgrades: Upgrades = {
  "extensions/v1beta1": fromTemplate,
};
