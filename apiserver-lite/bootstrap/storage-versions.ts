// StorageVersions (gates StorageVersionAPI and APIServerIdentity): for each built-in resource that is stored, in which
// version this server writes it, and which it can read and serves. They are written before the port is open, so that no
// client's write is stored in a version that no StorageVersion names. Definitions of custom resources have none.
import { compareVersions } from "../../api/catalogue.ts";
import { formatTime, type Clock } from "../../api/clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import {
  apiVersionOf,
  parseApiVersion,
  type AnyObject,
  type GroupVersionResource,
} from "../../api/object.ts";
import { storageStatusOf } from "../../api/objects/storage-versions.ts";
import { everyVersion } from "../../api/type-table.ts";
import type {
  ServerStorageVersion,
  StorageVersion,
} from "../../api/types/apiserverinternal-v1alpha1.ts";
import type { Transport } from "../../client/transport.ts";
import type { Kind } from "../registry/kinds/kind.ts";
import { typed } from "../resources/typed.ts";

interface StorageVersionsOptions {
  readonly transport: Pick<Transport, "request">;
  readonly kinds: Iterable<Kind>;
  /** Of this server's identity lease. */
  readonly serverId: string;
  readonly clock: Clock;
}

const resource: GroupVersionResource = {
  group: "internal.apiserver.k8s.io",
  version: "v1alpha1",
  resource: "storageversions",
};
const maxAttempts = 20;
/** Where the reference's priority of versions is not that of their names. */
const otherOrders: Readonly<Record<string, readonly string[]>> = {
  autoscaling: ["v2", "v1", "v2beta1", "v2beta2"],
};

/** Rejects when one can't be written. */
export async function publishStorageVersions(
  options: StorageVersionsOptions,
): Promise<void> {
  for (const kind of options.kinds) {
    const own = serverVersionOf(kind, options.serverId);
    if (own) await publish(options, own.name, own.version);
  }
}

/** Undefined: nothing of the kind is stored, or it is no built-in one. */
function serverVersionOf(
  { definition, endpoints }: Kind,
  apiServerID: string,
): { name: string; version: ServerStorageVersion } | undefined {
  const { storage, group, kind, types } = definition;
  const home = endpoints.filter(({ info }) => info.group === group);
  if (!storage || home.length === 0 || home[0]!.custom) return undefined;
  const byPriority = (versions: readonly string[]): string[] =>
    [...versions].sort((a, b) => compareApiVersions(group, a, b));
  const known = everyVersion.filter(
    (version) =>
      parseApiVersion(version).group === group &&
      types.schemaOf(version, kind) !== undefined,
  );
  const elsewhere = endpoints
    .filter(({ info }) => info.group !== group)
    .map(({ info }) => apiVersionOf(info));
  return {
    name: `${group || "core"}.${definition.resource}`,
    version: {
      apiServerID,
      encodingVersion: storage.apiVersion,
      decodableVersions: [...byPriority(known), ...elsewhere],
      servedVersions: byPriority(home.map(({ info }) => apiVersionOf(info))),
    },
  };
}

function compareApiVersions(group: string, a: string, b: string): number {
  const [left, right] = [a, b].map((each) => parseApiVersion(each).version) as [
    string,
    string,
  ];
  const order = otherOrders[group];
  return order
    ? order.indexOf(left) - order.indexOf(right)
    : compareVersions(left, right);
}

/** Other servers write theirs into the same object. */
async function publish(
  { transport, clock }: StorageVersionsOptions,
  name: string,
  own: ServerStorageVersion,
): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      const present = await readOrCreate(transport, name);
      const { status = {} } = present;
      const servers = status.storageVersions ?? [];
      const known = servers.some((one) => one.apiServerID === own.apiServerID);
      const next = known
        ? servers.map((one) =>
            one.apiServerID === own.apiServerID ? own : one,
          )
        : [...servers, own];
      const body = {
        ...present,
        status: storageStatusOf(next, status, formatTime(clock.now())),
      };
      const subresource = "status";
      await transport.request({
        ...{ verb: "update", resource, name, subresource, body },
      });
      return;
    } catch (error) {
      const raced =
        isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!raced || attempt >= maxAttempts) throw error;
    }
}

async function readOrCreate(
  transport: Pick<Transport, "request">,
  name: string,
): Promise<StorageVersion> {
  const answer = await transport
    .request({ verb: "get", resource, name })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      const body = { metadata: { name }, spec: {} };
      return transport.request({ verb: "create", resource, body });
    });
  return typed<StorageVersion>(answer as AnyObject);
}
