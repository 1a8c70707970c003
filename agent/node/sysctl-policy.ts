// Which sysctls a pod may set: the safe ones, those the node's owner allows (names, or prefixes ending in `*`), and none
// that would reach the host because the pod shares its network or its IPC.
import type { Pod } from "../../api/types/core-v1.ts";
import { sysctlName } from "../pods/shape/sysctl-name.ts";

const safe = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.tcp_wmem",
];
/** What the kernel keeps for each network or IPC namespace: these, and all below the trees. */
const namespacedNames = new Set([
  "kernel.msg",
  "kernel.msgmax",
  "kernel.msgmnb",
  "kernel.msgmni",
  "kernel.sem",
  "kernel.shm",
  "kernel.shm_rmid_forced",
  "kernel.shmall",
  "kernel.shmmax",
  "kernel.shmmni",
]);
const namespacedTrees = ["fs.mqueue.", "net."];

const isSegment = (text: string): boolean =>
  /^[-_a-z0-9]+$/.test(text) && !/^[-_]|[-_]$/.test(text);

/** It may be the beginning of a segment. */
const lastOfPattern = /^(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

/** Why a name or a prefix ending in `*` can't be allowed to pods. */
export function sysctlPatternProblem(text: string): string | undefined {
  const where = "allowedUnsafeSysctls (--allowed-unsafe-sysctls)";
  const segments = text.split(/[./]/);
  const last = segments.pop()!;
  const isPattern = segments.every(isSegment) && lastOfPattern.test(last);
  if (text.length > 253 || !isPattern)
    return `${where}: ${JSON.stringify(text)} must be the name of a sysctl of at most 253 characters, or a prefix of names ending in *`;
  const name = sysctlName(text).replace(/\*$/, "");
  return namespacedNames.has(name) ||
    namespacedTrees.some((tree) => name.startsWith(tree))
    ? undefined
    : `${where}: the sysctls ${JSON.stringify(name)} are not known to be namespaced`;
}

const ipcNames = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."];

/** Why the pod can't be taken; undefined: all its sysctls are allowed. */
export function sysctlRefusal(
  { spec }: Pod,
  allowedUnsafe: readonly string[],
): { reason: string; message: string } | undefined {
  const allowed = [...safe, ...allowedUnsafe].map(sysctlName);
  for (const sysctl of spec.securityContext?.sysctls ?? []) {
    const name = sysctlName(sysctl.name);
    const forbid = (why: string): { reason: string; message: string } => ({
      reason: "SysctlForbidden",
      message: `forbidden sysctl: ${JSON.stringify(name)} ${why}`,
    });
    const matches = (pattern: string): boolean =>
      pattern.endsWith("*")
        ? name.startsWith(pattern.slice(0, -1))
        : name === pattern;
    if (!allowed.some(matches)) return forbid("not allowlisted");
    if (spec.hostNetwork && name.startsWith("net."))
      return forbid("not allowed with host Net enabled");
    if (spec.hostIPC && ipcNames.some((prefix) => name.startsWith(prefix)))
      return forbid("not allowed with host IPC enabled");
  }
  return undefined;
}
