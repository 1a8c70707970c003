// Objects of other kinds than Pod found in the manifests directory: applied to the API server (server-side apply, manager
// orbit-manifests), and pruned when their file, or their place in it, is gone. What was applied is remembered in
// DATA/manifest-objects.json, so that a file removed while the server was down is pruned too. Definitions come before
// their custom objects and go after them, in whatever order the files have them.
// Works on the newest set only; a failure is retried with back-off and never keeps the other objects from being applied.
import { Backoff } from "../../api/queueing/backoff.ts";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import {
  builtinCatalogue,
  type Catalogue,
  type ResourceInfo,
} from "../../api/catalogue.ts";
import type { Clock, Timer } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import {
  apiVersionOf,
  parseApiVersion,
  type AnyObject,
} from "../../api/object.ts";
import type { Client, ResourceRef } from "../../client/client.ts";

interface ManifestObjectsOptions {
  client: Client;
  dataDirectory: string;
  clock: Clock;
  logger: Logger;
  /** An object that can't be applied; it is reported once until its text, or what is wrong with it, changes. */
  onProblem: (file: string, message: string) => void;
}

/** Enough to find an applied object again. */
interface AppliedObject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
}

const fieldManager = "orbit-manifests";
/** Namespaces and definitions before what needs them. */
const order = [
  "Namespace",
  "CustomResourceDefinition",
  "ServiceAccount",
  "ConfigMap",
  "Secret",
];
/** Of work on objects, before others have the event loop. */
const sliceMs = 5;
/** Problems of one pass; the rest is counted. */
const maxReported = 20;
const definitionKind = "CustomResourceDefinition";
/** How often, and how far apart, a new definition is read until its objects are served. */
const definitionReads = 20;
const definitionReadMs = 50;

const rankOf = ({ kind = "" }: { kind?: string }): number =>
  (order.indexOf(kind) + order.length + 1) % (order.length + 1);

const keyOf = (object: AppliedObject): string =>
  `${object.apiVersion}/${object.kind}/${object.namespace}/${object.name}`;

interface DiscoveredList {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

/** The server does not serve the version, or not with this kind. */
class NoSuchKind extends Error {}

export class ManifestObjects {
  readonly #options: ManifestObjectsOptions;
  readonly #catalogue: Catalogue = builtinCatalogue();
  readonly #file: string;
  /** By key: what was applied, with the text that was applied; "" after a restart. */
  #applied: Map<string, { object: AppliedObject; text: string }> | undefined;
  #wanted: readonly { file: string; object: AnyObject }[] | undefined;
  #problems = new Set<string>();
  #working = false;
  #again = false;
  #stopped = false;
  #retry: Timer | undefined;
  readonly #retries = new Backoff({ baseMs: 500, maxMs: 30_000 });
  #finished: Promise<void> = Promise.resolve();

  constructor(options: ManifestObjectsOptions) {
    this.#options = options;
    this.#file = path.join(options.dataDirectory, "manifest-objects.json");
  }

  /** The complete set of the directory; replaces the one before. */
  set(byFile: ReadonlyMap<string, readonly AnyObject[]>): void {
    this.#wanted = [...byFile].flatMap(([file, objects]) =>
      objects.map((object) => ({ file, object })),
    );
    this.#retries.reset();
    this.#start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry?.cancel();
    await this.#finished;
  }

  #start(): void {
    this.#retry?.cancel();
    if (this.#stopped) return;
    if (this.#working) {
      this.#again = true;
      return;
    }
    this.#working = true;
    this.#finished = this.#work().finally(() => {
      this.#working = false;
      if (this.#again) {
        this.#again = false;
        this.#start();
      }
    });
  }

  async #work(): Promise<void> {
    const { logger, clock } = this.#options;
    this.#applied ??= await this.#load();
    const applied = this.#applied;
    const wanted = [...(this.#wanted ?? [])].sort(
      (a, b) => rankOf(a.object) - rankOf(b.object),
    );
    const problems = new Set<string>();
    const keep = new Set<string>();
    let failed = 0;
    let reported = 0;
    let changed = false;
    let begunMs = performance.now();
    for (const { file, object } of wanted) {
      // In one process an answer may come without a turn of the event loop.
      if (performance.now() - begunMs > sliceMs) {
        await setImmediate();
        begunMs = performance.now();
      }
      if (this.#stopped) return await this.#saved(changed);
      const text = JSON.stringify(object);
      try {
        const { ref, identity } = await this.#identify(object);
        keep.add(keyOf(identity));
        if (applied.get(keyOf(identity))?.text === text) continue;
        await this.#options.client
          .resource(ref)
          .patch(
            identity.name,
            identity.namespace || undefined,
            { type: "apply", body: withNamespace(object, identity.namespace) },
            { fieldManager, force: true },
          );
        applied.set(keyOf(identity), { object: identity, text });
        changed = true;
        logger.info(
          {
            kind: identity.kind,
            name: identity.name,
            namespace: identity.namespace,
          },
          "applied a manifest's object",
        );
        if (identity.kind === definitionKind)
          await this.#waitUntilServed(ref, identity.name);
      } catch (err) {
        failed++;
        const why = err instanceof Error ? err.message : String(err);
        const message = `${file}: ${object.kind} ${object.metadata?.name ?? ""} could not be applied, trying again: ${why}`;
        problems.add(message);
        if (!this.#problems.has(message) && ++reported <= maxReported)
          this.#options.onProblem(file, message);
      }
    }
    if (reported > maxReported)
      logger.error(
        { count: reported - maxReported },
        "more objects of manifests could not be applied",
      );
    // An object that could not be identified may be one that is known: nothing is pruned before all are.
    const known = [...applied].sort(
      ([, a], [, b]) => rankOf(b.object) - rankOf(a.object),
    );
    for (const [key, { object }] of failed === 0 ? known : []) {
      if (keep.has(key)) continue;
      try {
        const { ref } = await this.#identify({
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: { name: object.name, namespace: object.namespace },
        } as AnyObject);
        await this.#options.client
          .resource(ref)
          .delete(object.name, object.namespace || undefined);
        logger.info(
          { kind: object.kind, name: object.name, namespace: object.namespace },
          "pruned an object whose manifest is gone",
        );
      } catch (err) {
        // With its definition, all objects of a kind go.
        if (!isNotFound(err) && !(err instanceof NoSuchKind)) {
          failed++;
          logger.warn(
            { err, kind: object.kind, name: object.name },
            "an object could not be pruned; trying again",
          );
          continue;
        }
      }
      applied.delete(key);
      changed = true;
    }
    this.#problems = problems;
    await this.#saved(changed);
    if (failed > 0 && !this.#stopped) {
      this.#retry = clock.after(this.#retries.nextMs(), () => this.#start());
    }
  }

  /** Returns too when a definition does not get there: its objects are reported then. */
  async #waitUntilServed(ref: ResourceRef, name: string): Promise<void> {
    const { client, clock } = this.#options;
    for (let read = 0; read < definitionReads && !this.#stopped; read++) {
      const { status } = (await client.resource(ref).get(name)) as {
        status?: { conditions?: { type: string; status: string }[] };
      };
      if (isConditionTrue(status?.conditions, "Established")) return;
      await new Promise<void>(
        (resolve) => void clock.after(definitionReadMs, resolve),
      );
    }
  }

  async #identify(
    object: AnyObject,
  ): Promise<{ ref: ResourceRef; identity: AppliedObject }> {
    const apiVersion = object.apiVersion ?? "";
    const kind = object.kind ?? "";
    const { group, version } = parseApiVersion(apiVersion);
    let info: Pick<ResourceInfo, "resource" | "namespaced"> | undefined =
      this.#catalogue.kind(group, version, kind);
    if (!info) {
      const { body } = await this.#options.client
        .raw(
          "GET",
          `${group === "" ? "/api" : "/apis"}/${apiVersionOf({ group, version })}`,
        )
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
          return { body: {} };
        });
      const found = (body as Partial<DiscoveredList>).resources?.find(
        (each) => each.kind === kind && !each.name.includes("/"),
      );
      if (!found)
        throw new NoSuchKind(
          `no matches for kind "${kind}" in version "${apiVersion}"`,
        );
      info = { resource: found.name, namespaced: found.namespaced };
    }
    return {
      ref: {
        group,
        version,
        resource: info.resource,
        kind,
        namespaced: info.namespaced,
      },
      identity: {
        apiVersion,
        kind,
        namespace: info.namespaced
          ? (object.metadata.namespace ?? "default")
          : "",
        name: object.metadata.name,
      },
    };
  }

  async #load(): Promise<Map<string, { object: AppliedObject; text: string }>> {
    try {
      const objects = JSON.parse(
        await fs.readFile(this.#file, "utf8"),
      ) as AppliedObject[];
      return new Map(
        objects.map((object) => [keyOf(object), { object, text: "" }]),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        this.#options.logger.warn(
          { err: error },
          "the record of applied manifests can't be read; it begins empty",
        );
      return new Map();
    }
  }

  async #saved(changed: boolean): Promise<void> {
    if (!changed) return;
    const half = `${this.#file}.new`;
    await fs.writeFile(
      half,
      JSON.stringify([...this.#applied!.values()].map(({ object }) => object)),
      { mode: 0o600 },
    );
    await fs.rename(half, this.#file);
  }
}

function withNamespace(object: AnyObject, namespace: string): AnyObject {
  return namespace === ""
    ? object
    : { ...object, metadata: { ...object.metadata, namespace } };
}
