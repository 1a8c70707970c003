// ResourceQuota: refuses objects that would take a namespace above its quotas. The usage is counted from the watch cache
// at the moment of the request, together with what this process has just let through but not yet stored; status.used is
// the quota controller's to keep.
import { saysPodLevelResources } from "../../../api/objects/pod-resources.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Pod, ResourceQuota } from "../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { requireCovering, type LimitedResource } from "./quota-limits.ts";
import { isResize, nameOf, refuse } from "./requests.ts";
import {
  addUsage,
  areEvents,
  usageBeyond,
  usageOf,
  type Usage,
} from "../../../api/objects/quota/usage.ts";
import { isInQuotaScope } from "../../../api/objects/quota/scope.ts";
import { typed } from "../../resources/typed.ts";

/** An admitted write is in the cache, or has failed, well within this. */
const RESERVATION_MS = 2_000;
const MAX_RESERVATIONS = 10_000;

/** What was let through and may not be stored yet. */
interface Reservation {
  readonly namespace: string;
  readonly resource: AdmissionAttributes["resource"];
  readonly name: string;
  readonly object: Readonly<AnyObject>;
  /** Of an update: the version that it changes, which is there until it is stored. */
  readonly version: string | undefined;
  /** All that is created takes, or what an update takes more. */
  readonly usage: Usage;
  readonly untilMs: number;
}

/** One for each server: it remembers what is under way. */
export function createResourceQuota(
  limited: readonly LimitedResource[] = [],
): AdmissionPlugin {
  let reservations: Reservation[] = [];
  return {
    name: "ResourceQuota",
    validate(attributes, context) {
      const { namespace, resource, object, oldObject } = attributes;
      if (
        namespace === "" ||
        !object ||
        areEvents(resource.group, resource.resource) ||
        !(isResize(attributes) || isCounted(attributes))
      )
        return;
      const { group, resource: plural } = resource;
      const quotas = typed<ResourceQuota[]>(
        context.list("", "resourcequotas", namespace),
      );
      const usageNow = (one: Readonly<AnyObject>): Usage =>
        usageOf(group, plural, one, context.clock.now());
      const concerned = quotas.filter((quota) =>
        isInQuotaScope(quota, plural, object),
      );
      for (const quota of concerned) checkSpecified(quota, attributes);
      const wanted = usageNow(object);
      const usage = oldObject
        ? usageBeyond(wanted, usageNow(oldObject))
        : wanted;
      // An update that takes no more passes, whatever there is by now.
      if (Object.keys(usage).length === 0) return;
      requireCovering(limited, quotas, attributes, context.clock.now());
      if (quotas.length === 0) return;
      const nowMs = context.clock.monotonic();
      const isHere = (one: Reservation): boolean =>
        one.namespace === namespace &&
        one.resource.group === group &&
        one.resource.resource === plural;
      // One that has been stored is counted there, and not any more when it is deleted.
      reservations = reservations
        .filter(
          (one) =>
            one.untilMs > nowMs && !(isHere(one) && isStored(one, context)),
        )
        .slice(-MAX_RESERVATIONS);
      const taken = [
        ...context
          .list(group, plural, namespace)
          .map((one) => ({ object: one, usage: usageNow(one) })),
        ...reservations.filter(isHere),
      ];
      for (const quota of concerned)
        checkQuota(quota, usage, taken, attributes);
      if (attributes.dryRun) return;
      reservations.push({
        ...{ namespace, resource, name: nameOf(attributes), object, usage },
        version: oldObject?.metadata.resourceVersion,
        untilMs: nowMs + RESERVATION_MS,
      });
    },
  };
}

function isCounted(attributes: AdmissionAttributes): boolean {
  return (
    attributes.subresource === "" &&
    (attributes.operation === "CREATE" || growsWithUpdate(attributes))
  );
}

/** An update of these may take more than the object took before. */
function growsWithUpdate({
  operation,
  resource,
}: AdmissionAttributes): boolean {
  return (
    operation === "UPDATE" &&
    resource.group === "" &&
    ["services", "persistentvolumeclaims"].includes(resource.resource)
  );
}

function isStored(
  { namespace, resource, name, version }: Reservation,
  context: StrategyContext,
): boolean {
  const { group, resource: plural } = resource;
  const stored = context.read(group, plural, namespace, name);
  return version === undefined
    ? stored !== undefined
    : stored?.metadata.resourceVersion !== version;
}

const hardOf = ({ spec }: ResourceQuota): Usage =>
  Object.fromEntries(
    Object.entries(spec?.hard ?? {}).map(([name, value]) => [
      name,
      String(value),
    ]),
  );

/** A pod has to say what it takes of cpu and memory where a quota bounds them. */
function checkSpecified(
  quota: ResourceQuota,
  attributes: AdmissionAttributes,
): void {
  const { group, resource } = attributes.resource;
  if (group !== "" || resource !== "pods") return;
  const missing = unspecified(hardOf(quota), typed<Pod>(attributes.object!));
  if (missing !== "")
    refuse(
      attributes,
      `failed quota: ${quota.metadata.name ?? ""}: must specify ${missing}`,
    );
}

function checkQuota(
  quota: ResourceQuota,
  /** What the request takes, or takes more than before. */
  wanted: Usage,
  taken: readonly { object: Readonly<AnyObject>; usage: Usage }[],
  attributes: AdmissionAttributes,
): void {
  const { resource } = attributes.resource;
  const hard = hardOf(quota);
  const counted = Object.keys(hard).filter(
    (name) =>
      wanted[name] !== undefined && compareQuantities(wanted[name], "0") > 0,
  );
  if (counted.length === 0) return;
  const used: Usage = {};
  for (const one of taken)
    if (isInQuotaScope(quota, resource, one.object)) addUsage(used, one.usage);
  const exceeded = counted.sort().filter((name) => {
    const total: Usage = { [name]: used[name] ?? "0" };
    addUsage(total, { [name]: wanted[name]! });
    return compareQuantities(total[name]!, hard[name]!) > 0;
  });
  if (exceeded.length === 0) return;
  const list = (values: Readonly<Usage>): string =>
    exceeded.map((name) => `${name}=${values[name] ?? "0"}`).join(",");
  refuse(
    attributes,
    `exceeded quota: ${quota.metadata.name ?? ""}, requested: ${list(wanted)}, used: ${list(used)}, limited: ${list(hard)}`,
  );
}

const COMPUTE = ["cpu", "memory"];

/** `cpu for: a,b; memory for: a`: containers that say nothing about what the quota bounds. */
function unspecified(hard: Readonly<Usage>, { spec }: Pod): string {
  const parts: string[] = [];
  // Then containers need not say anything.
  if (saysPodLevelResources(spec.resources)) return "";
  for (const name of Object.keys(hard).sort()) {
    const [, which = "requests", resource = ""] =
      /^(?:(requests|limits)\.)?(\w+)$/.exec(name) ?? [];
    if (!COMPUTE.includes(resource)) continue;
    const without = [...spec.containers, ...(spec.initContainers ?? [])].filter(
      ({ resources }) => {
        const given = (
          which === "limits" ? resources?.limits : resources?.requests
        ) as Usage | undefined;
        return given?.[resource] === undefined;
      },
    );
    const names = without.map((container) => container.name).sort();
    if (names.length > 0) parts.push(`${name} for: ${names.join(",")}`);
  }
  return parts.join("; ");
}
