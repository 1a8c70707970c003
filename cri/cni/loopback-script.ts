// The plug-in loopback of a private containerd, which runs it for every pod, to make and to remove it: a shell script that
// sets the link up by `ip` and has nothing to do for a namespace that containerd removes next. The plug-in itself takes
// twice its CPU.
// Invariant: for all that is not a namespace of containerd's own, and when `ip` fails, the machine's plug-in is run.
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { findProgram } from "../process.ts";
import { installScript, shellQuoted } from "../script-file.ts";

/** As containerd asks for it. */
export const loopbackPluginName = "loopback";

/** @param fallback absolute path of the machine's plug-in */
export function loopbackScript(fallback: string): string {
  return `#!/bin/sh
# Written by orbit at every start; changes are lost.
[ "$1" = check ] && exit 0
loopback=${shellQuoted(fallback)}
${scriptBody}`;
}

const scriptBody = String.raw`namespace=${"$"}{CNI_NETNS##*/}
case $namespace in cni-*[!0-9a-f-]* | cni-) exec "$loopback" ;; cni-*) ;; *) exec "$loopback" ;; esac
case $CNI_NETNS in "/run/netns/$namespace" | "/var/run/netns/$namespace") ;; *) exec "$loopback" ;; esac
case $CNI_COMMAND:$CNI_IFNAME in
ADD:lo)
  ip -n "$namespace" link set lo up 2>/dev/null || exec "$loopback"
  six=
  [ ! -e /proc/net/if_inet6 ] || six=',{"interface":0,"address":"::1/128"}'
  printf '{"cniVersion":"0.3.1","interfaces":[{"name":"lo","mac":"00:00:00:00:00:00","sandbox":"%s"}],"ips":[{"interface":0,"address":"127.0.0.1/8"}%s],"dns":{}}' "$CNI_NETNS" "$six"
  ;;
DEL:lo) ;;
*) exec "$loopback" ;;
esac
`;

/**
 * Writes the script into the directory, which it makes. Resolves to its path; undefined where it can't run, or where there is
 * no `ip` or no plug-in of the machine's for the rest.
 * @param machine the directory of the machine's plug-ins
 */
export async function installLoopbackScript(
  directory: string,
  machine: string,
): Promise<string | undefined> {
  const fallback = join(machine, loopbackPluginName);
  if (!(await findProgram("ip"))) return undefined;
  try {
    await access(fallback, constants.X_OK);
    await makeDirectory(directory, 0o700);
  } catch {
    return undefined;
  }
  const path = join(directory, "orbit-loopback");
  const written = await installScript(path, loopbackScript(fallback));
  return written ? path : undefined;
}
