// Facts about this machine for the Node object, read from /proc and /sys.
import { addressKind } from "../../api/address-kind.ts";
import { readFile, statfs } from "node:fs/promises";
import { BlockList, isIPv6 } from "node:net";
import { arch, cpus, release, type NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import type { NodeSystemInfo } from "../../api/types/core-v1.ts";
import { mostProcesses } from "../../eviction/process-limit.ts";
import {
  hugepageBytes,
  readHugepages,
} from "../resources/machine/hugepages.ts";
import { hostInterfaces } from "./host-interfaces.ts";

type IpFamily = "IPv4" | "IPv6";

export interface MachineCapacity {
  cpus: number;
  memoryBytes: number;
  /** File system of the agent's root directory. */
  storageBytes: number;
  /** "2Mi" → bytes. */
  hugepages: Record<string, number>;
  /** Processes that the kernel allows. */
  maxPids: number;
}

export async function machineCapacity(
  rootDirectory: string,
): Promise<MachineCapacity> {
  const [meminfo, storage] = await Promise.all([
    readFile("/proc/meminfo", "utf8"),
    nearestStatfs(rootDirectory),
  ]);
  return {
    cpus: cpus().length,
    memoryBytes:
      Number(/^MemTotal:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? 0) * 1024,
    storageBytes: storage,
    hugepages: hugepageBytes(readHugepages()),
    maxPids: mostProcesses() || 32_768,
  };
}

/** The directory may not be made yet: the file system of what it will be in. */
async function nearestStatfs(directory: string): Promise<number> {
  for (let path = directory; ; path = join(path, "..")) {
    try {
      const { blocks, bsize } = await statfs(path);
      return blocks * bsize;
    } catch (error) {
      if (path === "/") throw error;
    }
  }
}

export async function systemInfo(
  runtimeVersion: string,
  version: string,
): Promise<NodeSystemInfo> {
  const line = async (path: string): Promise<string> =>
    (await readFile(path, "utf8").catch(() => "")).trim();
  const [machineID, systemUUID, bootID, osRelease] = await Promise.all([
    line("/etc/machine-id"),
    line("/sys/class/dmi/id/product_uuid"),
    line("/proc/sys/kernel/random/boot_id"),
    line("/etc/os-release"),
  ]);
  return {
    machineID,
    systemUUID: systemUUID || machineID,
    bootID,
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?(.*?)"?$/m.exec(osRelease)?.[1] ?? "Linux",
    containerRuntimeVersion: runtimeVersion,
    kubeletVersion: version,
    kubeProxyVersion: version,
    operatingSystem: "linux",
    architecture: machineArchitecture(),
  };
}

export function machineArchitecture(): string {
  return arch() === "x64" ? "amd64" : arch();
}

/**
 * The address of the interface with the default route, else the first that is not a loopback's; where pods have addresses of
 * both families, one of each, that of the pods' first range first. Never one of the pods' ranges: every pod's interface on
 * the host has the gateway's address. Never a deprecated one either, nor one that is looked for on the link yet.
 */
export async function primaryAddresses(
  podRanges: readonly string[],
  preferred?: IpFamily,
): Promise<string[]> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const defaults = routes
    .split("\n")
    .slice(1)
    .map((text) => text.split("\t"))
    .filter(([, destination]) => destination === "00000000")
    .map(([name]) => name!);
  return choosePrimary(defaults, hostInterfaces(), podRanges, preferred);
}

/** `defaults`: names of the interfaces with a default route. @param preferred whose address goes first, where there is one */
export function choosePrimary(
  defaults: readonly string[],
  interfaces: NodeJS.Dict<readonly NetworkInterfaceInfo[]>,
  podRanges: readonly string[],
  preferred?: IpFamily,
): string[] {
  const ofPods = new BlockList();
  for (const range of podRanges) {
    const [base = "", bits = ""] = range.split("/");
    ofPods.addSubnet(base, Number(bits), isIPv6(base) ? "ipv6" : "ipv4");
  }
  const order = [...defaults, ...Object.keys(interfaces)];
  const first = (family: IpFamily): string[] => {
    for (const name of order) {
      const found = interfaces[name]?.find(
        (address) =>
          address.family === family &&
          !address.internal &&
          addressKind(address.address) === "outside" &&
          !ofPods.check(address.address, family === "IPv6" ? "ipv6" : "ipv4"),
      );
      if (found) return [found.address];
    }
    return [];
  };
  const families = [
    ...new Set(
      podRanges.map((range): IpFamily =>
        range.includes(":") ? "IPv6" : "IPv4",
      ),
    ),
  ];
  if (families.length > 1) {
    const both = families
      .sort((a, b) => Number(b === preferred) - Number(a === preferred))
      .flatMap(first);
    return both.length > 0 ? both : ["127.0.0.1"];
  }
  const order4 = [...first("IPv4"), ...first("IPv6")];
  const [one] = preferred ? [...first(preferred), ...order4] : order4;
  return [one ?? "127.0.0.1"];
}
