// Pods: QoS class and Pending at creation, the few fields of a spec that may change, graceful deletion, the fields that
// selectors may name. The subresources binding, eviction and ephemeralcontainers are in pod-subresources.ts, resize is in
// pod-resize.ts.
import { qosClass } from "../../../../api/objects/pod-qos.ts";
import { isPodTerminal } from "../../../../api/objects/pod-state.ts";
import { formatTime } from "../../../../api/clock.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type { DeleteOptions } from "../../../../api/types/meta-v1.ts";
import type { ResourceStrategy } from "../../strategy.ts";
import { strategyOf, typed } from "../../typed.ts";
import {
  appArmorAnnotation,
  appArmorPrefix,
  appArmorProfileOf,
} from "./pod-annotations.ts";
import {
  defaultPodFeatures,
  dropClaimStatuses,
  dropDisabledFields,
  dropDisabledStatus,
  type PodFeatures,
} from "./pod-disabled-fields.ts";
import { resizePart } from "./pod-resize.ts";
import { containersOf } from "./pod-security-validation.ts";
import {
  validatePodStatus,
  validatePodUpdate,
} from "./pod-update-validation.ts";
import { validatePod, validatePodCreate } from "./pod-validation.ts";
import { podRow, podRowReads } from "./pod-status-text.ts";
import { nameWarnings } from "../template-warnings.ts";
import { appArmorWarning, podWarnings } from "./pod-warnings.ts";
import { podSubresources } from "./pod-subresources.ts";

/** The old annotations of AppArmor set the fields that replaced them, with a warning, and the fields set annotations. */
function joinAppArmor(pod: Pod, warn: (text: string) => void): void {
  for (const [, container] of containersOf("spec", pod.spec)) {
    const key = `${appArmorPrefix}${container.name}`;
    const value = pod.metadata.annotations?.[key];
    const context = container.securityContext;
    const own = context?.appArmorProfile;
    if (value !== undefined) {
      if (own) continue;
      warn(appArmorWarning("", container.name));
      const profile = appArmorProfileOf(value);
      if (profile)
        container.securityContext = { ...context, appArmorProfile: profile };
      continue;
    }
    const profile = own ?? pod.spec.securityContext?.appArmorProfile;
    const shown = profile && appArmorAnnotation(profile);
    if (shown)
      pod.metadata.annotations = { ...pod.metadata.annotations, [key]: shown };
  }
}

/** Terms that ask for the pod's own values of some labels: the values are written into their selectors. */
function selectByOwnLabels(pod: Pod): void {
  const own = pod.metadata.labels ?? {};
  const terms = (["podAffinity", "podAntiAffinity"] as const).flatMap(
    (kind) => {
      const affinity = pod.spec.affinity?.[kind];
      return [
        ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
        ...(
          affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
        ).map(({ podAffinityTerm }) => podAffinityTerm),
      ];
    },
  );
  for (const term of terms) {
    const selector = term?.labelSelector;
    if (!selector) continue;
    const keys = [
      ["In", term.matchLabelKeys],
      ["NotIn", term.mismatchLabelKeys],
    ] as const;
    for (const [operator, list] of keys)
      for (const key of list ?? [])
        if (own[key] !== undefined)
          (selector.matchExpressions ??= []).push({
            key,
            operator,
            values: [own[key]],
          });
  }
}

/** The reference writes a time that was never set as null. */
const noProbe = typed<{ lastProbeTime: string }>({ lastProbeTime: null });

function graceSeconds(pod: Readonly<Pod>, options: DeleteOptions): number {
  const asked =
    options.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  if (!pod.spec.nodeName || isPodTerminal(pod)) return 0;
  const seconds = asked < 0 ? 1 : asked;
  const set = pod.metadata.deletionTimestamp
    ? pod.metadata.deletionGracePeriodSeconds
    : undefined;
  return set === undefined || set === null ? seconds : Math.min(seconds, set);
}

/** What no gate changes. */
const rules: ResourceStrategy<Pod> = {
  returnsDeleted: true,
  // Pods of this version have no generation.
  countsGeneration: false,
  preparesWhole: true,
  setDefaults(pod) {
    pod.spec ??= { containers: [] };
    pod.spec.containers ??= [];
    // Each pair is one value under an old and a new name; the new one wins, for the address the old one.
    const account = pod.spec.serviceAccountName || pod.spec.serviceAccount;
    if (account)
      pod.spec.serviceAccountName = pod.spec.serviceAccount = account;
    if (!pod.status) return;
    if (pod.status.podIP && pod.status.podIPs?.[0]?.ip !== pod.status.podIP) {
      pod.status.podIPs = [{ ip: pod.status.podIP }];
    } else if (!pod.status.podIP && pod.status.podIPs?.[0])
      pod.status.podIP = pod.status.podIPs[0].ip;
  },
  validate: (object) => validatePod(object),
  /** Not of updates, which are many and by programs mostly. */
  *warnings(object, old) {
    if (old) return;
    yield* nameWarnings(object, old, "the Pod's hostname");
    yield* podWarnings("", object.spec, object.metadata as Pod["metadata"]);
  },
  validateCreate: (object) => validatePodCreate(object),
  validateUpdate: (object, old) => validatePodUpdate(object, old),
  graceSeconds,
  selectableFields(object) {
    const { spec, status } = object;
    return {
      "spec.nodeName": spec.nodeName ?? "",
      "spec.restartPolicy": spec.restartPolicy ?? "",
      "spec.schedulerName": spec.schedulerName ?? "",
      "spec.serviceAccountName": spec.serviceAccountName ?? "",
      "spec.hostNetwork": spec.hostNetwork ? "true" : "false",
      "status.phase": status?.phase ?? "",
      "status.podIP": status?.podIP ?? "",
      "status.podIPs": (status?.podIPs ?? []).map(({ ip }) => ip).join(","),
      "status.nominatedNodeName": status?.nominatedNodeName ?? "",
    };
  },
  printRow: (object, now) => podRow(object, now),
  rowReads: podRowReads,
  subresources: podSubresources,
};

/** A negative grace counts as one second, in creates and updates. */
function atLeastOneSecond({ spec }: Pod): void {
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    spec.terminationGracePeriodSeconds = 1;
}

export const createPodStrategy = (
  features: PodFeatures = defaultPodFeatures,
): ResourceStrategy =>
  strategyOf<Pod>({
    ...rules,
    prepareForCreate(pod, context) {
      dropDisabledFields(pod.spec, features);
      atLeastOneSecond(pod);
      joinAppArmor(pod, (text) => context.warn(text));
      selectByOwnLabels(pod);
      pod.status = { phase: "Pending", qosClass: qosClass(pod) };
      if (pod.spec.schedulingGates?.length) {
        pod.status.conditions = [
          {
            type: "PodScheduled",
            status: "False",
            reason: "SchedulingGated",
            message: "Scheduling is blocked due to non-empty scheduling gates",
            ...noProbe,
            lastTransitionTime: formatTime(context.clock.now()),
          },
        ];
      }
    },
    prepareForUpdate(object, old) {
      atLeastOneSecond(object);
      object.status = { ...old.status };
      dropDisabledFields(object.spec, features, old.spec);
      dropDisabledStatus(object.status, features, old.spec);
    },
    status: {
      prepareForUpdate(pod, was) {
        pod.spec = { ...was.spec };
        if (was.metadata.ownerReferences)
          pod.metadata.ownerReferences = [...was.metadata.ownerReferences];
        else if (pod.metadata.ownerReferences)
          delete pod.metadata.ownerReferences;
        pod.status = { ...pod.status };
        pod.status.qosClass ??= was.status?.qosClass;
        dropClaimStatuses(pod.status, features, was.spec);
      },
      validateUpdate: (object, old) => validatePodStatus(object, old),
    },
    parts: { resize: resizePart(features) },
  });
