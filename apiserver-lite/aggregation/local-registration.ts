// Keeps an APIService for each group version that this server answers itself, with the reference's labels and priorities:
// built-in ones are put right once after the start ("onstart"), those of custom resources as their definitions come and go
// ("true"). What was registered without the label is left alone.
//
//   in the store        | not wanted        | wanted at the start      | wanted at all times
//   absent              | -                 | created once             | created
//   without the label   | -                 | -                        | -
//   "onstart", new      | -                 | -                        | -
//   "onstart", from the | deleted once, if  | updated once             | updated once
//   time before         | without a service |                          |
//   "true"              | deleted           | updated once             | updated
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import type { Catalogue } from "../../api/catalogue.ts";
import { sameValue } from "../../api/objects/json-equality.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import type {
  APIService,
  APIServiceSpec,
} from "../../api/types/apiregistration-v1.ts";
import type { Transport } from "../../client/transport.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { ClusterState } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import { builtinPriorities, otherPriorities } from "./group-priorities.ts";
import {
  apiServicesResource,
  managedLabel,
  registrationGroup,
} from "./registration.ts";

interface LocalRegistrationOptions {
  readonly state: ClusterState;
  readonly catalogue: Catalogue;
  readonly transport: Pick<Transport, "request">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const definitions = [
  "apiextensions.k8s.io",
  "customresourcedefinitions",
] as const;
const label = (object: APIService | undefined): string | undefined =>
  object?.metadata.labels?.[managedLabel];

export class LocalRegistration {
  /** By name; built-in ones. */
  readonly #builtin = new Map<string, APIServiceSpec>();
  /** The custom resources' group versions, by the number of definitions that serve them. */
  readonly #custom = new Map<string, number>();
  readonly #atStart = new Set<string>();
  readonly #synced = new Set<string>();
  readonly #queue: WorkQueue;
  readonly #stops: (() => void)[] = [];

  constructor(private readonly options: LocalRegistrationOptions) {
    const { clock, logger } = options;
    this.#queue = new WorkQueue({
      name: "autoregister",
      clock,
      logger,
      concurrency: 5,
      process: (name) => this.#reconcile(name),
      maxBackoffMs: 30_000,
    });
  }

  /** Resolves when each built-in group version has its APIService. */
  async start(): Promise<void> {
    const { state, catalogue } = this.options;
    for (const { group, version } of catalogue.groupVersions()) {
      const priorities = builtinPriorities(group, version);
      // The aggregator's own group has none.
      if (!priorities || group === registrationGroup) continue;
      this.#builtin.set(
        `${version}.${group}`,
        specOf(group, version, priorities),
      );
    }
    for (const object of this.#present()) this.#atStart.add(nameOf(object));
    for (const definition of state.list(...definitions))
      this.#count(servedBy(definition), 1);
    this.#stops.push(
      state.onChange(...definitions, ({ object, previous }) =>
        this.#definitionChanged(object, previous),
      ),
      state.onChange(
        registrationGroup,
        apiServicesResource.resource,
        ({ object, previous }) =>
          this.#queue.add(nameOf(typed<APIService>((object ?? previous)!))),
      ),
    );
    await Promise.all(
      [...this.#builtin.keys()].map((name) => this.#reconcile(name)),
    );
    this.#queue.start();
    for (const name of [...this.#atStart, ...this.#custom.keys()])
      this.#queue.add(name);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    await this.#queue.stop();
  }

  #definitionChanged(object: object | undefined, previous: object | undefined) {
    const [now, before] = [servedBy(object), servedBy(previous)];
    if (now.join() === before.join()) return;
    this.#count(now, 1);
    this.#count(before, -1);
    for (const name of new Set([...now, ...before])) this.#queue.add(name);
  }

  #count(names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const count = (this.#custom.get(name) ?? 0) + by;
      if (count > 0) this.#custom.set(name, count);
      else this.#custom.delete(name);
    }
  }

  #present(): readonly APIService[] {
    const { resource } = apiServicesResource;
    return typed<readonly APIService[]>(
      this.options.state.list(registrationGroup, resource),
    );
  }

  /** The built-in one wins. */
  #wanted(name: string): { spec: APIServiceSpec; managed: string } | undefined {
    const builtin = this.#builtin.get(name);
    if (builtin) return { spec: builtin, managed: "onstart" };
    if (!this.#custom.has(name)) return undefined;
    const dot = name.indexOf(".");
    const [version, group] = [name.slice(0, dot), name.slice(dot + 1)];
    return {
      spec: specOf(group, version, otherPriorities(group)),
      managed: "true",
    };
  }

  async #reconcile(name: string): Promise<void> {
    try {
      await this.#bringAbout(name);
      this.#synced.add(name);
    } catch (error) {
      // Another writer was first: its change brings the name here again.
      if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error))
        throw error;
    }
  }

  async #bringAbout(name: string): Promise<void> {
    const { state, transport } = this.options;
    const { resource: plural } = apiServicesResource;
    const wanted = this.#wanted(name);
    const present = typed<APIService>(
      state.read(registrationGroup, plural, "", name),
    );
    const synced = this.#synced.has(name);
    const resource = apiServicesResource;
    if (wanted?.managed === "onstart" && synced) return;
    if (!present) {
      if (!wanted) return;
      const labels = { [managedLabel]: wanted.managed };
      const body = { metadata: { name, labels }, spec: wanted.spec };
      await transport.request({ verb: "create", resource, body });
      return;
    }
    const managed = label(present);
    if (managed !== "true" && managed !== "onstart") return;
    if (managed === "onstart" && (synced || !this.#atStart.has(name))) return;
    if (!wanted) {
      // Applied over one that was kept here once: its user's, whatever label is left on it.
      if (managed === "onstart" && present.spec.service) return;
      const { uid } = present.metadata;
      const body = { preconditions: { uid } };
      await transport.request({ verb: "delete", resource, name, body });
    } else if (!sameValue(present.spec, wanted.spec)) {
      const body = { ...present, spec: wanted.spec };
      await transport.request({ verb: "update", resource, name, body });
    }
  }
}

function specOf(
  group: string,
  version: string,
  [groupPriorityMinimum, versionPriority]: readonly [number, number],
): APIServiceSpec {
  return {
    ...(group === "" ? {} : { group }),
    version,
    groupPriorityMinimum,
    versionPriority,
  };
}

const nameOf = ({ metadata }: APIService): string => metadata.name ?? "";

/** Names of the APIServices of a definition's served versions. */
function servedBy(definition: object | undefined): string[] {
  const spec = typed<CustomResourceDefinition>(definition)?.spec;
  return (spec?.versions ?? [])
    .filter(({ served }) => served)
    .map(({ name }) => `${name}.${spec!.group}`);
}
