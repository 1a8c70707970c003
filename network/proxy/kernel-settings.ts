// What the kernel must be set to for the service rules: it forwards, and node ports answer on loopback. Packets for
// loopback addresses that come from outside are dropped by a rule of the table, which the second setting would let in.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";

const settings: readonly (readonly [file: string, value: string])[] = [
  ["/proc/sys/net/ipv4/ip_forward", "1"],
  ["/proc/sys/net/ipv4/conf/all/route_localnet", "1"],
];

/** Rejects when a setting can't be written. @param wrapper as the proxy's */
export async function applyKernelSettings(
  wrapper: readonly string[] = [],
): Promise<void> {
  const [program, ...leading] = wrapper;
  for (const [file, value] of settings)
    if (program === undefined) await writeFile(file, value);
    else
      await new Promise<void>((resolve, reject) => {
        execFile(
          program,
          [...leading, "sh", "-c", `echo ${value} > ${file}`],
          (error) => (error ? reject(error) : resolve()),
        );
      });
}
