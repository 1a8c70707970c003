// Serves the custom resources of the definitions that there are: names them, registers their kinds, says so in their status
// and deletes their objects with them. A definition says Established once its objects are served, not before.
// Invariants: one definition is worked on by one worker at a time; of one group no two definitions are given the same
// name, also while neither has been written; a definition that is in the store at the start is served when `start`
// resolves.
import type { Logger } from "pino";
import { formatTime, type Clock } from "../../api/clock.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import { isConditionTrue, setCondition } from "../../api/objects/conditions.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { paced } from "../../api/queueing/steps.ts";
import { prepareSchemas } from "../../api/structural/prepare.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames as Names,
} from "../../api/types/apiextensions-v1.ts";
import type { Transport } from "../../client/transport.ts";
import { WorkQueue, type WorkResult } from "../../client/work-queue.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import type { ConversionMetrics } from "./conversion-metrics.ts";
import type { KindSet } from "../registry/kinds/kind-set.ts";
import type { ClusterState } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import type { WebhookClients } from "../webhook-client/webhook-clients.ts";
import { PublishedSchemas } from "./published-schemas.ts";
import { sameNames } from "./accepted-names.ts";
import { customKind, resourceInfo } from "./custom-kind.ts";
import type { RuleTimes } from "../../api/structural/rule-times.ts";
import { schemasOf, type Schemas } from "./custom-schemas.ts";
import { nonStructural } from "./non-structural.ts";
import { plannedStatus } from "./definition-status.ts";
import {
  deleteInstances,
  deletionInProgress,
  endedDefinition,
  isEnding,
  wasEstablished,
} from "./instance-deletion.ts";

const group = "apiextensions.k8s.io";
const resource = "customresourcedefinitions";
/** Definitions worked on at once: each waits for the store. */
const concurrency = 32;
/** Of a definition: reading a schema of this size takes a millisecond or two. */
const largeBytes = 128 * 1024;
/** Between two looks at whether the objects of a deleted definition are gone. */
const recheckMs = 5000;

interface CustomDefinitionsOptions {
  readonly state: ClusterState;
  readonly kinds: KindSet;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly slices: TimeSlices;
  /** For conversion webhooks. */
  readonly clients: WebhookClients;
  /** Of their calls. */
  readonly metrics: ConversionMetrics;
  readonly ruleTimes: RuleTimes;
}

type Requests = Pick<Transport, "request">;

/** What is served for a definition. */
interface Served {
  readonly definition: Readonly<CustomResourceDefinition>;
  readonly names: Names;
}

export class CustomDefinitions {
  readonly published = new PublishedSchemas();
  /** By name of the definition. */
  readonly #served = new Map<string, Served>();
  /** Names given, whether or not they have been written yet. */
  readonly #names = new Map<string, { group: string; names: Names }>();
  /** Of definitions whose objects go: ends the look at them. */
  readonly #ending = new Map<string, () => void>();
  readonly #queue: WorkQueue;
  #started = false;
  #stop: (() => void) | undefined;
  #requests: Requests | undefined;

  constructor(private readonly options: CustomDefinitionsOptions) {
    const { clock, logger } = options;
    this.#queue = new WorkQueue({
      name: "custom-resource-definitions",
      ...{ clock, logger, concurrency },
      maxBackoffMs: 60_000,
      isExpected: isConflict,
      process: (name) => this.#sync(name),
    });
  }

  /** The state has been loaded. Resolves when every established definition is served. */
  async start(requests: Requests): Promise<void> {
    this.#requests = requests;
    const { state, logger } = this.options;
    const all = typed<CustomResourceDefinition[]>(state.list(group, resource));
    for (const { metadata, spec, status } of all)
      if (status?.acceptedNames)
        this.#names.set(metadata.name, {
          group: spec.group,
          names: status.acceptedNames,
        });
    this.#stop = state.onChange(group, resource, ({ object, previous }) =>
      this.#queue.add((object ?? previous)!.metadata.name),
    );
    const established = all.filter(wasEstablished);
    for (let at = 0; at < established.length; at += concurrency)
      await Promise.all(
        established.slice(at, at + concurrency).map((definition) =>
          this.#serve(definition).catch((err: unknown) => {
            const { name } = definition.metadata;
            logger.error({ err, name }, "can't serve a custom resource");
          }),
        ),
      );
    for (const { metadata } of all) this.#queue.add(metadata.name);
    this.#started = true;
    this.#queue.start();
  }

  async stop(): Promise<void> {
    this.#stop?.();
    for (const stop of this.#ending.values()) stop();
    await this.#queue.stop();
  }

  #read(name: string): Readonly<CustomResourceDefinition> | undefined {
    return typed<CustomResourceDefinition>(
      this.options.state.read(group, resource, "", name),
    );
  }

  async #sync(name: string): Promise<WorkResult | void> {
    const definition = this.#read(name);
    if (!definition) return this.#forget(name);
    const before = this.#served.get(name);
    if (before && before.definition.metadata.uid !== definition.metadata.uid)
      await this.#forget(name);
    const now = formatTime(this.options.clock.now());
    const status = plannedStatus(
      definition,
      this.#othersOf(definition),
      nonStructural(definition),
      now,
    );
    const planned = status ? { ...definition, status } : definition;
    this.#give(planned);
    if (wasEstablished(planned)) await this.#serve(planned);
    if (status) return this.#write(planned);
    if (isEnding(definition)) return this.#end(definition);
  }

  *#othersOf({
    metadata,
    spec,
  }: Readonly<CustomResourceDefinition>): Iterable<Names> {
    for (const [name, given] of this.#names)
      if (given.group === spec.group && name !== metadata.name)
        yield given.names;
  }

  /** Names that a definition gave back may be another's. */
  #give({ metadata, spec, status }: Readonly<CustomResourceDefinition>): void {
    const { name } = metadata;
    const names = status?.acceptedNames;
    const before = this.#names.get(name);
    if (names) this.#names.set(name, { group: spec.group, names });
    if (before && !sameNames(before.names, names))
      this.#addOthers(spec.group, name);
  }

  #addOthers(ofGroup: string, except: string): void {
    for (const [name, given] of this.#names)
      if (given.group === ofGroup && name !== except) this.#queue.add(name);
  }

  async #serve(definition: Readonly<CustomResourceDefinition>): Promise<void> {
    const { kinds } = this.options;
    const { metadata, spec, status } = definition;
    const names = status?.acceptedNames ?? spec.names;
    const known = this.#served.get(metadata.name);
    const same =
      known &&
      sameJson(known.definition.spec, spec) &&
      sameNames(known.names, names);
    if (!same) {
      await prepareSchemas();
      const schemas = schemasOf(definition, this.options.ruleTimes);
      await this.#prepareLarge(definition, schemas);
      this.published.set(definition, schemas);
      if (spec.versions.some(({ served }) => served))
        await kinds.register(customKind(definition, schemas, this.options));
      else await kinds.unregister(resourceOf(definition));
    } else if (isTerminating(known.definition) !== isTerminating(definition))
      kinds.describe(
        spec.versions
          .filter(({ served }) => served)
          .map((version) => resourceInfo(definition, version)),
      );
    this.#served.set(metadata.name, { definition, names });
  }

  /** A large schema is read in slices before a request for it reads it at once; at the start none is read. */
  async #prepareLarge(
    { metadata }: Readonly<CustomResourceDefinition>,
    schemas: Schemas,
  ): Promise<void> {
    const { kinds, slices } = this.options;
    const stored = kinds.kind(group, resource)?.stored;
    const bytes = stored?.cache.get(metadata.name)?.bytes ?? 0;
    if (bytes < largeBytes || !this.#started) return;
    const pause = slices.pauses();
    for (const schema of schemas.values()) await paced(schema.prepare(), pause);
  }

  /** The definition is gone. */
  async #forget(name: string): Promise<void> {
    const served = this.#served.get(name);
    const given = this.#names.get(name);
    this.#served.delete(name);
    this.#names.delete(name);
    this.#ending.get(name)?.();
    this.#ending.delete(name);
    if (served) {
      this.published.remove(served.definition);
      this.options.metrics.forget(served.definition.metadata.name);
      await this.options.kinds.unregister(resourceOf(served.definition));
    }
    if (given) this.#addOthers(given.group, name);
  }

  /** Undefined: it was changed or deleted meanwhile, and comes again. */
  async #write(
    definition: Readonly<CustomResourceDefinition>,
  ): Promise<WorkResult | void> {
    try {
      await this.#requests!.request({
        verb: "update",
        resource: { group, version: "v1", resource },
        name: definition.metadata.name,
        subresource: "status",
        body: definition,
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async #end(
    definition: Readonly<CustomResourceDefinition>,
  ): Promise<WorkResult | void> {
    const { clock } = this.options;
    const time = (): string => formatTime(clock.now());
    const conditions = definition.status?.conditions ?? [];
    const beginning = setCondition(conditions, deletionInProgress, time());
    // Written first: its event brings the definition here again.
    if (!sameJson(beginning, conditions))
      return this.#write({
        ...definition,
        status: { ...definition.status, conditions: [...beginning] },
      });
    const deletion = await deleteInstances(this.#instancesOf(definition));
    if (!deletion.done) {
      this.options.logger.debug(
        { name: definition.metadata.name, condition: deletion.condition },
        "objects of a deleted definition are still there",
      );
      this.#addWhenGone(definition);
      return { requeueAfterMs: recheckMs };
    }
    await this.#write(endedDefinition(definition, deletion, time()));
  }

  #addWhenGone(definition: Readonly<CustomResourceDefinition>): void {
    const { metadata, spec } = definition;
    const { kinds } = this.options;
    if (this.#ending.has(metadata.name)) return;
    const stop = kinds.follow(spec.group, spec.names.plural, ({ entry }) => {
      if (entry) return;
      const { stored } = kinds.kind(spec.group, spec.names.plural) ?? {};
      if (!stored?.cache.size) this.#queue.add(metadata.name);
    });
    this.#ending.set(metadata.name, stop);
  }

  #instancesOf(definition: Readonly<CustomResourceDefinition>) {
    const { spec } = definition;
    const stored = this.options.kinds.kind(
      spec.group,
      spec.names.plural,
    )?.stored;
    const version = spec.versions.find(({ served }) => served)?.name;
    if (!wasEstablished(definition) || !stored || !version) return undefined;
    const request = this.#requests!;
    return {
      namespaces: () =>
        new Set(stored.cache.entries().map(({ namespace }) => namespace)),
      deleteIn: async (namespace: string) => {
        await request.request({
          verb: "deletecollection",
          resource: {
            group: spec.group,
            version,
            resource: spec.names.plural,
          },
          ...(namespace ? { namespace } : {}),
        });
      },
    };
  }
}

function isTerminating({
  status,
}: Readonly<CustomResourceDefinition>): boolean {
  return isConditionTrue(status?.conditions, "Terminating");
}

function resourceOf({ spec }: Readonly<CustomResourceDefinition>) {
  return { group: spec.group, resource: spec.names.plural };
}
