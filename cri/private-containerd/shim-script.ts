// A small shell script in front of containerd's shim binary, on the PATH of a private containerd alone. containerd 1.6 runs
// that binary twice where nothing is left to do for it: for each further container of a pod, to learn the address of the
// shim that the pod has, and after each task that was removed in good order, to remove it once more (which runs runc or crun, too).
// The script answers both by itself and hands everything else on. Newer versions of containerd ask neither.
// Invariant: where anything is not as it is expected, the real shim is run with the same arguments.
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { findProgram } from "../process.ts";
import { installScript, shellQuoted } from "../script-file.ts";

/** As containerd derives it from the runtime type io.containerd.runc.v2. */
export const shimName = "containerd-shim-runc-v2";
/** Where the shim has runc or crun keep their state when its options name no other directory. */
export const ociStateDirectory = "/run/containerd/runc";

/**
 * The script. It runs in the directory of the task's bundle. `start` prints the shim's address and leaves it in the bundle;
 * `delete` prints a DeleteResponse (exit_status 137, exited_at now), as the shim does.
 */
export function shimScript(
  shim: string,
  stateDirectory = ociStateDirectory,
): string {
  return `#!/bin/sh
# Written by orbit at every start; changes are lost.
shim=${shellQuoted(shim)}
state=${shellQuoted(stateDirectory)}
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
    if [ "$1" = 'rootfs/*' ] && [ "$2" = 'rootfs/.[!.]*' ]; then
      now=$(date +%s)
      printf '\\020\\211\\001\\032\\006\\010'
      printf "$(printf '\\\\%03o' $((now & 127 | 128)) $((now >> 7 & 127 | 128)) $((now >> 14 & 127 | 128)) $((now >> 21 & 127 | 128)) $((now >> 28 & 127)))"
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
  const written = await installScript(
    join(directory, shimName),
    shimScript(shim),
  );
  return written ? directory : undefined;
}
