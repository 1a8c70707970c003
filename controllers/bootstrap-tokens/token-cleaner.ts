// Deletes bootstrap tokens when their time is over. Follows the reference's tokencleaner.
import { objectKey, splitKey } from "../../api/object.ts";
import { secrets } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler, type ReconcileResult } from "../reconciler.ts";
import {
  expiryMs,
  isToken,
  tokenNamespace,
  tokenType,
} from "./token-secret.ts";

/** Timers can't be longer than 24.8 days. */
const longestWaitMs = 24 * 3_600_000;

export function createTokenCleaner(context: ControllerContext): Controller {
  const { client, clock } = context;
  const informer = client.informer(secrets, {
    namespace: tokenNamespace,
    fieldSelector: `type=${tokenType}`,
  });
  const reconciler = new Reconciler({
    name: "token-cleaner-controller",
    context,
    reconcile,
  });

  async function reconcile(key: string): Promise<ReconcileResult> {
    const { name, namespace } = splitKey(key);
    const secret = informer.lister.get(name, namespace);
    if (!secret || !isToken(secret) || secret.metadata.deletionTimestamp)
      return;
    const expires = expiryMs(secret);
    if (expires === undefined) return;
    const leftMs = expires - clock.now();
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, longestWaitMs) };
    const { uid, resourceVersion } = secret.metadata;
    await client.resource(secrets).delete(name, namespace, {
      preconditions: {
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      },
    });
  }

  return reconciler.watchAll(informer, (secret) =>
    reconciler.queue.add(objectKey(secret)),
  );
}
