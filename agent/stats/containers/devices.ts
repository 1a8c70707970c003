// Block devices and network interfaces as the kernel names them.
import { readFile, readlink, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { InterfaceFigures } from "../../../api/contracts.ts";

/** `/dev/vda` of `254:0`; the numbers themselves for a device without a name. */
export async function deviceName(numbers: string): Promise<string> {
  const target = await readlink(`/sys/dev/block/${numbers}`).catch(() => "");
  return target === "" ? numbers : `/dev/${basename(target)}`;
}

/** The device that holds a path; "" when there is none. */
export async function deviceOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return "";
  // The kernel's encoding of 64 bits, as makedev(3) has it.
  const device = BigInt(found.dev);
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  return await deviceName(`${major}:${minor}`);
}

/** Of the network that a process is in, without loopbacks; undefined when it is gone. */
export async function interfacesOf(
  pid: number | "self",
): Promise<readonly InterfaceFigures[] | undefined> {
  const content = await readFile(`/proc/${pid}/net/dev`, "utf8").catch(
    () => undefined,
  );
  return content === undefined ? undefined : parseInterfaces(content);
}

/** The table of /proc/PID/net/dev. */
export function parseInterfaces(content: string): InterfaceFigures[] {
  return [...content.matchAll(/^ *([^:\s]+): *(.*)$/gm)]
    .filter(([, name]) => name !== "lo")
    .map(([, name, values]) => {
      const of = values!.trim().split(/ +/).map(Number);
      return {
        name: name!,
        rxBytes: of[0] ?? 0,
        rxPackets: of[1] ?? 0,
        rxErrors: of[2] ?? 0,
        rxDropped: of[3] ?? 0,
        txBytes: of[8] ?? 0,
        txPackets: of[9] ?? 0,
        txErrors: of[10] ?? 0,
        txDropped: of[11] ?? 0,
      };
    });
}
