// What the controller that gives nodes their ranges of pod addresses is to do, out of the controllers' options. A problem
// with them is a UsageError. Source of the limits: the reference's node IPAM controller.
import type { ControllerOptions } from "../../../controllers/options.ts";
import { familyOf, parseRange } from "../../../api/addresses/address-range.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";

export type NodeIpamPlan = NonNullable<ControllerOptions["nodeIpam"]>;

/** Bits by which a cluster's range may be larger than a node's part: more parts can't be kept. */
const maxPartBits = 16;

function refuse(option: string, text: string, reason: string): never {
  throw new UsageError(
    `invalid argument "${text}" for "--${option}": ${reason}`,
  );
}

/** The option that sets a family's prefix length, and the length. */
function nodeBits(
  values: OptionValues,
  family: "IPv4" | "IPv6",
  dualStack: boolean,
  clusterBits: number,
): { option: string; bits: number } {
  const single = "node-cidr-mask-size";
  const own = `${single}-${family.toLowerCase()}`;
  if (dualStack && values.isSet(single))
    throw new UsageError(
      `--${single} can't be used with --cluster-cidr of both families: use --${single}-ipv4 and --${single}-ipv6`,
    );
  const option = !dualStack && values.isSet(single) ? single : own;
  if (values.isSet(option)) return { option, bits: values.number(option) };
  // A range that is smaller than a node's usual part is one node's.
  return { option, bits: Math.max(values.number(own), clusterBits) };
}

/** @param values of the controllers @param clusterCidrs of --cluster-cidr */
export function nodeIpamPlan(
  values: OptionValues,
  clusterCidrs: readonly string[],
  serviceRanges: readonly string[],
): NodeIpamPlan {
  const families = clusterCidrs.map((text) => {
    if (!parseRange(text))
      return refuse(
        "cluster-cidr",
        text,
        "must be a range such as 10.42.0.0/16",
      );
    return familyOf(text.split("/")[0]!)!;
  });
  if (families.length > 2 || new Set(families).size !== families.length)
    throw new UsageError(
      "--cluster-cidr: one range, or one of each family, can be given",
    );
  for (const text of serviceRanges)
    if (!parseRange(text))
      refuse("service-cluster-ip-range", text, "must be a range");
  return {
    clusterRanges: clusterCidrs.map((cidr, n) => {
      const clusterBits = Number(cidr.split("/")[1]);
      const family = families[n]!;
      const { option, bits } = nodeBits(
        values,
        family,
        clusterCidrs.length > 1,
        clusterBits,
      );
      if (bits < clusterBits || bits > (family === "IPv4" ? 32 : 128))
        refuse(
          option,
          String(bits),
          `must be between the prefix length of --cluster-cidr ${cidr} and ${family === "IPv4" ? 32 : 128}`,
        );
      if (bits - clusterBits > maxPartBits)
        refuse(
          option,
          String(bits),
          `must be at most ${maxPartBits} more than the prefix length of --cluster-cidr ${cidr}`,
        );
      return { cidr, nodeBits: bits };
    }),
    serviceRanges,
  };
}

/** For `orbit controller-manager`: undefined without --allocate-node-cidrs. */
export function controllerManagerIpamPlan(
  values: OptionValues,
): NodeIpamPlan | undefined {
  if (!values.flag("allocate-node-cidrs")) return undefined;
  const type = values.text("cidr-allocator-type");
  if (type !== "RangeAllocator")
    refuse("cidr-allocator-type", type, "only RangeAllocator is built in");
  const clusterCidrs = values.list("cluster-cidr");
  if (clusterCidrs.length === 0)
    throw new UsageError("--allocate-node-cidrs needs --cluster-cidr");
  return nodeIpamPlan(
    values,
    clusterCidrs,
    values.list("service-cluster-ip-range"),
  );
}
