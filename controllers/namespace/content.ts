// Deletes all that is in a namespace, resource by resource as discovery lists them, and says what is left.
import { isPodTerminal } from "../../api/objects/pod-state.ts";
import { ApiError, isForbidden, isNotFound } from "../../api/errors.ts";
import { qualifiedName } from "../discovery/resource-name.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type {
  DiscoveredResource,
  Discovery,
} from "../discovery/resource-discovery.ts";

export interface ContentReport {
  discoveryFailures: readonly string[];
  deletionErrors: string[];
  /** What is left although nothing is known to hold it: no finalizer, and no pod within its grace. */
  unexpected: string[];
  /** qualified resource → how many objects are left. */
  remaining: Map<string, number>;
  /** finalizer → how many objects it holds. */
  finalizers: Map<string, number>;
  /** The longest grace of terminating pods that are within it; 0 when there is none. */
  graceSeconds: number;
}

interface Place {
  readonly namespace: string;
  /** How long it has been terminating. */
  readonly sinceSeconds: number;
}

export async function deleteContent(
  client: Client,
  discovery: Discovery,
  namespace: string,
  /** Since then nothing is created in it: only resources served by then can have objects in it. */
  deletedMs: number,
  /** Nothing else goes before the last pod, so that none runs without what protects it: a NetworkPolicy, say. */
  podsFirst: boolean,
  nowMs: number,
): Promise<ContentReport> {
  const { resources, failures } = await discovery.resources(deletedMs);
  const report: ContentReport = {
    discoveryFailures: failures,
    deletionErrors: [],
    unexpected: [],
    remaining: new Map(),
    finalizers: new Map(),
    graceSeconds: 0,
  };
  const deletable = resources.filter(
    ({ namespaced, verbs }) =>
      namespaced && verbs.includes("list") && verbs.includes("delete"),
  );
  const place = { namespace, sinceSeconds: (nowMs - deletedMs) / 1000 };
  // Side by side: one resource's failure is no reason to leave the others.
  const deleteOf = async (
    some: readonly DiscoveredResource[],
  ): Promise<unknown> =>
    Promise.all(
      some.map((resource) => deleteAll(client, resource, place, report)),
    );
  const first = podsFirst ? deletable.filter(isPods) : [];
  await deleteOf(first);
  // A pod that could not be deleted runs on: what protects it stays.
  if (report.remaining.size + report.deletionErrors.length === 0)
    await deleteOf(deletable.filter((one) => !first.includes(one)));
  return report;
}

const isPods = ({ group, resource }: DiscoveredResource): boolean =>
  group === "" && resource === "pods";

/** A failure is reported. */
async function deleteAll(
  client: Client,
  resource: DiscoveredResource,
  place: Place,
  report: ContentReport,
): Promise<void> {
  try {
    await deleteObjects(client, resource, place, report);
  } catch (error) {
    // Gone between discovery and now (a custom resource's definition was deleted).
    const gone =
      isNotFound(error) || (error instanceof ApiError && error.code === 405);
    if (!gone)
      report.deletionErrors.push(
        isForbidden(error) || error instanceof Error
          ? (error as Error).message
          : String(error),
      );
  }
}

async function deleteObjects(
  client: Client,
  resource: DiscoveredResource,
  place: Place,
  report: ContentReport,
): Promise<void> {
  const { namespace } = place;
  const objects = client.resource(resource);
  const before = await objects.list({ namespace });
  if (before.items.length === 0) return;
  const background = { propagationPolicy: "Background" };
  if (before.items.some((item) => !item.metadata.deletionTimestamp)) {
    if (resource.verbs.includes("deletecollection"))
      await objects.deleteCollection({ namespace }, background);
    else
      for (const { metadata } of before.items)
        await objects
          .delete(metadata.name, namespace, background)
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
  }
  const { items } = await objects.list({ namespace });
  if (items.length === 0) return;
  report.remaining.set(qualifiedName(resource), items.length);
  reportLeft(items, resource, place, report);
}

function reportLeft(
  items: readonly KubeObject[],
  resource: DiscoveredResource,
  { namespace, sinceSeconds }: Place,
  report: ContentReport,
): void {
  const held = items.flatMap(({ metadata }) => metadata.finalizers ?? []);
  for (const finalizer of held)
    report.finalizers.set(
      finalizer,
      (report.finalizers.get(finalizer) ?? 0) + 1,
    );
  const graceSeconds = isPods(resource) ? longestGrace(items as Pod[]) : 0;
  if (sinceSeconds < graceSeconds)
    report.graceSeconds = Math.max(report.graceSeconds, graceSeconds);
  else if (held.length === 0)
    report.unexpected.push(
      `unexpected items still remain in namespace: ${namespace} for gvr: ${resource.group}/${resource.version}, Resource=${resource.resource}`,
    );
}

function longestGrace(pods: readonly Pod[]): number {
  const graces = pods
    .filter((pod) => !isPodTerminal(pod))
    .map(({ spec }) => spec.terminationGracePeriodSeconds ?? 0);
  return Math.max(0, ...graces);
}
