// What is written into a claim's status for the devices it got: the devices, their configuration (the classes' first, then
// the claim's), and where they can be used. Pure.
import { sameJson } from "../../api/objects/json-equality.ts";
import type {
  NodeSelector,
  NodeSelectorRequirement,
} from "../../api/types/core-v1.ts";
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceRequest,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceSlice,
} from "../../api/types/resource-v1beta1.ts";

export interface TakenDevice {
  readonly slice: ResourceSlice;
  readonly result: DeviceRequestAllocationResult;
}

export function allocationResult(
  { spec }: ResourceClaim,
  taken: readonly TakenDevice[],
  classOf: (request: DeviceRequest) => DeviceClass | undefined,
): AllocationResult {
  const config: DeviceAllocationConfiguration[] = [];
  const ofClass = new Map<string, DeviceAllocationConfiguration[]>();
  for (const request of spec.devices?.requests ?? []) {
    const deviceClass = classOf(request);
    if (!deviceClass) continue;
    const { name } = deviceClass.metadata;
    const known = ofClass.get(name);
    for (const each of known ?? []) each.requests?.push(request.name);
    if (known) continue;
    const own = (deviceClass.spec.config ?? []).map((each) => ({
      source: "FromClass",
      requests: [request.name],
      ...each,
    }));
    ofClass.set(name, own);
    config.push(...own);
  }
  for (const { requests, ...each } of spec.devices?.config ?? [])
    config.push({
      source: "FromClaim",
      ...(requests ? { requests: [...requests] } : {}),
      ...each,
    });
  const nodeSelector = nodeSelectorOf(taken);
  return {
    devices: {
      ...(taken.length > 0
        ? { results: taken.map(({ result }) => result) }
        : {}),
      ...(config.length > 0 ? { config } : {}),
    },
    ...(nodeSelector ? { nodeSelector } : {}),
  };
}

/** Undefined: on all nodes. */
function nodeSelectorOf(
  taken: readonly TakenDevice[],
): NodeSelector | undefined {
  const local = taken.find(({ slice }) => slice.spec.nodeName);
  if (local)
    return {
      nodeSelectorTerms: [
        {
          matchFields: [
            {
              key: "metadata.name",
              operator: "In",
              values: [local.slice.spec.nodeName ?? ""],
            },
          ],
        },
      ],
    };
  const fields: NodeSelectorRequirement[] = [];
  const expressions: NodeSelectorRequirement[] = [];
  const add = (
    to: NodeSelectorRequirement[],
    from: readonly NodeSelectorRequirement[] = [],
  ): void => {
    for (const requirement of from)
      if (!to.some((known) => isSame(known, requirement))) to.push(requirement);
  };
  for (const { slice } of taken) {
    const terms = slice.spec.nodeSelector?.nodeSelectorTerms ?? [];
    if (terms.length > 1)
      throw new Error(
        `unsupported ResourceSlice.NodeSelector with ${terms.length} terms`,
      );
    add(fields, terms[0]?.matchFields);
    add(expressions, terms[0]?.matchExpressions);
  }
  if (fields.length + expressions.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {
        ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
        ...(fields.length > 0 ? { matchFields: fields } : {}),
      },
    ],
  };
}

function isSame(
  a: NodeSelectorRequirement,
  b: NodeSelectorRequirement,
): boolean {
  const sorted = ({ values = [] }: NodeSelectorRequirement): string[] =>
    [...values].sort();
  return (
    a.key === b.key &&
    a.operator === b.operator &&
    sameJson(sorted(a), sorted(b))
  );
}
