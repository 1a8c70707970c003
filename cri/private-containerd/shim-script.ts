// A small shell script in front of containerd's shim binary, on the PATH of a private containerd alone. containerd 1.6 runs
// that binary twice where nothing is left to do for it: for each further container of a pod, to learn the address of the
// shim that the pod has, and after each task that was removed in good order, to remove it once more (which runs runc or crun, too).
// The script answers both by itself and hands everything else on. Newer versions of containerd ask neither.
// Invariant: where anything is not as it is expected, the real shim is run with the same arguments.
import { uptime } from "node:os";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { findProgram } from "../process.ts";
import { installProgram, shellQuoted } from "../program-file.ts";

/** As containerd derives it from the runtime type io.containerd.runc.v2. */
export const shimName = "containerd-shim-runc-v2";
/** Where the shim has runc or crun keep their state when its options name no other directory. */
export const ociStateDirectory = "/run/containerd/runc";

/**
 * The script. It runs in the directory of the task's bundle. `start` prints the shim's address and leaves it in the bundle;
 * `delete` prints a DeleteResponse (exit_status 137, exited_at now), as the shim does; the time is counted from the
 * machine's start, as `date` would be one more program for each task.
 */
export function shimScript(
  shim: string,
  stateDirectory = ociStateDirectory,
): string {
  // Rounded up: with the whole seconds since then it is never in the past.
  const bootSeconds = Math.ceil(Date.now() / 1000 - uptime());
  return `#!/bin/sh
# Written by orbit at every start; changes are lost.
shim=${shellQuoted(shim)}
state=${shellQuoted(stateDirectory)}
boot=${bootSeconds}
id= namespace= previous= action=
for word; do
  case $previous in
  -id) id=$word ;;
  -namespace) namespace=$word ;;
  esac
  previous=$word action=$word
done
case $action in
check) exit 0 ;;
start)
  # A sandbox has no other's shim; containerd has made its directory by now.
  [ ! -d "../../../io.containerd.grpc.v1.cri/sandboxes/$id" ] || exec "$shim" "$@"
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

/**
 * Writes the script below the directory. Resolves to the directory that has to come first on containerd's PATH; undefined
 * where there is no such shim or the script can't run there (a file system without programs).
 */
export async function installShimScript(
  directory: string,
): Promise<string | undefined> {
  const shim = await findProgram(shimName);
  if (shim === undefined) return undefined;
  try {
    await makeDirectory(directory, 0o700);
  } catch {
    return undefined;
  }
  const written = await installProgram(
    join(directory, shimName),
    shimScript(shim),
  );
  return written ? directory : undefined;
}
