// ResourceQuota: refuses objects that would take a namespace above its quotas. The usage is counted from the watch cache
// at the moment of the request, together with what this process has just let through but not yet stored; status.used is
// the quota controller's to keep.
import { errors } from "../../../api/errors.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Pod, ResourceQuota } from "../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { requireCovering, type LimitedResource } from "./quota-limits.ts";
import { nameOf } from "./requests.ts";
import {
  addUsage,
  isFinished,
  usageOf,
  type Usage,
} from "../../../api/objects/quota-usage.ts";
import { isInQuotaScope } from "../../../api/objects/quota-scope.ts";
import { typed } from "../../resources/typed.ts";

/** An admitted create is in the cache, or has failed, well within this. */
const RESERVATION_MS = 2_000;
const MAX_RESERVATIONS = 10_000;

interface Reservation {
  readonly namespace: string;
  readonly resource: AdmissionAttributes["resource"];
  readonly name: string;
  readonly object: Readonly<AnyObject>;
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
      const { namespace, resource, operation, subresource, object } =
        attributes;
      if (
        namespace === "" ||
        subresource !== "" ||
        !object ||
        (operation !== "CREATE" && !growsWithUpdate(attributes))
      )
        return;
      const quotas = typed<ResourceQuota[]>(
        context.list("", "resourcequotas", namespace),
      );
      requireCovering(limited, quotas, attributes);
      if (quotas.length === 0) return;
      const nowMs = context.clock.monotonic();
      const isHere = (one: Reservation): boolean =>
        one.namespace === namespace &&
        one.resource.group === resource.group &&
        one.resource.resource === resource.resource;
      // One that has been stored is counted there, and not any more when it is deleted.
      reservations = reservations
        .filter(
          (one) =>
            one.untilMs > nowMs && !(isHere(one) && isStored(one, context)),
        )
        .slice(-MAX_RESERVATIONS);
      const others = [
        ...context
          .list(resource.group, resource.resource, namespace)
          .filter(
            ({ metadata }) =>
              operation === "CREATE" || metadata.name !== object.metadata.name,
          ),
        ...reservations.filter(isHere).map(({ object }) => object),
      ];
      for (const quota of quotas) checkQuota(quota, object, others, attributes);
      if (attributes.dryRun || operation !== "CREATE") return;
      const reservation = {
        namespace,
        resource,
        name: nameOf(attributes),
        object,
      };
      reservations.push({ ...reservation, untilMs: nowMs + RESERVATION_MS });
    },
  };
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
  { namespace, resource, name }: Reservation,
  context: StrategyContext,
): boolean {
  const { group, resource: plural } = resource;
  return context.read(group, plural, namespace, name) !== undefined;
}

function checkQuota(
  quota: ResourceQuota,
  object: Readonly<AnyObject>,
  others: readonly Readonly<AnyObject>[],
  attributes: AdmissionAttributes,
): void {
  const { group, resource } = attributes.resource;
  if (!isInQuotaScope(quota, resource, object)) return;
  const hard = Object.fromEntries(
    Object.entries(quota.spec?.hard ?? {}).map(([key, value]) => [
      key,
      String(value),
    ]),
  );
  const wanted = usageOf(group, resource, object);
  const refuse = (why: string): never => {
    throw errors.forbidden(attributes.resource, nameOf(attributes), why);
  };
  if (resource === "pods" && group === "" && !attributes.oldObject) {
    const missing = unspecified(hard, typed<Pod>(object));
    if (missing !== "")
      refuse(
        `failed quota: ${quota.metadata.name ?? ""}: must specify ${missing}`,
      );
  }
  const had = attributes.oldObject
    ? usageOf(group, resource, attributes.oldObject)
    : {};
  const counted = Object.keys(hard).filter(
    (name) =>
      wanted[name] !== undefined &&
      compareQuantities(wanted[name], had[name] ?? "0") > 0,
  );
  if (counted.length === 0) return;
  const used: Usage = {};
  for (const other of others) {
    if (!isFinished(resource, other) && isInQuotaScope(quota, resource, other))
      addUsage(used, usageOf(group, resource, other));
  }
  const exceeded = counted.sort().filter((name) => {
    const total: Usage = { [name]: used[name] ?? "0" };
    addUsage(total, { [name]: wanted[name]! });
    return compareQuantities(total[name]!, hard[name]!) > 0;
  });
  if (exceeded.length === 0) return;
  const list = (values: Readonly<Usage>): string =>
    exceeded.map((name) => `${name}=${values[name] ?? "0"}`).join(",");
  refuse(
    `exceeded quota: ${quota.metadata.name ?? ""}, requested: ${list(wanted)}, used: ${list(used)}, limited: ${list(hard)}`,
  );
}

const COMPUTE = ["cpu", "memory"];

/** `cpu for: a,b; memory for: a`: containers that say nothing about what the quota bounds. */
function unspecified(hard: Readonly<Usage>, { spec }: Pod): string {
  const parts: string[] = [];
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
    if (without.length > 0)
      parts.push(
        `${name} for: ${without.map((container) => container.name).join(",")}`,
      );
  }
  return parts.join("; ");
}
