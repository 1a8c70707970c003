// The FlowSchemas and priority levels every cluster has. They are made where they are missing, and brought back to what
// this release says at the start and every minute: the mandatory ones always, the suggested ones while their annotation
// apf.kubernetes.io/autoupdate-spec says so (without one: while they are unchanged). Objects of earlier releases,
// which have the annotation and are not in the list any more, are removed.
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import facts from "../../api/facts/flowcontrol-bootstrap.json";
import type { Clock, Timer } from "../../api/clock.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../api/errors.ts";
import type { AnyObject, GroupVersionResource } from "../../api/object.ts";
import type { Transport } from "../../client/transport.ts";
import type { StateReader } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";

interface FlowObjectsOptions {
  readonly transport: Pick<Transport, "request">;
  readonly state: StateReader;
  readonly clock: Clock;
  readonly logger: Logger;
}

const group = "flowcontrol.apiserver.k8s.io";
const annotation = "apf.kubernetes.io/autoupdate-spec";
const query = { fieldManager: "api-priority-and-fairness-config-producer-v1" };
const periodMs = 60_000;
/** Kept at what this release says, whatever their annotation is. */
const mandatory: ReadonlySet<string> = new Set(["exempt", "catch-all"]);

const { priorityLevels, flowSchemas } =
  typed<Record<"priorityLevels" | "flowSchemas", readonly AnyObject[]>>(facts);
const wanted: readonly (readonly [string, readonly AnyObject[]])[] = [
  ["prioritylevelconfigurations", priorityLevels],
  ["flowschemas", flowSchemas],
];

const resourceNamed = (resource: string): GroupVersionResource => ({
  group,
  version: "v1",
  resource,
});

export class FlowObjects {
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: FlowObjectsOptions) {}

  /** All are there. Rejects when they cannot be written. */
  async start(): Promise<void> {
    await this.#ensure();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer = this.options.clock.after(periodMs, () => {
      this.#ensure()
        .catch((error: unknown) =>
          this.options.logger.warn(
            { err: error },
            "can't keep the flow schemas and priority levels up to date",
          ),
        )
        .finally(() => {
          if (!this.#stopped) this.#schedule();
        });
    });
  }

  async #ensure(): Promise<void> {
    const { state } = this.options;
    const work: Promise<void>[] = [];
    for (const [resource, objects] of wanted) {
      const names = new Set(objects.map(({ metadata }) => metadata.name!));
      for (const object of objects)
        work.push(this.#ensureOne(resource, object));
      for (const { metadata } of state.list(group, resource))
        if (!names.has(metadata.name!) && saysUpdate(metadata) === true)
          work.push(this.#remove(resource, metadata.name!));
    }
    await Promise.all(work);
  }

  async #ensureOne(resource: string, object: AnyObject): Promise<void> {
    const { state, transport } = this.options;
    const name = object.metadata.name!;
    const present = state.read(group, resource, "", name);
    const place = { resource: resourceNamed(resource), query };
    if (!present) {
      const creating = { verb: "create", ...place, body: object } as const;
      await transport.request(creating).catch(unless(isAlreadyExists));
      return;
    }
    const body = revised(present, object);
    if (!body) return;
    const updating = { verb: "update", ...place, name, body } as const;
    // Another writer was first: it is looked at again in a minute.
    await transport.request(updating).catch(unless(isConflict, isNotFound));
  }

  async #remove(resource: string, name: string): Promise<void> {
    await this.options.transport
      .request({ verb: "delete", resource: resourceNamed(resource), name })
      .catch(unless(isNotFound));
  }
}

/** What is written in the object's place; undefined: it may stay as it is. */
function revised(
  present: Readonly<AnyObject>,
  object: AnyObject,
): AnyObject | undefined {
  const { metadata } = present;
  const updates =
    mandatory.has(metadata.name!) ||
    (saysUpdate(metadata) ?? metadata.generation === 1);
  const noted = saysUpdate(metadata) === updates;
  const changed = updates && !hasSpec(present, object);
  if (noted && !changed) return undefined;
  const spec = changed ? object.spec : present.spec;
  return {
    ...present,
    metadata: {
      ...metadata,
      annotations: noted
        ? metadata.annotations!
        : { ...metadata.annotations, [annotation]: String(updates) },
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** Undefined: the annotation is missing or no boolean. */
function saysUpdate({
  annotations,
}: AnyObject["metadata"]): boolean | undefined {
  const value = annotations?.[annotation] ?? "";
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : undefined;
}

function hasSpec(present: Readonly<AnyObject>, object: AnyObject): boolean {
  const { exempt } = typed<{ exempt?: object }>(present.spec ?? {});
  // What the exempt level has and lends is the administrator's.
  const expected =
    object.metadata.name === "exempt" && exempt
      ? { ...typed<object>(object.spec ?? {}), exempt }
      : object.spec;
  return isDeepStrictEqual(
    structuredClone(present.spec),
    structuredClone(expected),
  );
}

function unless(
  ...harmless: ((error: unknown) => boolean)[]
): (error: unknown) => void {
  return (error) => {
    if (!harmless.some((is) => is(error))) throw error;
  };
}
