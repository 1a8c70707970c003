// Marks, and later deletes, tokens in Secrets that were made for accounts long ago and were not used for
// --legacy-service-account-token-clean-up-period: those named in `secrets` of an account and by no pod. Tokens that
// were made by hand are kept: nothing shows that they are unneeded. Follows the reference's
// legacy-serviceaccount-token-cleaner: a look each day, dates in UTC.
import { formatTime } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import { referencesOf } from "../../api/objects/pod-references.ts";
import type { Secret } from "../../api/types/core-v1.ts";
import {
  configMaps,
  pods,
  secrets,
  serviceAccounts,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { accountOf, isAccountOf, tokenSecretType } from "./token-secrets.ts";

const dayMs = 24 * 3_600_000;
const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";
/** Since when the API server notes the use of such tokens. */
const tracking = {
  name: "kube-apiserver-legacy-service-account-token-tracking",
  namespace: "kube-system",
};

const dateOf = (ms: number): string => formatTime(ms).slice(0, 10);

/** Undefined for what is no date of the calendar. */
function dayStartMs(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || dateOf(ms) !== text ? undefined : ms;
}

export function createLegacyTokenCleaner(
  context: ControllerContext,
): Controller {
  const { client, clock } = context;
  const periodMs = context.options.legacyServiceAccountTokenCleanUpPeriodMs;
  const tokenSecrets = client.resource(secrets);
  const accountInformer = client.informer(serviceAccounts);
  const podInformer = client.informer(pods);
  const secretInformer = client.informer(secrets, {
    fieldSelector: `type=${tokenSecretType}`,
  });
  const reconciler = new Reconciler({
    name: "legacy-serviceaccount-token-cleaner-controller",
    context,
    reconcile: async () => {
      await look().catch((error: unknown) => {
        // A server that does not track their use has no date: none is deleted.
        if (!isNotFound(error))
          reconciler.logger.error(
            { err: error },
            "can't clean up legacy tokens",
          );
      });
      return { requeueAfterMs: dayMs };
    },
  });

  async function look(): Promise<void> {
    const nowMs = clock.now();
    const { data } = await client
      .resource(configMaps)
      .get(tracking.name, tracking.namespace);
    const sinceMs = dayStartMs(data?.["since"]);
    if (sinceMs === undefined)
      throw new Error(
        `no date since when tokens are tracked: ${data?.["since"]}`,
      );
    // The day on which it began is not a whole one.
    if (nowMs < sinceMs + dayMs + periodMs) return;
    const used = usedSecrets();
    for (const secret of secretInformer.lister.list())
      if (isUnused(secret, nowMs, used)) await markOrDelete(secret, nowMs);
  }

  /** `namespace/name` of what pods name. */
  function usedSecrets(): ReadonlySet<string> {
    const used = new Set<string>();
    for (const pod of podInformer.lister.list())
      for (const { resource, name } of referencesOf(pod))
        if (resource === "secrets")
          used.add(`${pod.metadata.namespace}/${name}`);
    return used;
  }

  function isUnused(
    secret: Secret,
    nowMs: number,
    used: ReadonlySet<string>,
  ): boolean {
    const { metadata } = secret;
    const { creationTimestamp, deletionTimestamp, labels, namespace } =
      metadata;
    if (deletionTimestamp) return false;
    if (!(Date.parse(creationTimestamp ?? "") < nowMs - periodMs)) return false;
    const lastUsed = labels?.[lastUsedLabel];
    if (lastUsed !== undefined) {
      if (dayStartMs(lastUsed) === undefined) return false;
      if (lastUsed >= dateOf(nowMs - periodMs)) return false;
    }
    const named = accountOf(secret);
    const account = accountInformer.lister.get(named.name, namespace);
    return (
      isAccountOf(account, named) &&
      (account.secrets ?? []).some(({ name }) => name === metadata.name) &&
      !used.has(`${namespace}/${metadata.name}`)
    );
  }

  async function markOrDelete(secret: Secret, nowMs: number): Promise<void> {
    const { name, namespace, uid, resourceVersion, labels } = secret.metadata;
    const invalidSince = labels?.[invalidSinceLabel];
    const about = { secret: `${namespace}/${name}` };
    try {
      if (
        invalidSince === undefined ||
        dayStartMs(invalidSince) === undefined
      ) {
        reconciler.logger.info(
          about,
          "marks an unused legacy token as invalid",
        );
        await tokenSecrets.patch(name, namespace, {
          type: "merge",
          body: {
            metadata: { uid, labels: { [invalidSinceLabel]: dateOf(nowMs) } },
          },
        });
      } else if (invalidSince < dateOf(nowMs - periodMs)) {
        reconciler.logger.info(about, "deletes an unused legacy token");
        await tokenSecrets.delete(name, namespace, {
          preconditions: { ...(resourceVersion ? { resourceVersion } : {}) },
        });
      }
    } catch (error) {
      // The others go on.
      if (!isConflict(error) && !isNotFound(error))
        reconciler.logger.error({ ...about, err: error }, "can't clean it up");
    }
  }

  reconciler
    .watch(accountInformer, {})
    .watch(podInformer, {})
    .watch(secretInformer, {});
  reconciler.queue.add("all");
  return reconciler;
}
