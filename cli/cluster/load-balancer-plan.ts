// What the load balancer controller of a cluster is to do, out of the options. A problem with them is a UsageError.
import type { ControllerOptions } from "../../controllers/options.ts";
import { overlap, parseRange } from "../../api/addresses/address-range.ts";
import { addressKind } from "../../api/address-kind.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";

export type LoadBalancerPlan = ControllerOptions["loadBalancer"];

const optionName = "load-balancer-cidr";

/** Ranges of --load-balancer-cidr: of addresses that can be others' and are neither pods' nor Services'. */
function poolRanges(values: OptionValues): readonly string[] {
  const ranges = values.list(optionName);
  for (const text of ranges) {
    const refuse = (reason: string): never => {
      throw new UsageError(
        `invalid argument "${text}" for "--${optionName}": ${reason}`,
      );
    };
    const range = parseRange(text);
    if (!range) return refuse("must be a range such as 192.0.2.0/28");
    if (addressKind(text.split("/")[0]!) !== "outside")
      return refuse("must be of addresses that mean the same everywhere");
    for (const other of ["cluster-cidr", "service-cluster-ip-range"])
      for (const each of values.list(other)) {
        const taken = parseRange(each);
        if (taken && overlap(range, taken))
          return refuse(`overlaps with --${other} ${each}`);
      }
  }
  return ranges;
}

/**
 * Undefined: there is no controller, because of --disable, or because there is neither a pool nor a node.
 * @param reservedPorts of this program on a node, 0 for none; undefined: there are no nodes with addresses
 */
export function loadBalancerPlan(
  values: OptionValues,
  reservedPorts: readonly number[] | undefined,
): LoadBalancerPlan {
  const ranges = poolRanges(values);
  if (values.list("disable").includes("load-balancer")) return undefined;
  if (ranges.length === 0 && !reservedPorts) return undefined;
  return { ranges, reservedPorts: reservedPorts ?? [] };
}
