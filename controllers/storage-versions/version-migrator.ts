// Runs StorageVersionMigrations (gate StorageVersionMigrator): every object of a resource is written again, so that it is
// stored in today's version. First the resource's version is recorded; objects that were written since need nothing. A
// write is an empty apply that names the object's uid and version: one that has changed, is gone or was replaced in the
// meantime answers with a conflict, and has been written already. A migration that has ended is never touched again.
import { formatTime } from "../../api/clock.ts";
import { ApiError, isConflict, isNotFound } from "../../api/errors.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import type {
  MigrationCondition,
  StorageVersionMigration,
} from "../../api/types/storagemigration-v1alpha1.ts";
import type { ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { storageVersionMigrations } from "./resources.ts";

const name = "storage-version-migrator-controller";
const pageSize = 500;
const reasons = {
  Running: "StorageVersionMigrationInProgress",
  Succeeded: "StorageVersionMigrationSucceeded",
  Failed: "StorageVersionMigrationFailed",
} as const;

class VersionMigrator implements Controller {
  readonly #migrations: Informer<StorageVersionMigration>;
  readonly #reconciler: Reconciler;
  #stopped = false;

  constructor(private readonly context: ControllerContext) {
    this.#migrations = context.client.informer(storageVersionMigrations);
    this.#reconciler = new Reconciler({
      name,
      context,
      concurrency: 5,
      reconcile: (key) => this.#reconcile(key),
    });
    const { queue } = this.#reconciler;
    this.#reconciler.watch(this.#migrations, {
      onAdd: ({ metadata }) => queue.add(metadata.name),
      onUpdate: (_, { metadata }) => queue.add(metadata.name),
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#reconciler.stop();
  }

  async #reconcile(key: string): Promise<void> {
    const migration = this.#migrations.lister.get(key);
    if (!migration || hasEnded(migration)) return;
    const resource = await this.#served(migration);
    if (!migration.status?.resourceVersion) {
      // The change of the status comes back here.
      if (resource) return this.#recordVersion(migration, resource);
      const message = "resource does not exist in discovery";
      await this.#enter(migration, "Failed", message);
      return;
    }
    if (!resource) {
      await this.#enter(migration, "Failed", "resource not found");
      return;
    }
    const running = await this.#enter(migration, "Running", "");
    const failure = await this.#migrate(resource);
    if (this.#stopped) return;
    if (failure === undefined) {
      await this.#enter(running, "Succeeded", "");
      return;
    }
    this.#reconciler.logger.warn(
      { err: failure, migration: key },
      "can't migrate an object to its storage version",
    );
    const message = "migration encountered unhandled error";
    await this.#enter(running, "Failed", message);
  }

  /** Undefined: no server has it in this version. */
  async #served({
    spec,
  }: StorageVersionMigration): Promise<ResourceRef | undefined> {
    const { group = "", version = "", resource = "" } = spec.resource;
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    try {
      const { body } = await this.context.client.raw("GET", path);
      const { resources = [] } = body as {
        resources?: { name: string; kind: string; namespaced: boolean }[];
      };
      const found = resources.find((each) => each.name === resource);
      return found && { group, version, resource, ...found };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #recordVersion(
    migration: StorageVersionMigration,
    resource: ResourceRef,
  ): Promise<void> {
    const { client } = this.context;
    const { metadata } = await client.resource(resource).list({ limit: 1 });
    const { resourceVersion } = metadata;
    // It is computed, and stored nowhere.
    if (!resourceVersion) {
      await this.#enter(migration, "Failed", "resource not found");
      return;
    }
    await client.resource(storageVersionMigrations).updateStatus({
      ...migration,
      status: { ...migration.status, resourceVersion },
    });
  }

  #enter(
    migration: StorageVersionMigration,
    type: keyof typeof reasons,
    message: string,
  ): Promise<StorageVersionMigration> {
    const { client, clock } = this.context;
    const { status } = migration;
    if (isConditionTrue(status?.conditions, type))
      return Promise.resolve(migration);
    const lastUpdateTime = formatTime(clock.now());
    const condition: MigrationCondition = {
      ...{ type, status: "True", lastUpdateTime },
      reason: reasons[type],
      ...(message ? { message } : {}),
    };
    const earlier = (status?.conditions ?? []).map((one) =>
      one.type === "Running" && type !== "Running"
        ? { ...one, status: "False" }
        : one,
    );
    return client.resource(storageVersionMigrations).updateStatus({
      ...migration,
      status: { ...status, conditions: [...earlier, condition] },
    });
  }

  /** Resolves to what failed. */
  async #migrate(resource: ResourceRef): Promise<unknown> {
    const objects = this.context.client.resource(resource);
    let next: string | undefined;
    do {
      const page = await objects.list({
        limit: pageSize,
        ...(next ? { continue: next } : {}),
      });
      for (const object of page.items) {
        if (this.#stopped) return undefined;
        try {
          await this.#rewrite(resource, object);
        } catch (error) {
          // Too many requests: from the beginning, later.
          if (error instanceof ApiError && error.code === 429) throw error;
          return error;
        }
      }
      next = page.metadata.continue;
    } while (next);
    return undefined;
  }

  async #rewrite(
    resource: ResourceRef,
    { metadata }: KubeObject,
  ): Promise<void> {
    const { name: objectName = "", namespace, uid, resourceVersion } = metadata;
    const body = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { name: objectName, namespace, uid, resourceVersion },
    };
    const patch = { type: "apply", body } as const;
    await this.context.client
      .resource(resource)
      .patch(objectName, namespace, patch, { fieldManager: name })
      .catch((error: unknown) => {
        if (!isConflict(error) && !isNotFound(error)) throw error;
      });
  }
}

export function createVersionMigrator(context: ControllerContext): Controller {
  return new VersionMigrator(context);
}

const hasEnded = ({ status }: StorageVersionMigration): boolean =>
  ["Succeeded", "Failed"].some((type) =>
    isConditionTrue(status?.conditions, type),
  );
