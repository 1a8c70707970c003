// A pod network that is a bridge (another program's configuration; ours routes) hides what its pods send each other from
// the rules for forwarded packets, unless the kernel is set to show it. Needs the program `ip` and the kernel's module
// br_netfilter, which few machines load by themselves.
import { execFile } from "node:child_process";
import { AddressRanges } from "../address-ranges.ts";
import { bridgeSettings, writeKernelSettings } from "../kernel-settings.ts";

interface BridgeOptions {
  /** Of the pods. */
  readonly podRanges: readonly string[];
  /** As nftCommand's. */
  readonly wrapper?: readonly string[];
}

interface Link {
  readonly ifname?: string;
  readonly addr_info?: readonly { readonly local?: string }[];
}

function bridges(wrapper: readonly string[] = []): Promise<Link[]> {
  const [program = "ip", ...leading] = [...wrapper, "ip"];
  return new Promise((resolve, reject) => {
    execFile(
      program,
      [...leading, "-j", "addr", "show", "type", "bridge"],
      (error, output) => {
        if (error) reject(error);
        else resolve(output.trim() ? (JSON.parse(output) as Link[]) : []);
      },
    );
  });
}

/** Where it can't be loaded and is not built in either, the settings can't be written: that is reported. */
function loadBridgeFilter(): Promise<void> {
  return new Promise((resolve) => {
    execFile("modprobe", ["br_netfilter"], () => resolve());
  });
}

/** Bridges with an address among the pods', which now pass what they carry to the rules. Rejects when that can't be set. */
export async function filterBridgedPods({
  podRanges,
  wrapper,
}: BridgeOptions): Promise<string[]> {
  const ranges = new AddressRanges(podRanges);
  const ofPods = (await bridges(wrapper)).filter(({ addr_info = [] }) =>
    addr_info.some(({ local = "" }) => ranges.contains(local)),
  );
  if (ofPods.length > 0) {
    await loadBridgeFilter();
    await writeKernelSettings(bridgeSettings, wrapper);
  }
  return ofPods.map(({ ifname = "" }) => ifname);
}
