// The Pod Security Standards as data and small functions: what a pod's spec must not have at a level. Each check gives
// the reference's short form and its detail.
import { appArmorPrefix } from "../../resources/core/pod-annotations.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";

export type SecurityLevel = "privileged" | "baseline" | "restricted";

export interface Violation {
  /** e.g. privileged */
  readonly reason: string;
  /** e.g. container "a" must not set securityContext.privileged=true */
  readonly detail: string;
}

interface Named {
  readonly name: string;
  readonly container: Container;
}

type Check = (pod: Pod, containers: readonly Named[]) => Violation | undefined;

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

function plural(word: string, names: readonly string[]): string {
  return `${word}${names.length === 1 ? "" : "s"} ${quoted(names)}`;
}

function namesWhere(
  containers: readonly Named[],
  bad: (container: Container) => boolean,
): string[] {
  return containers
    .filter(({ container }) => bad(container))
    .map(({ name }) => name);
}

function containerViolation(
  containers: readonly Named[],
  reason: string,
  text: string,
  bad: (container: Container) => boolean,
): Violation | undefined {
  const names = namesWhere(containers, bad);
  return names.length > 0
    ? { reason, detail: `${plural("container", names)} must ${text}` }
    : undefined;
}

const BASELINE_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);
const SAFE_SYSCTLS = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
]);
const SAFE_SELINUX_TYPES = new Set([
  "",
  "container_t",
  "container_init_t",
  "container_kvm_t",
  "container_engine_t",
]);
const RESTRICTED_VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

const hostNamespaces: Check = ({ spec }) => {
  const set = [
    ...(spec.hostNetwork ? ["hostNetwork=true"] : []),
    ...(spec.hostPID ? ["hostPID=true"] : []),
    ...(spec.hostIPC ? ["hostIPC=true"] : []),
  ];
  return set.length > 0
    ? { reason: "host namespaces", detail: set.join(", ") }
    : undefined;
};

const privileged: Check = (_, containers) =>
  containerViolation(
    containers,
    "privileged",
    "not set securityContext.privileged=true",
    ({ securityContext }) => securityContext?.privileged === true,
  );

const capabilitiesBaseline: Check = (_, containers) => {
  const added = new Set<string>();
  const names = namesWhere(containers, ({ securityContext }) => {
    const extra = (securityContext?.capabilities?.add ?? []).filter(
      (name) => !BASELINE_CAPABILITIES.has(name),
    );
    for (const name of extra) added.add(name);
    return extra.length > 0;
  });
  if (names.length === 0) return undefined;
  return {
    reason: "non-default capabilities",
    detail: `${plural("container", names)} must not include ${quoted([...added].sort())} in securityContext.capabilities.add`,
  };
};

const hostPath: Check = ({ spec }) => {
  const names = (spec.volumes ?? [])
    .filter((volume) => volume.hostPath)
    .map(({ name }) => name);
  return names.length > 0
    ? { reason: "hostPath volumes", detail: plural("volume", names) }
    : undefined;
};

const hostPorts: Check = (_, containers) => {
  const ports = new Set<number>();
  const names = namesWhere(containers, (container) => {
    const used = (container.ports ?? []).flatMap(({ hostPort }) =>
      hostPort ? [hostPort] : [],
    );
    for (const port of used) ports.add(port);
    return used.length > 0;
  });
  if (names.length === 0) return undefined;
  const list = [...ports].sort((a, b) => a - b);
  return {
    reason: "hostPort",
    detail: `${plural("container", names)} ${names.length === 1 ? "uses" : "use"} hostPort${list.length === 1 ? "" : "s"} ${list.join(", ")}`,
  };
};

const seccompBaseline: Check = ({ spec }, containers) => {
  const parts: string[] = [];
  if (spec.securityContext?.seccompProfile?.type === "Unconfined")
    parts.push("pod");
  const names = namesWhere(
    containers,
    ({ securityContext }) =>
      securityContext?.seccompProfile?.type === "Unconfined",
  );
  if (names.length > 0) parts.push(plural("container", names));
  return parts.length > 0
    ? {
        reason: "seccompProfile",
        detail: `${parts.join(" and ")} must not set securityContext.seccompProfile.type to "Unconfined"`,
      }
    : undefined;
};

const procMount: Check = (_, containers) => {
  const names = namesWhere(
    containers,
    ({ securityContext }) =>
      securityContext?.procMount !== undefined &&
      securityContext.procMount !== "Default",
  );
  return names.length > 0
    ? {
        reason: "procMount",
        detail: `${plural("container", names)} must not set securityContext.procMount to "Unmasked"`,
      }
    : undefined;
};

const sysctls: Check = ({ spec }) => {
  const names = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !SAFE_SYSCTLS.has(name));
  return names.length > 0
    ? { reason: "forbidden sysctls", detail: names.join(", ") }
    : undefined;
};

const selinux: Check = ({ spec }, containers) => {
  const contexts = [
    spec.securityContext,
    ...containers.map(({ container }) => container.securityContext),
  ];
  const options = contexts.flatMap((context) =>
    context?.seLinuxOptions ? [context.seLinuxOptions] : [],
  );
  const types = options.flatMap(({ type }) =>
    SAFE_SELINUX_TYPES.has(type ?? "") ? [] : [type!],
  );
  const problems = [
    ...(types.length > 0 ? [`type ${quoted(types)}`] : []),
    ...(options.some(({ user }) => user) ? ["user may not be set"] : []),
    ...(options.some(({ role }) => role) ? ["role may not be set"] : []),
  ];
  return problems.length > 0
    ? {
        reason: "seLinuxOptions",
        detail: `pod set forbidden securityContext.seLinuxOptions: ${problems.join("; ")}`,
      }
    : undefined;
};

const appArmor: Check = ({ metadata, spec }, containers) => {
  const isBad = (type: string | undefined): boolean => type === "Unconfined";
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(
      ([key, value]) =>
        key.startsWith(appArmorPrefix) &&
        value !== "" &&
        value !== "runtime/default" &&
        !value.startsWith("localhost/"),
    )
    .sort();
  const pod = isBad(spec.securityContext?.appArmorProfile?.type);
  const names = namesWhere(containers, ({ securityContext }) =>
    isBad(securityContext?.appArmorProfile?.type),
  );
  const setters = [
    ...(pod ? ["pod"] : []),
    ...(names.length > 0 ? [plural("container", names)] : []),
    ...(annotations.length === 0
      ? []
      : [annotations.length === 1 ? "annotation" : "annotations"]),
  ];
  if (setters.length === 0) return undefined;
  const values = [
    ...(pod || names.length > 0 ? ['"Unconfined"'] : []),
    ...annotations.map(([key, value]) => `"${key}="${value}""`),
  ];
  return {
    reason: `forbidden AppArmor profile${values.length === 1 ? "" : "s"}`,
    detail: `${setters.join(" and ")} must not set AppArmor profile type to ${values.join(", ")}`,
  };
};

const allowPrivilegeEscalation: Check = (_, containers) =>
  containerViolation(
    containers,
    "allowPrivilegeEscalation != false",
    "set securityContext.allowPrivilegeEscalation=false",
    ({ securityContext }) =>
      securityContext?.allowPrivilegeEscalation !== false,
  );

const capabilitiesRestricted: Check = (_, containers) => {
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
          `${plural("container", missing)} must set securityContext.capabilities.drop=["ALL"]`,
        ]
      : []),
    ...(adding.length > 0
      ? [
          `${plural("container", adding)} must not include ${quoted([...added].sort())} in securityContext.capabilities.add`,
        ]
      : []),
  ];
  return parts.length > 0
    ? { reason: "unrestricted capabilities", detail: parts.join("; ") }
    : undefined;
};

const runAsNonRoot: Check = ({ spec }, containers) => {
  const pod = spec.securityContext?.runAsNonRoot;
  const wrong = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.runAsNonRoot === false,
  );
  const parts = [
    ...(pod === false ? ["pod"] : []),
    ...(wrong.length > 0 ? [plural("container", wrong)] : []),
  ];
  if (parts.length > 0) {
    return {
      reason: "runAsNonRoot != true",
      detail: `${parts.join(" and ")} must not set securityContext.runAsNonRoot=false`,
    };
  }
  if (pod === true) return undefined;
  const unset = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.runAsNonRoot !== true,
  );
  return unset.length > 0
    ? {
        reason: "runAsNonRoot != true",
        detail: `pod or ${plural("container", unset)} must set securityContext.runAsNonRoot=true`,
      }
    : undefined;
};

const runAsUser: Check = ({ spec }, containers) => {
  const names = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.runAsUser === 0,
  );
  const parts = [
    ...(spec.securityContext?.runAsUser === 0 ? ["pod"] : []),
    ...(names.length > 0 ? [plural("container", names)] : []),
  ];
  return parts.length > 0
    ? {
        reason: "runAsUser=0",
        detail: `${parts.join(" and ")} must not set runAsUser=0`,
      }
    : undefined;
};

const seccompRestricted: Check = ({ spec }, containers) => {
  const good = (type: string | undefined): boolean =>
    type === "RuntimeDefault" || type === "Localhost";
  const pod = spec.securityContext?.seccompProfile?.type;
  const bad = namesWhere(containers, ({ securityContext }) => {
    const own = securityContext?.seccompProfile?.type;
    return own ? !good(own) : !good(pod);
  });
  if (pod && !good(pod))
    return {
      reason: "seccompProfile",
      detail: `pod must not set securityContext.seccompProfile.type to "${pod}"`,
    };
  return bad.length > 0
    ? {
        reason: "seccompProfile",
        detail: `pod or ${plural("container", bad)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
      }
    : undefined;
};

const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).flatMap((volume) => {
    const types = Object.keys(volume).filter((key) => key !== "name");
    const type = types.find((key) => !RESTRICTED_VOLUMES.has(key));
    return type ? [{ name: volume.name, type }] : [];
  });
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => name);
  const types = [...new Set(bad.map(({ type }) => type))].sort();
  return {
    reason: "restricted volume types",
    detail: `${plural("volume", names)} ${names.length === 1 ? "uses" : "use"} restricted volume type${types.length === 1 ? "" : "s"} ${quoted(types)}`,
  };
};

const always: readonly Check[] = [
  appArmor,
  capabilitiesBaseline,
  hostNamespaces,
  hostPath,
  hostPorts,
  privileged,
  procMount,
  seccompBaseline,
  selinux,
  sysctls,
];

/** What the baseline asks for, where nothing stricter takes its place, then what is only asked of the restricted. */
const strict: readonly Check[] = [
  appArmor,
  hostNamespaces,
  hostPorts,
  privileged,
  procMount,
  selinux,
  sysctls,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
];

/** What the pod has that the level does not allow. */
export function podViolations(pod: Pod, level: SecurityLevel): Violation[] {
  if (level === "privileged") return [];
  const { spec } = pod;
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...((spec.ephemeralContainers ?? []) as unknown as Container[]),
  ].map((container) => ({ name: container.name, container }));
  const checks = level === "baseline" ? always : strict;
  return checks.flatMap((check) => check(pod, containers) ?? []);
}
