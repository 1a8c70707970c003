// The pods the node bench starts, and a watch that notes when each was first seen in each state.
import { Connection, type Target } from "../support/connection.ts";

export const podsPath = "/api/v1/namespaces/default/pods";

/** A shell that ends at once on TERM, so that deletion measures the node and not the program. */
export function podTemplate(image: string): object {
  const command = [
    "sh",
    "-c",
    'trap "exit 0" TERM; while true; do sleep 1000 & wait $!; done',
  ];
  return {
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: "c", image, imagePullPolicy: "IfNotPresent", command },
    ],
  };
}

export async function request(
  connection: Connection,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: unknown }> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await connection.request(
    method,
    path,
    text,
    { Accept: "application/json" },
    { keepBody: true },
  );
  return {
    status: answer.status,
    json: answer.body ? (JSON.parse(answer.body) as unknown) : undefined,
  };
}

export function createPod(
  connection: Connection,
  name: string,
  image: string,
  label: string,
): Promise<{ status: number; json: unknown }> {
  return request(connection, "POST", podsPath, {
    metadata: { name, labels: { bench: label } },
    spec: podTemplate(image),
  });
}

/** Asks again every 10 ms until the answer is yes; rejects after two minutes. */
export async function until(
  reached: () => Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await reached())) {
    if (performance.now() > deadline) throw new Error("gave up waiting");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Epoch milliseconds at which a pod was first seen so. */
export interface Seen {
  running?: number;
  ready?: number;
  deleted?: number;
}

interface PodEvent {
  type: string;
  object: {
    metadata: { name: string };
    status?: {
      phase?: string;
      conditions?: { type: string; status: string }[];
    };
  };
}

export class PodWatch {
  readonly #connection: Connection;
  readonly #seen = new Map<string, Seen>();
  #waiting: { ready: () => boolean; resolve: () => void }[] = [];
  #rest = "";

  private constructor(target: Target) {
    this.#connection = new Connection(target);
  }

  static async open(target: Target, label: string): Promise<PodWatch> {
    const setup = new Connection(target);
    const path = `${podsPath}?labelSelector=bench%3D${label}`;
    const { json } = await request(setup, "GET", path);
    setup.close();
    const { resourceVersion } = (
      json as { metadata: { resourceVersion: string } }
    ).metadata;
    const watch = new PodWatch(target);
    const onChunk = (chunk: Buffer): void => watch.#receive(chunk.toString());
    watch.#connection
      .request(
        "GET",
        `${path}&watch=true&resourceVersion=${resourceVersion}`,
        undefined,
        {},
        { onChunk },
      )
      .catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return watch;
  }

  async reached(name: string, state: keyof Seen): Promise<Seen> {
    await this.#until(
      () => this.#seen.get(name)?.[state] !== undefined,
      `${name} to be ${state}`,
    );
    return this.#seen.get(name)!;
  }

  async allDeleted(count: number): Promise<void> {
    const deleted = (): number =>
      [...this.#seen.values()].filter((seen) => seen.deleted !== undefined)
        .length;
    await this.#until(() => deleted() >= count, `${count} pods to be gone`);
  }

  close(): void {
    this.#connection.close();
  }

  #until(ready: () => boolean, what: string): Promise<void> {
    if (ready()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`gave up waiting for ${what}`)),
        120_000,
      );
      this.#waiting.push({
        ready,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      });
    });
  }

  #receive(text: string): void {
    const nowMs = performance.timeOrigin + performance.now();
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#note(JSON.parse(line) as PodEvent, nowMs);
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((waiter) => !waiter.ready());
    for (const waiter of waiting)
      if (!this.#waiting.includes(waiter)) waiter.resolve();
  }

  #note(event: PodEvent, nowMs: number): void {
    const { metadata, status } = event.object;
    const seen = this.#seen.get(metadata.name) ?? {};
    this.#seen.set(metadata.name, seen);
    if (status?.phase === "Running") seen.running ??= nowMs;
    if (
      status?.conditions?.some((c) => c.type === "Ready" && c.status === "True")
    )
      seen.ready ??= nowMs;
    if (event.type === "DELETED") seen.deleted ??= nowMs;
  }
}
