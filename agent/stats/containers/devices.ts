// Block devices and network interfaces as the kernel names them.
import { readFile, readlink, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { DeviceCounts, InterfaceFigures } from "../../../api/contracts.ts";

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

/** @param device `/dev/vda` @param table /proc/diskstats; undefined: the device is not in it */
export function deviceCounts(
  device: string,
  table: string,
): DeviceCounts | undefined {
  const name = basename(device);
  const row = table
    .split("\n")
    .map((line) => line.trim().split(/ +/))
    .find((fields) => fields[2] === name && fields.length >= 14);
  if (!row) return undefined;
  const count = (index: number): number => Number(row[index]);
  const seconds = (index: number): number => count(index) / 1000;
  return {
    reads: count(3),
    readsMerged: count(4),
    sectorsRead: count(5),
    readSeconds: seconds(6),
    writes: count(7),
    writesMerged: count(8),
    sectorsWritten: count(9),
    writeSeconds: seconds(10),
    inProgress: count(11),
    ioSeconds: seconds(12),
    weightedIoSeconds: seconds(13),
  };
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

/** Ends of pods' networks and bridges of other programs, which the reference does not count to the machine's. */
const notOfMachine = /^(?:veth|docker|nerdctl)/i;

/** Without those that belong to containers. */
export function machineInterfaces(
  all: readonly InterfaceFigures[],
): InterfaceFigures[] {
  return all.filter(({ name }) => !notOfMachine.test(name));
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
