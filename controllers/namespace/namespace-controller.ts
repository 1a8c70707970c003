// Ends terminating namespaces: deletes all content, reports what is left in the reference's conditions, and takes the
// finalizer "kubernetes" away when nothing is. Pods that go are followed by events; the rest is looked at again with
// back-off.
import { formatTime } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import type { Namespace, NamespaceCondition } from "../../api/types/core-v1.ts";
import { setCondition } from "../../api/objects/conditions.ts";
import { namespaces, pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import { Reconciler, RetryLater } from "../reconciler.ts";
import type { ReconcileResult } from "../reconciler.ts";
import { deleteContent } from "./content.ts";
import type { ContentReport } from "./content.ts";

const finalizer = "kubernetes";
/**
 * So long content is left alone, as at the reference, which waits for five seconds: `kubectl delete -f` of a file that begins
 * with the namespace deletes what comes behind it one after the other, and fails for what is gone by then. Timestamps have
 * whole seconds, so that it is one second at least.
 */
const graceMs = 2000;

export function createNamespaceController(
  context: ControllerContext,
  discovery: Discovery,
  /** The gate OrderedNamespaceDeletion: see content.ts. */
  podsFirst: boolean,
): Controller {
  const { client, clock } = context;
  const informer = client.informer(namespaces);
  const podInformer = client.informer(pods);
  const reconciler = new Reconciler({
    name: "namespace-controller",
    context,
    concurrency: context.options.concurrentNamespaceSyncs,
    reconcile,
    maxBackoffMs: 60_000,
  });
  const { queue } = reconciler;

  async function reconcile(name: string): Promise<ReconcileResult> {
    const namespace = informer.lister.get(name);
    if (!namespace?.metadata.deletionTimestamp) return;
    if (!namespace.spec.finalizers?.includes(finalizer)) return;
    const deletedMs = Date.parse(namespace.metadata.deletionTimestamp);
    const waitMs = Math.min(graceMs, deletedMs + graceMs - clock.now());
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const report = await deleteContent(
      client,
      discovery,
      name,
      deletedMs,
      podsFirst,
      clock.now(),
    );
    const updated = await writeConditions(name, report);
    if (!updated) return;
    const left = report.remaining.size > 0;
    if (left || report.deletionErrors.length + report.discoveryFailures.length)
      return lookAgain(name, report);
    await finalize(updated);
  }

  function lookAgain(name: string, report: ContentReport): ReconcileResult {
    if (report.deletionErrors.length > 0)
      throw new Error(report.deletionErrors.join("; "));
    // The pods' own events come first when all goes well.
    if (report.graceSeconds > 0)
      return { requeueAfterMs: (report.graceSeconds / 2 + 1) * 1000 };
    // Not a success yet: the back-off goes on growing.
    throw new RetryLater(`content remains in namespace ${name}`);
  }

  async function writeConditions(
    name: string,
    report: ContentReport,
  ): Promise<Namespace | undefined> {
    try {
      const fresh = await client.resource(namespaces).get(name);
      if (!fresh.metadata.deletionTimestamp) return undefined;
      const conditions = contentConditions(
        fresh.status?.conditions,
        report,
        clock.now(),
      );
      if (conditions === fresh.status?.conditions) return fresh;
      return await client.resource(namespaces).updateStatus({
        ...fresh,
        status: { ...fresh.status, conditions: [...conditions] },
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function finalize(namespace: Namespace): Promise<void> {
    const { name } = namespace.metadata;
    try {
      await client
        .resource(namespaces)
        .updateSubresource(name, undefined, "finalize", {
          ...namespace,
          spec: {
            ...namespace.spec,
            finalizers: (namespace.spec.finalizers ?? []).filter(
              (other) => other !== finalizer,
            ),
          },
        });
    } catch (error) {
      if (isNotFound(error)) return;
      if (isConflict(error)) return queue.add(name);
      throw error;
    }
  }

  const enqueue = (namespace: Namespace | undefined): void => {
    if (namespace?.metadata.deletionTimestamp)
      queue.add(namespace.metadata.name);
  };
  return reconciler
    .resync(context.options.namespaceSyncPeriodMs, () =>
      informer.lister.list().map(({ metadata }) => metadata.name),
    )
    .watch(informer, {
      onAdd: (namespace) => enqueue(namespace),
      onUpdate: (old, namespace) => {
        // Its own status writes are no news.
        if (
          !old.metadata.deletionTimestamp ||
          old.spec.finalizers?.length !== namespace.spec.finalizers?.length
        )
          enqueue(namespace);
      },
    })
    .watch(podInformer, {
      onDelete: ({ metadata }) =>
        enqueue(informer.lister.get(metadata.namespace ?? "")),
    });
}

/** The five conditions of a terminating namespace; the list given comes back when nothing changed. */
function contentConditions(
  old: readonly NamespaceCondition[] | undefined,
  report: ContentReport,
  nowMs: number,
): readonly NamespaceCondition[] {
  const time = formatTime(nowMs);
  let conditions = old ?? [];
  const set = (
    type: string,
    bad: { reason: string; message: string } | undefined,
    reason: string,
    message: string,
  ): void => {
    conditions = setCondition(
      conditions,
      bad
        ? { type, status: "True", ...bad }
        : { type, status: "False", reason, message },
      time,
    );
  };
  const { discoveryFailures, remaining, finalizers } = report;
  const contentErrors = [...report.deletionErrors, ...report.unexpected];
  set(
    "NamespaceDeletionDiscoveryFailure",
    discoveryFailures.length > 0
      ? {
          reason: "DiscoveryFailed",
          message: `Discovery failed for some groups, ${discoveryFailures.length} failing: unable to retrieve the complete list of server APIs: ${discoveryFailures.join(", ")}`,
        }
      : undefined,
    "ResourcesDiscovered",
    "All resources successfully discovered",
  );
  set(
    "NamespaceDeletionGroupVersionParsingFailure",
    undefined,
    "ParsedGroupVersions",
    "All legacy kube types successfully parsed",
  );
  set(
    "NamespaceDeletionContentFailure",
    contentErrors.length > 0
      ? {
          reason: "ContentDeletionFailed",
          message: `Failed to delete all resource types, ${contentErrors.length} remaining: ${contentErrors.sort().join(", ")}`,
        }
      : undefined,
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  );
  const list = (counts: Map<string, number>, text: string): string =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, number]) => `${name} ${text.replace("#", String(number))}`)
      .join(", ");
  set(
    "NamespaceContentRemaining",
    remaining.size > 0
      ? {
          reason: "SomeResourcesRemain",
          message: `Some resources are remaining: ${list(remaining, "has # resource instances")}`,
        }
      : undefined,
    "ContentRemoved",
    "All content successfully removed",
  );
  set(
    "NamespaceFinalizersRemaining",
    finalizers.size > 0
      ? {
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${list(finalizers, "in # resource instances")}`,
        }
      : undefined,
    "ContentHasNoFinalizers",
    "All content-preserving finalizers finished",
  );
  return conditions;
}
