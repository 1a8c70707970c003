// The condition Dangling of FlowSchemas: does the priority level they name exist and make sense? Written by server-side
// apply as the reference does, after each change of the objects, at most six times a minute for one schema, so that
// servers that disagree do not fight at full speed.
import type { Logger } from "pino";
import { formatTime, type Clock, type Timer } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import { Backoff } from "../../api/queueing/backoff.ts";
import type {
  FlowSchema,
  FlowSchemaCondition,
} from "../../api/types/flowcontrol-v1.ts";
import type { Transport } from "../../client/transport.ts";
import type { ClusterState } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";

interface DanglingSchemasOptions {
  readonly transport: Pick<Transport, "request">;
  readonly state: ClusterState;
  /** Is the level in effect? */
  readonly hasLevel: (name: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

const group = "flowcontrol.apiserver.k8s.io";
const apiVersion = `${group}/v1`;
const fieldManager = "api-priority-and-fairness-config-consumer-v1";
const maxAMinute = 6;
const minuteMs = 60_000;

export class DanglingSchemas {
  readonly #stops: (() => void)[] = [];
  readonly #backoff = new Backoff({ baseMs: 200, maxMs: 3_600_000 });
  /** When each schema was written lately. */
  readonly #written = new Map<string, number[]>();
  #running: Promise<void> | undefined;
  #again = false;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: DanglingSchemasOptions) {}

  /** All schemas have their condition. */
  async start(): Promise<void> {
    for (const resource of ["flowschemas", "prioritylevelconfigurations"])
      this.#stops.push(
        this.options.state.onChange(group, resource, () => this.#soon(0)),
      );
    await this.#sync();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const stop of this.#stops.splice(0)) stop();
  }

  #soon(delayMs: number): void {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#timer?.cancel();
    this.#timer = this.options.clock.after(delayMs, () => void this.#sync());
  }

  #sync(): Promise<void> {
    this.#running = this.#writeAll()
      .then(
        (delayMs) => {
          this.#backoff.reset();
          return delayMs;
        },
        (error: unknown) => {
          this.options.logger.warn(
            { err: error },
            "can't write the conditions of flow schemas",
          );
          return this.#backoff.nextMs();
        },
      )
      .then((delayMs) => {
        this.#running = undefined;
        if (this.#stopped) return;
        if (delayMs !== undefined) this.#soon(delayMs);
        else if (this.#again) this.#soon(0);
        this.#again = false;
      });
    return this.#running;
  }

  /** Milliseconds after which to look again; undefined: nothing is left to do. */
  async #writeAll(): Promise<number | undefined> {
    const schemas = typed<FlowSchema[]>(
      this.options.state.list(group, "flowschemas"),
    );
    const names = new Set(schemas.map(({ metadata }) => metadata.name));
    for (const name of this.#written.keys())
      if (!names.has(name)) this.#written.delete(name);
    let delayMs: number | undefined;
    const work: Promise<void>[] = [];
    for (const schema of schemas) {
      const condition = this.#wanted(schema);
      if (!condition) continue;
      if (this.#mayWrite(schema.metadata.name!))
        work.push(this.#write(schema.metadata.name!, condition));
      else delayMs ??= (30 + Math.floor(Math.random() * 45)) * 1000;
    }
    await Promise.all(work);
    return delayMs;
  }

  /** Undefined: it is as it should be. */
  #wanted({ spec, status }: FlowSchema): FlowSchemaCondition | undefined {
    const level = spec.priorityLevelConfiguration.name;
    const start = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
    const wanted = this.options.hasLevel(level)
      ? { status: "False", reason: "Found", message: `${start} and it exists` }
      : {
          status: "True",
          reason: "NotFound",
          message: `${start} but there is no such object`,
        };
    const present = status?.conditions?.find(({ type }) => type === "Dangling");
    if (
      present?.status === wanted.status &&
      present.reason === wanted.reason &&
      present.message === wanted.message
    )
      return undefined;
    const lastTransitionTime = formatTime(this.options.clock.now());
    return { type: "Dangling", lastTransitionTime, ...wanted };
  }

  #mayWrite(name: string): boolean {
    const nowMs = this.options.clock.monotonic();
    const lately = (this.#written.get(name) ?? []).filter(
      (atMs) => nowMs - atMs < minuteMs,
    );
    this.#written.set(name, lately);
    if (lately.length >= maxAMinute) return false;
    lately.push(nowMs);
    return true;
  }

  async #write(name: string, condition: FlowSchemaCondition): Promise<void> {
    try {
      await this.options.transport.request({
        verb: "patch",
        resource: { group, version: "v1", resource: "flowschemas" },
        name,
        subresource: "status",
        query: { fieldManager, force: "true" },
        patch: {
          type: "apply",
          body: {
            apiVersion,
            kind: "FlowSchema",
            metadata: { name },
            status: { conditions: [condition] },
          },
        },
      });
    } catch (error) {
      // It was deleted meanwhile.
      if (!isNotFound(error)) throw error;
    }
  }
}
