// The checks of the baseline level, in all their versions: what a pod must not do to leave its sandbox.
import { appArmorPrefix } from "../../../resources/core/pod/pod-annotations.ts";
import {
  listed,
  namesWhere,
  plural,
  quoted,
  settersOf,
  sorted,
  type Check,
} from "./check.ts";

const defaultCapabilities = new Set([
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
const sysctls0 = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];
const sysctls27 = [...sysctls0, "net.ipv4.ip_local_reserved_ports"];
const sysctls29 = [
  ...sysctls27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const sysctls32 = [...sysctls29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
const selinuxTypes0 = [
  "",
  "container_t",
  "container_init_t",
  "container_kvm_t",
];
const selinuxTypes31 = [...selinuxTypes0, "container_engine_t"];

export const appArmorProfile: Check = ({ metadata, spec }, containers) => {
  const good = new Set(["RuntimeDefault", "Localhost"]);
  const bad = (type: string | undefined): type is string =>
    type !== undefined && !good.has(type);
  const own = spec.securityContext?.appArmorProfile?.type;
  const types = containers.map(
    ({ container }) => container.securityContext?.appArmorProfile?.type,
  );
  const annotations = Object.entries(metadata?.annotations ?? {})
    .filter(
      ([key, value]) =>
        key.startsWith(appArmorPrefix) &&
        value !== "" &&
        value !== "runtime/default" &&
        !value.startsWith("localhost/"),
    )
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const names = namesWhere(containers, ({ securityContext }) =>
    bad(securityContext?.appArmorProfile?.type),
  );
  const setters = [
    ...settersOf(bad(own), names),
    ...(annotations.length > 0 ? [plural("annotation", annotations)] : []),
  ];
  if (setters.length === 0) return undefined;
  const values = [...sorted([own, ...types].filter(bad)), ...annotations];
  return {
    reason: plural("forbidden AppArmor profile", values),
    detail: `${setters.join(" and ")} must not set AppArmor profile type to ${values.map((value) => `"${value}"`).join(", ")}`,
  };
};

export const capabilities: Check = (_, containers) => {
  const extra = (names: readonly string[] | undefined): string[] =>
    (names ?? []).filter((name) => !defaultCapabilities.has(name));
  const names = namesWhere(
    containers,
    ({ securityContext }) =>
      extra(securityContext?.capabilities?.add).length > 0,
  );
  if (names.length === 0) return undefined;
  const added = containers.flatMap(({ container }) =>
    extra(container.securityContext?.capabilities?.add),
  );
  return {
    reason: "non-default capabilities",
    detail: `${listed("container", names)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: Check = ({ spec }) => {
  const set = [
    ...(spec.hostNetwork ? ["hostNetwork=true"] : []),
    ...(spec.hostPID ? ["hostPID=true"] : []),
    ...(spec.hostIPC ? ["hostIPC=true"] : []),
  ];
  return set.length > 0
    ? { reason: "host namespaces", detail: set.join(", ") }
    : undefined;
};

export const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? [])
    .filter((volume) => volume.hostPath)
    .map(({ name }) => name);
  return names.length > 0
    ? { reason: "hostPath volumes", detail: listed("volume", names) }
    : undefined;
};

export const hostPorts: Check = (_, containers) => {
  const ports = new Set<number>();
  const names = namesWhere(containers, (container) => {
    const used = (container.ports ?? []).flatMap(({ hostPort }) =>
      hostPort ? [hostPort] : [],
    );
    for (const port of used) ports.add(port);
    return used.length > 0;
  });
  if (names.length === 0) return undefined;
  const list = sorted([...ports].map(String));
  return {
    reason: "hostPort",
    detail: `${listed("container", names)} ${names.length === 1 ? "uses" : "use"} ${plural("hostPort", list)} ${list.join(", ")}`,
  };
};

export const privileged: Check = (_, containers) => {
  const names = namesWhere(
    containers,
    ({ securityContext }) => securityContext?.privileged === true,
  );
  return names.length > 0
    ? {
        reason: "privileged",
        detail: `${listed("container", names)} must not set securityContext.privileged=true`,
      }
    : undefined;
};

export const procMount: Check = (_, containers) => {
  const mounts = containers.flatMap(({ container }) => {
    const mount = container.securityContext?.procMount;
    return mount === undefined || mount === "Default"
      ? []
      : [{ name: container.name, mount }];
  });
  return mounts.length > 0
    ? {
        reason: "procMount",
        detail: `${listed(
          "container",
          mounts.map(({ name }) => name),
        )} must not set securityContext.procMount to ${quoted(sorted(mounts.map(({ mount }) => mount)))}`,
      }
    : undefined;
};

/** Of 1.0: the field was not there yet. */
export const seccompAnnotations: Check = ({ metadata }, containers) => {
  const keys = [
    "seccomp.security.alpha.kubernetes.io/pod",
    ...containers.map(
      ({ name }) => `container.seccomp.security.alpha.kubernetes.io/${name}`,
    ),
  ];
  const bad = keys.flatMap((key) => {
    const value = metadata?.annotations?.[key];
    const good =
      value === undefined ||
      value === "runtime/default" ||
      value === "docker/default" ||
      value.startsWith("localhost/");
    return good ? [] : [`${key}=${JSON.stringify(value)}`];
  });
  return bad.length > 0
    ? {
        reason: "seccompProfile",
        detail: `forbidden ${plural("annotation", bad)} ${sorted(bad).join(", ")}`,
      }
    : undefined;
};

export const isGoodSeccomp = (type: string | undefined): boolean =>
  type === "RuntimeDefault" || type === "Localhost";

/** A profile that is set to what it must not be. */
export const seccompProfile: Check = ({ spec }, containers) => {
  const bad = (profile: { type: string } | undefined): boolean =>
    profile !== undefined && !isGoodSeccomp(profile.type);
  const own = spec.securityContext?.seccompProfile;
  const names = namesWhere(containers, ({ securityContext }) =>
    bad(securityContext?.seccompProfile),
  );
  const setters = settersOf(bad(own), names);
  if (setters.length === 0) return undefined;
  const types = [
    own,
    ...containers.map(
      ({ container }) => container.securityContext?.seccompProfile,
    ),
  ].flatMap((profile) => (profile && bad(profile) ? [profile.type] : []));
  return {
    reason: "seccompProfile",
    detail: `${setters.join(" and ")} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}`,
  };
};

const selinuxOptions =
  (goodTypes: readonly string[]): Check =>
  ({ spec }, containers) => {
    const bad = (options: SelinuxOptions | undefined): boolean =>
      options !== undefined &&
      (!goodTypes.includes(options.type ?? "") ||
        Boolean(options.user) ||
        Boolean(options.role));
    const own = spec.securityContext?.seLinuxOptions;
    const names = namesWhere(containers, ({ securityContext }) =>
      bad(securityContext?.seLinuxOptions),
    );
    const setters = settersOf(bad(own), names);
    if (setters.length === 0) return undefined;
    const all = [
      own,
      ...containers.map(
        ({ container }) => container.securityContext?.seLinuxOptions,
      ),
    ];
    const types = all.flatMap((options) =>
      goodTypes.includes(options?.type ?? "") ? [] : [options!.type!],
    );
    const problems = [
      ...(types.length > 0
        ? [`${plural("type", sorted(types))} ${quoted(sorted(types))}`]
        : []),
      ...(all.some((options) => options?.user) ? ["user may not be set"] : []),
      ...(all.some((options) => options?.role) ? ["role may not be set"] : []),
    ];
    return {
      reason: "seLinuxOptions",
      detail: `${setters.join(" and ")} set forbidden securityContext.seLinuxOptions: ${problems.join("; ")}`,
    };
  };

interface SelinuxOptions {
  readonly type?: string;
  readonly user?: string;
  readonly role?: string;
}

export const selinuxOptions0 = selinuxOptions(selinuxTypes0);
export const selinuxOptions31 = selinuxOptions(selinuxTypes31);

const sysctls =
  (safe: readonly string[]): Check =>
  ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !safe.includes(name));
    return names.length > 0
      ? { reason: "forbidden sysctls", detail: names.join(", ") }
      : undefined;
  };

/** By the version that allowed them. */
export const sysctlsSince = {
  0: sysctls(sysctls0),
  27: sysctls(sysctls27),
  29: sysctls(sysctls29),
  32: sysctls(sysctls32),
};

export const windowsHostProcess: Check = ({ spec }, containers) => {
  const setters = settersOf(
    spec.securityContext?.windowsOptions?.hostProcess === true,
    namesWhere(
      containers,
      ({ securityContext }) =>
        securityContext?.windowsOptions?.hostProcess === true,
    ),
  );
  return setters.length > 0
    ? {
        reason: "hostProcess",
        detail: `${setters.join(" and ")} must not set securityContext.windowsOptions.hostProcess=true`,
      }
    : undefined;
};
