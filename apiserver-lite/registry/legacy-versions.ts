// Values that servers of the years before wrote into etcd, in versions that are no longer served and have another shape
// than today's. They are brought into the shape of the version stored now before its defaults are set; versions that
// differ in nothing but their name need no entry. Defaults of those versions that today's do not have are set here.
import type { AnyObject } from "../../api/object.ts";

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- shapes of which nothing else is known */
type Loose = any;
type Upgrade = (object: Loose) => void;

const MAX_INT32 = 2_147_483_647;

/** Labels and selector came from the template. */
const fromTemplate: Upgrade = ({ metadata, spec }) => {
  const labels = spec?.template?.metadata?.labels;
  if (!labels) return;
  if (Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels };
  spec.selector ??= { matchLabels: { ...labels } };
};

/** What a field of old held is kept in an annotation. */
const annotate =
  (field: string, name: string, textOf: (value: Loose) => string): Upgrade =>
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

function backend(old: Loose): Loose {
  const { serviceName, servicePort, ...rest } = old;
  if (serviceName === undefined && servicePort === undefined) return rest;
  const numeric = typeof servicePort === "number" || /^\d+$/.test(servicePort);
  const port = numeric
    ? { number: Number(servicePort) }
    : { name: String(servicePort) };
  return { ...rest, service: { name: serviceName ?? "", port } };
}
const ingress: Upgrade = ({ spec }) => {
  if (!spec) return;
  if (spec.backend) spec.defaultBackend = backend(spec.backend);
  delete spec.backend;
  for (const { http } of spec.rules ?? [])
    for (const path of http?.paths ?? []) {
      path.pathType ??= "ImplementationSpecific";
      path.backend = backend(path.backend ?? {});
    }
};

const ZONE = "topology.kubernetes.io/zone";
const endpointSlice: Upgrade = ({ endpoints = [] }) => {
  for (const endpoint of endpoints) {
    if (!endpoint.topology) continue;
    const { [ZONE]: zone, ...others } = endpoint.topology;
    if (zone !== undefined) endpoint.zone = zone;
    if (Object.keys(others).length > 0) endpoint.deprecatedTopology = others;
    delete endpoint.topology;
  }
};

const priorityLevel: Upgrade = ({ spec }) => {
  const { limited } = spec ?? {};
  if (limited?.assuredConcurrencyShares === undefined) return;
  limited.nominalConcurrencyShares = limited.assuredConcurrencyShares;
  delete limited.assuredConcurrencyShares;
};

const signingRequest: Upgrade = ({ spec }) => {
  if (!spec) return;
  spec.signerName ??= "kubernetes.io/legacy-unknown";
  spec.usages ??= ["digital signature", "key encipherment"];
};

const webhooks: Upgrade = (configuration) => {
  for (const webhook of configuration.webhooks ?? []) {
    webhook.admissionReviewVersions ??= ["v1beta1"];
    webhook.failurePolicy ??= "Ignore";
    webhook.matchPolicy ??= "Exact";
    webhook.sideEffects ??= "Unknown";
    webhook.timeoutSeconds ??= 30;
  }
};

const upgrades: Readonly<Record<string, readonly Upgrade[]>> = {
  "extensions/v1beta1 Deployment": [fromTemplate, rollbackTo, oldDeployment],
  "apps/v1beta1 Deployment": [fromTemplate, rollbackTo, betaDeployment],
  "apps/v1beta1 StatefulSet": [fromTemplate, onDelete],
  "extensions/v1beta1 DaemonSet": [fromTemplate, templateGeneration, onDelete],
  "extensions/v1beta1 ReplicaSet": [fromTemplate],
  "extensions/v1beta1 Ingress": [ingress],
  "networking.k8s.io/v1beta1 Ingress": [ingress],
  "discovery.k8s.io/v1beta1 EndpointSlice": [endpointSlice],
  "flowcontrol.apiserver.k8s.io/v1alpha1 PriorityLevelConfiguration": [
    priorityLevel,
  ],
  "flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration": [
    priorityLevel,
  ],
  "flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration": [
    priorityLevel,
  ],
  "certificates.k8s.io/v1beta1 CertificateSigningRequest": [signingRequest],
  "admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration": [
    webhooks,
  ],
  "admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration": [
    webhooks,
  ],
};

/** Changes the object, which was just read. */
export function upgradeLegacy(object: AnyObject): void {
  for (const upgrade of upgrades[`${object.apiVersion} ${object.kind}`] ?? [])
    upgrade(object);
}
