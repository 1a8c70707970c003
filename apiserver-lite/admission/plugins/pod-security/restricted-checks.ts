// The checks that only the restricted level makes: what a hardened pod must say of itself.
import { isGoodSeccomp, seccompProfile } from "./baseline-checks.ts";
import {
  exceptOnWindows,
  listed,
  namesWhere,
  quoted,
  settersOf,
  sorted,
  type Check,
} from "./check.ts";

const goodVolumes = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

export const allowPrivilegeEscalation: Check = (_, containers) => {
  const names = namesWhere(
    containers,
    ({ securityContext }) =>
      securityContext?.allowPrivilegeEscalation !== false,
  );
  return names.length > 0
    ? {
        reason: "allowPrivilegeEscalation != false",
        detail: `${listed("container", names)} must set securityContext.allowPrivilegeEscalation=false`,
      }
    : undefined;
};
export const allowPrivilegeEscalation25 = exceptOnWindows(
  allowPrivilegeEscalation,
);

export const droppedCapabilities: Check = (_, containers) => {
  const missing = namesWhere(
    containers,
    ({ securityContext }) =>
      !(securityContext?.capabilities?.drop ?? []).includes("ALL"),
  );
  const added = new Set<string>();
  const adding = namesWhere(containers, ({ securityContext }) => {
    const extra = (securityContext?.capabilities?.add ?? []).filter(
      (name) => name !== "NET_BIND_SERVICE",
    );
    for (const name of extra) added.add(name);
    return extra.length > 0;
  });
  const parts = [
    ...(missing.length > 0
      ? [
          `${listed("container", missing)} must set securityContext.capabilities.drop=["ALL"]`,
        ]
      : []),
    ...(adding.length > 0
      ? [
          `${listed("container", adding)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return parts.length > 0
    ? { reason: "unrestricted capabilities", detail: parts.join("; ") }
    : undefined;
};
export const droppedCapabilities25 = exceptOnWindows(droppedCapabilities);

export const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).flatMap((volume) => {
    const types = Object.keys(volume).filter((key) => key !== "name");
    const type = types.find((key) => !goodVolumes.has(key));
    return type ? [{ name: volume.name, type }] : [];
  });
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const types = sorted(bad.map(({ type }) => type));
  return {
    reason: "restricted volume types",
    detail: `${listed("volume", names)} ${names.length === 1 ? "uses" : "use"} ${listed("restricted volume type", types)}`,
  };
};

export const runAsNonRoot: Check = ({ spec }, containers) => {
  const reason = "runAsNonRoot != true";
  const pod = spec.securityContext?.runAsNonRoot;
  const setters = settersOf(
    pod === false,
    namesWhere(
      containers,
      ({ securityContext }) => securityContext?.runAsNonRoot === false,
    ),
  );
  if (setters.length > 0)
    return {
      reason,
      detail: `${setters.join(" and ")} must not set securityContext.runAsNonRoot=false`,
    };
  if (pod === true) return undefined;
  const unset = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.runAsNonRoot === undefined,
  );
  return unset.length > 0
    ? {
        reason,
        detail: `pod or ${listed("container", unset)} must set securityContext.runAsNonRoot=true`,
      }
    : undefined;
};

export const runAsUser: Check = ({ spec }, containers) => {
  const setters = settersOf(
    spec.securityContext?.runAsUser === 0,
    namesWhere(
      containers,
      ({ securityContext }) => securityContext?.runAsUser === 0,
    ),
  );
  return setters.length > 0
    ? {
        reason: "runAsUser=0",
        detail: `${setters.join(" and ")} must not set runAsUser=0`,
      }
    : undefined;
};

/** A profile must be set, by the pod or by each container. */
export const requiredSeccompProfile: Check = (pod, containers) => {
  const wrong = seccompProfile(pod, containers);
  if (wrong) return wrong;
  if (isGoodSeccomp(pod.spec.securityContext?.seccompProfile?.type))
    return undefined;
  const unset = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.seccompProfile === undefined,
  );
  return unset.length > 0
    ? {
        reason: "seccompProfile",
        detail: `pod or ${listed("container", unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      }
    : undefined;
};
export const requiredSeccompProfile25 = exceptOnWindows(requiredSeccompProfile);
