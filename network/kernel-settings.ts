// Writes settings of the kernel in the node's network namespace.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";

type KernelSettings = readonly (readonly [file: string, value: string])[];

/**
 * What the service rules need: the node forwards, and node ports answer on loopback. Packets for loopback addresses that
 * come from outside are dropped by a rule of the table, which the second setting would let in.
 */
export const serviceSettings: KernelSettings = [
  ["/proc/sys/net/ipv4/ip_forward", "1"],
  ["/proc/sys/net/ipv4/conf/all/route_localnet", "1"],
];

/** What is bridged passes the rules for what is forwarded. */
export const bridgeSettings: KernelSettings = [
  ["/proc/sys/net/bridge/bridge-nf-call-iptables", "1"],
  ["/proc/sys/net/bridge/bridge-nf-call-ip6tables", "1"],
];

/** Called before a setting becomes another, with what it was. */
export type OnKernelSetting = (file: string, before: string) => void;

/**
 * Rejects when a setting can't be written. @param wrapper as nftCommand's
 * @param onChange of settings of this process's own namespace
 */
export async function writeKernelSettings(
  settings: KernelSettings,
  wrapper: readonly string[] = [],
  onChange: OnKernelSetting = () => undefined,
): Promise<void> {
  const [program, ...leading] = wrapper;
  for (const [file, value] of settings)
    if (program === undefined) {
      const before = (await readFile(file, "utf8")).trim();
      if (before === value) continue;
      onChange(file, before);
      await writeFile(file, value);
    } else
      await new Promise<void>((resolve, reject) => {
        execFile(
          program,
          [...leading, "sh", "-c", `echo ${value} > ${file}`],
          (error) => (error ? reject(error) : resolve()),
        );
      });
}
