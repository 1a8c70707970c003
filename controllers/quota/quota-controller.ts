// Keeps status.hard and status.used of ResourceQuotas. Admission counts for itself, so what is written here is a report:
// it may lag behind by the moment that bursts of events are gathered in.
//
// Only resources that some quota names are watched. A change of a quota's status does not start a count (people and
// tests may write it); a change of spec.hard does, and so does every object that comes, goes, or takes another amount.
import type { Timer } from "../../api/clock.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { AnyObject, KubeObject } from "../../api/object.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { reportsOtherResources } from "../../api/objects/pod-resources.ts";
import { isInQuotaScope } from "../../api/objects/quota/scope.ts";
import {
  addUsage,
  isChargedPod,
  usageOf,
} from "../../api/objects/quota/usage.ts";
import type { Usage } from "../../api/objects/quota/usage.ts";
import type {
  PersistentVolumeClaimStatus,
  Pod,
  ResourceQuota,
} from "../../api/types/core-v1.ts";
import type { Informer } from "../../client/informer.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  customResourceDefinitions,
  resourceQuotas,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type {
  DiscoveredResource,
  Discovery,
} from "../discovery/resource-discovery.ts";
import { Reconciler } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { countedResource } from "./counted-resource.ts";

/** Events within this become one count. */
const GATHER_MS = 20;
/** A changed definition is looked at then, and so long after that once more: what it serves follows on a busy machine. */
const settleMs = [1000, 9000];

interface Monitor {
  readonly resource: DiscoveredResource;
  readonly informer: Informer<KubeObject>;
  readonly remove: () => void;
}

export function createResourceQuotaController(
  context: ControllerContext,
  discovery: Discovery,
): Controller {
  const { client, clock } = context;
  const quotas = client.informer(resourceQuotas);
  const monitors = new Map<string, Monitor>();
  /** By resource: its definition changed a moment ago. */
  const settling = new Map<string, Timer>();
  let stopped = false;
  const reconciler = new Reconciler({
    name: "resourcequota-controller",
    context,
    concurrency: context.options.concurrentResourceQuotaSyncs,
    reconcile,
  });
  const { queue } = reconciler;

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const quota = quotas.lister.get(name, namespace);
    if (!quota || quota.metadata.deletionTimestamp) return;
    const hard = texts(quota.spec?.hard);
    const used: Usage = {};
    for (const counted of await monitorsFor(Object.keys(hard)))
      addUsage(used, total(counted, quota, namespace, clock.now()));
    const told = Object.fromEntries(
      Object.keys(hard).map((each) => [each, used[each] ?? "0"]),
    );
    const status = { hard, used: told };
    if (!sameAmounts(quota.status, status))
      await client.resource(resourceQuotas).updateStatus({ ...quota, status });
    return { requeueAfterMs: context.options.resourceQuotaSyncPeriodMs };
  }

  /** Synced informers of all that these names count; names that no quota counts are left out. */
  async function monitorsFor(names: readonly string[]): Promise<Monitor[]> {
    const wanted = new Set(names.map(countedResource));
    const found: Monitor[] = [];
    for (const id of wanted) {
      const monitor = id === undefined ? undefined : await monitorOf(id);
      if (!monitor) continue;
      await monitor.informer.synced();
      found.push(monitor);
    }
    return found;
  }

  /** A version that is not served any more shows nothing: the resource is followed in another one then. */
  async function monitorOf(id: string): Promise<Monitor | undefined> {
    const { resources } = await discovery.resources();
    const resource = resources.find(
      (each) =>
        each.namespaced &&
        each.verbs.includes("watch") &&
        `${each.group}/${each.resource}` === id,
    );
    const known = monitors.get(id);
    if (!resource || stopped || known?.resource.version === resource.version)
      return known;
    const informer = client.informer(resource);
    const count = (object: KubeObject): void =>
      recount(object.metadata.namespace ?? "", id);
    const remove = informer.addHandler({
      onAdd: count,
      onUpdate: (old, object) => {
        if (takesOther(resource, old, object, clock.now())) count(object);
      },
      onDelete: count,
    });
    const monitor = { resource, informer, remove };
    monitors.set(id, monitor);
    known?.remove();
    return monitor;
  }

  function recount(namespace: string, id: string): void {
    for (const quota of quotas.lister.list(namespace || undefined))
      if (counts(quota, id)) queue.addAfter(objectKey(quota), GATHER_MS);
  }

  /** What comes and goes while no served version is followed has no event: it is counted when the change has settled. */
  function settle(id: string, [waitMs, ...more]: readonly number[]): void {
    if (waitMs === undefined || settling.has(id)) return;
    settling.set(
      id,
      clock.after(waitMs, () => {
        settling.delete(id);
        discovery.invalidate();
        recount("", id);
        settle(id, more);
      }),
    );
  }

  reconciler.watch(quotas, {
    onAdd: (quota) => queue.add(objectKey(quota)),
    onUpdate: (old, quota) => {
      if (!sameJson(old.spec?.hard, quota.spec?.hard))
        queue.add(objectKey(quota));
    },
  });
  reconciler.watchAll(
    client.informer(customResourceDefinitions),
    ({ spec: { group, names } }) => {
      const id = `${group}/${names.plural}`;
      if (quotas.lister.list().some((quota) => counts(quota, id)))
        settle(id, settleMs);
    },
  );
  return {
    start: () => reconciler.start(),
    async stop() {
      stopped = true;
      for (const timer of settling.values()) timer.cancel();
      for (const { remove } of monitors.values()) remove();
      await reconciler.stop();
    },
  };
}

function counts({ spec }: ResourceQuota, id: string): boolean {
  return Object.keys(spec?.hard ?? {}).some(
    (name) => countedResource(name) === id,
  );
}

function total(
  { resource, informer }: Monitor,
  quota: ResourceQuota,
  namespace: string,
  nowMs: number,
): Usage {
  const used: Usage = {};
  for (const object of informer.lister.list(namespace)) {
    const any = object as AnyObject;
    if (isInQuotaScope(quota, resource.resource, any))
      addUsage(used, usageOf(resource.group, resource.resource, any, nowMs));
  }
  return used;
}

/** Most updates change nothing that is counted. */
function takesOther(
  { group, resource }: DiscoveredResource,
  old: KubeObject,
  object: KubeObject,
  nowMs: number,
): boolean {
  if (group !== "") return false;
  if (resource === "pods") {
    const [was, is] = [old as Pod, object as Pod];
    return (
      isChargedPod(was, nowMs) !== isChargedPod(is, nowMs) ||
      !sameJson(was.spec, is.spec) ||
      reportsOtherResources(is.status, was.status)
    );
  }
  const [was, is] = [old as AnyObject, object as AnyObject];
  if (resource === "services") return !sameJson(was["spec"], is["spec"]);
  return (
    resource === "persistentvolumeclaims" &&
    (!sameJson(was["spec"], is["spec"]) ||
      !sameJson(allocated(was), allocated(is)))
  );
}

const allocated = ({ status }: AnyObject): unknown =>
  (status as PersistentVolumeClaimStatus | undefined)?.allocatedResources;

function sameAmounts(
  status: ResourceQuota["status"],
  wanted: { hard: Usage; used: Usage },
): boolean {
  return (["hard", "used"] as const).every((part) => {
    const now = texts(status?.[part]);
    const names = Object.keys(wanted[part]);
    return (
      names.length === Object.keys(now).length &&
      names.every(
        (name) =>
          now[name] !== undefined &&
          compareQuantities(now[name], wanted[part][name]!) === 0,
      )
    );
  });
}

function texts(map: object | undefined): Usage {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([name, value]) => [name, String(value)]),
  );
}
