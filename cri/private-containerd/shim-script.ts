// A small shell script in front of containerd's shim binary, on the PATH of a private containerd alone. containerd 1.6 and
// 1.7 run that binary three times where little or nothing is left to do for it: to start a sandbox's shim, which is the same
// binary once more; for each further container of a pod, to learn the address of the shim that the pod has; and after each
// task that was removed in good order, to remove it once more (which runs runc or crun, too). The script answers all three,
// the first by a smaller program (`shim-starter.ts`), and hands everything else on. Newer versions of containerd do not ask
// for the last two, and their shims answer the first in another form: there the shim starts itself.
// Invariant: where anything is not as it is expected, the real shim is run with the same arguments.
import { execFile } from "node:child_process";
import { uptime } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../directories.ts";
import { hostArchitecture } from "../machine-code/architecture.ts";
import { findProgram } from "../process.ts";
import { installProgram, shellQuoted } from "../program-file.ts";
import { shimStarter } from "./shim-starter.ts";

/** As containerd derives it from the runtime type io.containerd.runc.v2. */
export const shimName = "containerd-shim-runc-v2";
/** Where the shim has runc or crun keep their state when its options name no other directory. */
export const ociStateDirectory = "/run/containerd/runc";
/** Where shims have their sockets, wherever their containerd has its own. */
const shimSocketDirectory = "/run/containerd/s";
const versionTimeoutMs = 5_000;

interface ShimScriptSettings {
  shim: string;
  /** The program that starts it; undefined: it starts itself. */
  starter?: string | undefined;
  /** Replaced in tests. */
  stateDirectory?: string;
  socketDirectory?: string;
}

/**
 * The script. It runs in the directory of the task's bundle. `start` prints the shim's address and leaves it in the bundle;
 * when memory runs out, a new shim's score is one above its containerd's, as it arranges by itself otherwise.
 * `delete` prints a DeleteResponse (exit_status 137, exited_at now), as the shim does; the time is counted from the
 * machine's start, as `date` would be one more program for each task.
 */
export function shimScript({
  shim,
  starter = "",
  stateDirectory = ociStateDirectory,
  socketDirectory = shimSocketDirectory,
}: ShimScriptSettings): string {
  // Rounded up: with the whole seconds since then it is never in the past.
  const bootSeconds = Math.ceil(Date.now() / 1000 - uptime());
  return `#!/bin/sh
# Written by orbit at every start; changes are lost.
shim=${shellQuoted(shim)}
starter=${shellQuoted(starter)}
state=${shellQuoted(stateDirectory)}
sockets=${shellQuoted(socketDirectory)}
boot=${bootSeconds}
id= namespace= containerd= previous= action=
for word; do
  case $previous in
  -id) id=$word ;;
  -namespace) namespace=$word ;;
  -address) containerd=$word ;;
  esac
  [ "$word" != -debug ] || starter=
  previous=$word action=$word
done
case $action in
check) exit 0 ;;
start)
  # A sandbox has no other's shim; containerd has made its directory by now.
  if [ -d "../../../io.containerd.grpc.v1.cri/sandboxes/$id" ]; then
    socket=$sockets/$id score=
    if [ -n "$starter" ] && {
      read -r score <"/proc/$PPID/oom_score_adj" && echo $((score + 1)) >"/proc/$$/oom_score_adj" &&
        printf %s "unix://$socket" >address
    } 2>/dev/null &&
      GOMAXPROCS=2 "$starter" "$socket" "$shim" -namespace "$namespace" -id "$id" -address "$containerd" \\
        </dev/null >/dev/null 2>&1; then
      printf %s "unix://$socket"
      exit 0
    fi
    exec "$shim" "$@"
  fi
  sandbox=$(grep -o '"io.kubernetes.cri.sandbox-id":"[0-9a-f]*"' config.json 2>/dev/null)
  sandbox=\${sandbox#*:\\"} sandbox=\${sandbox%\\"}
  case $sandbox in
  "$id" | *[!0-9a-f]* | "") ;;
  *)
    address=
    [ ! -r "../$sandbox/address" ] || read -r address <"../$sandbox/address" || :
    case $address in
    unix:///*)
      if [ -S "\${address#unix://}" ] && printf %s "$address" >address; then
        printf %s "$address"
        exit 0
      fi
      ;;
    esac
    ;;
  esac
  ;;
delete)
  if [ -n "$id" ] && [ -n "$namespace" ] && [ -d "$state" ] && [ ! -e "$state/$namespace/$id" ]; then
    set -- rootfs/* rootfs/.[!.]* "$@"
    if [ "$1" = 'rootfs/*' ] && [ "$2" = 'rootfs/.[!.]*' ] && read -r up rest </proc/uptime; then
      # A number of five bytes, each as the escape of its octal digits.
      rest=$((boot + \${up%%.*})) more=128 text=
      for byte in 1 2 3 4 5; do
        [ $byte -lt 5 ] || more=0
        digit=$((rest & 127 | more)) rest=$((rest >> 7))
        text="$text\\0$((digit >> 6))$((digit >> 3 & 7))$((digit & 7))"
      done
      printf '\\020\\211\\001\\032\\006\\010%b' "$text"
      exit 0
    fi
    shift 2
  fi
  ;;
esac
exec "$shim" "$@"
`;
}

/** Resolves to its path; undefined where it can't run, or where its address is not all that the shim answers. */
async function installStarter(
  directory: string,
  shim: string,
): Promise<string | undefined> {
  const starter = join(directory, "shim-starter");
  try {
    const options = { timeout: versionTimeoutMs };
    const { stdout } = await promisify(execFile)(shim, ["-v"], options);
    if (!/^\s*Version:\s*v?1\.[67]\./m.test(stdout)) return undefined;
    const program = shimStarter(hostArchitecture());
    return (await installProgram(starter, program)) ? starter : undefined;
  } catch {
    // The shim does not run so, or there is no such program for the processor.
    return undefined;
  }
}

/**
 * Writes the script below the directory. Resolves to the directory that has to come first on containerd's PATH; undefined
 * where there is no such shim or the script can't run there (a file system without programs).
 * @param searchPath where the shim is looked for; default: this process's PATH
 */
export async function installShimScript(
  directory: string,
  searchPath?: string,
): Promise<string | undefined> {
  const shim = await findProgram(shimName, searchPath);
  if (shim === undefined) return undefined;
  try {
    await makeDirectory(directory, 0o700);
  } catch {
    return undefined;
  }
  const written = await installProgram(
    join(directory, shimName),
    shimScript({ shim, starter: await installStarter(directory, shim) }),
  );
  return written ? directory : undefined;
}
