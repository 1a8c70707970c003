// The plug-in `loopback` of a private containerd, which containerd runs for every pod: a script that only answers, where the
// machine's is a program that takes five times its CPU. The pod's own plug-in (`pair-script.ts`) sets the link `lo` up with
// the other one.
// Invariant: while the runtime may use another configuration than that plug-in's, the machine's loopback does the work. It
// stays beside the script under another name.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { replaceLink } from "./plugin-links.ts";
import { installProgram, shellQuoted } from "../program-file.ts";

const pluginName = "loopback";
const scriptName = "orbit-loopback";
/** The machine's plug-in while the script has its place. */
export const machineLoopbackName = "machine-loopback";

/**
 * ADD reports the link as the machine's plug-in does, unless another configuration has come, which the runtime takes at once;
 * DEL has nothing to do, as the link goes with its namespace.
 */
const scriptText = (configuration: string): string => String.raw`#!/bin/sh
# Written by orbit with the network's configuration; changes are lost.
ours=${shellQuoted(configuration)}
[ "$1" = check ] && exit 0
machine() {
  exec "${"$"}{0%/*}/${machineLoopbackName}"
}
case $CNI_COMMAND in
ADD)
  [ -e "$ours" ] || machine
  for file in "${"$"}{ours%/*}"/*.conf "${"$"}{ours%/*}"/*.conflist "${"$"}{ours%/*}"/*.json; do
    [ "$file" = "$ours" ] || [ ! -e "$file" ] || machine
  done
  printf '{"cniVersion":"0.3.1","interfaces":[{"name":"lo","mac":"00:00:00:00:00:00","sandbox":"%s"}],"ips":[{"version":"4","interface":0,"address":"127.0.0.1/8"}],"dns":{}}' "$CNI_NETNS"
  ;;
DEL) ;;
*) machine ;;
esac
`;

/**
 * Puts the script in the place of a link to the machine's plug-in. It leaves a directory alone whose plug-in is no link, or
 * where no script can run: the link `lo` is then set up twice. `configuration` is the file that names the pair plug-in.
 */
export async function installLoopbackScript(
  directory: string,
  configuration: string,
): Promise<void> {
  const plugin = join(directory, pluginName);
  const text = scriptText(configuration);
  try {
    const target = await fs.readlink(plugin);
    if (target !== scriptName)
      await replaceLink(target, join(directory, machineLoopbackName));
    if (await installProgram(join(directory, scriptName), text))
      await replaceLink(scriptName, plugin);
  } catch {
    // The machine's plug-in stays in its place.
  }
}

/** Puts the machine's plug-in back, for pods whose own plug-in does not set `lo` up. */
export async function removeLoopbackScript(directory: string): Promise<void> {
  const plugin = join(directory, pluginName);
  const target = await fs.readlink(plugin).catch(() => undefined);
  if (target !== scriptName) return;
  await replaceLink(
    await fs.readlink(join(directory, machineLoopbackName)),
    plugin,
  );
}
