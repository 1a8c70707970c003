// Removes from StorageVersions (gates StorageVersionAPI and APIServerIdentity) what API servers wrote whose identity
// leases are gone, and StorageVersions that no server is left in.
import { formatTime } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import {
  identityNamespace,
  isIdentityLease,
} from "../../api/objects/server-identity.ts";
import { storageStatusOf } from "../../api/objects/storage-versions.ts";
import type { StorageVersion } from "../../api/types/apiserverinternal-v1alpha1.ts";
import { leases } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { storageVersions } from "./resources.ts";

export function createVersionCollector(context: ControllerContext): Controller {
  const { client, clock } = context;
  const versions = client.informer(storageVersions);
  const identities = client.informer(leases, { namespace: identityNamespace });
  const reconciler = new Reconciler({
    name: "storageversion-garbage-collector-controller",
    context,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const object = versions.lister.get(name);
    if (!object) return;
    const { status = {} } = object as Partial<StorageVersion>;
    const servers = status.storageVersions ?? [];
    const left = [];
    for (const server of servers)
      if (await isAlive(server.apiServerID ?? "")) left.push(server);
    if (left.length === servers.length) return;
    const { uid, resourceVersion } = object.metadata;
    if (left.length === 0)
      return client.resource(storageVersions).delete(name, undefined, {
        preconditions: { uid, resourceVersion },
      });
    await client.resource(storageVersions).updateStatus({
      ...object,
      status: storageStatusOf(left, status, formatTime(clock.now())),
    });
  }

  /** One whose lease the informer has not seen yet is asked for: its entries must not be lost. */
  async function isAlive(server: string): Promise<boolean> {
    const known = identities.lister.get(server, identityNamespace);
    if (known && isIdentityLease(known)) return true;
    try {
      return isIdentityLease(
        await client.resource(leases).get(server, identityNamespace),
      );
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  const add = ({ metadata }: StorageVersion): void =>
    reconciler.queue.add(metadata.name);
  return reconciler
    .watch(versions, { onAdd: add, onUpdate: (_, object) => add(object) })
    .watch(identities, {
      onDelete(lease) {
        if (!isIdentityLease(lease)) return;
        for (const object of versions.lister.list()) add(object);
      },
    });
}
