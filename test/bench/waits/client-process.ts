// The other clients, in a process of their own: they write many objects, read answers as fast as they come and throw them
// away. Driven over the channel of child_process.fork: one order, one report.
import { execFileSync, fork } from "node:child_process";
import { Connection, type Target } from "../support/connection.ts";
import { Http2Connection } from "../support/http2-connection.ts";
import { configMap, pod } from "../api/objects.ts";
import { writeBodies } from "./bodies.ts";

export interface ReadOrder {
  readonly kind: "read";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Connections at once. */
  readonly clients: number;
  /** Over HTTP/2: requests at once on each connection; the client holds back what the server does not allow. */
  readonly streams?: number;
  /** Each asks again until then; 0: once. */
  readonly forMs: number;
  /** The answer is a stream that is over where this text comes. */
  readonly until?: string;
  /** The pages that follow are read as well. */
  readonly paged?: boolean;
}

export interface FillOrder {
  readonly kind: "fill";
  readonly resource: "configmaps" | "pods";
  readonly namespace: string;
  readonly count: number;
}

/** One of the writes of large bodies. */
export interface WriteOrder {
  readonly kind: "write";
  readonly namespace: string;
  readonly scenario: string;
}

export interface Reading {
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
}

type Order = ReadOrder | FillOrder | WriteOrder;
type Client = Pick<Connection, "request" | "close">;

export interface ClientProcess {
  read(order: Omit<ReadOrder, "kind">): Promise<Reading[]>;
  write(order: Omit<WriteOrder, "kind">): Promise<Reading[]>;
  /** Seconds it took. */
  fill(order: Omit<FillOrder, "kind">): Promise<number>;
  close(): void;
}

/** Starts this same program as the client process. */
export function startClientProcess(args: readonly string[]): ClientProcess {
  const child = fork(process.argv[1]!, [...args], {
    env: { ...process.env, ORBIT_BENCH_CLIENT: "1" },
  });
  const order = <T>(message: Order): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      child.once("message", (answer: { error?: string; result?: T }) => {
        if (answer.error === undefined) resolve(answer.result as T);
        else reject(new Error(answer.error));
      });
      child.send(message);
    });
  return {
    read: (wanted) => order<Reading[]>({ kind: "read", ...wanted }),
    write: (wanted) => order<Reading[]>({ kind: "write", ...wanted }),
    fill: (wanted) => order<number>({ kind: "fill", ...wanted }),
    close: () => child.kill(),
  };
}

export function runClientProcess(target: Target): void {
  // On a small machine the server and the prober come first: these clients have all of the time that those leave, and no
  // more. A low priority alone lets a thread of the server that wakes wait for the end of their slice of some milliseconds.
  execFileSync("chrt", [
    "--idle",
    "--all-tasks",
    "--pid",
    "0",
    String(process.pid),
  ]);
  process.on("message", (order: Order) => {
    perform(target, order).then(
      (result) => process.send!({ result }),
      (error: unknown) => process.send!({ error: String(error) }),
    );
  });
}

function perform(target: Target, order: Order): Promise<Reading[] | number> {
  if (order.kind === "read") return read(target, order);
  if (order.kind === "write")
    return writeBodies(target, order.namespace, order.scenario);
  return fill(target, order);
}

async function read(target: Target, order: ReadOrder): Promise<Reading[]> {
  const readings: Reading[] = [];
  const endMs = performance.now() + order.forMs;
  const client = async (connection: Client): Promise<void> => {
    do {
      const startMs = performance.now();
      const answer = await readOnce(connection, order);
      readings.push({ ...answer, ms: performance.now() - startMs });
    } while (performance.now() < endMs);
  };
  const connections = Array.from({ length: order.clients }, () =>
    order.streams ? new Http2Connection(target) : new Connection(target),
  );
  try {
    await Promise.all(
      connections.flatMap((one) =>
        Array.from({ length: order.streams ?? 1 }, () => client(one)),
      ),
    );
  } finally {
    for (const one of connections) one.close();
  }
  return readings;
}

async function readOnce(
  connection: Client,
  order: ReadOrder,
): Promise<{ status: number; bytes: number }> {
  const { method = "GET", path, headers, until, paged } = order;
  if (until !== undefined)
    return new Promise((resolve, reject) => {
      let bytes = 0;
      let last = "";
      const onChunk = (chunk: Buffer): void => {
        bytes += chunk.length;
        // The text is near the end of the stream, so the ends of the chunks are enough.
        last = (last + chunk.toString("latin1", -8192)).slice(-16384);
        if (last.includes(until)) resolve({ status: 200, bytes });
      };
      connection
        .request(method, path, undefined, headers, { onChunk })
        .then(({ status }) => reject(new Error(`${path}: ${status}`)), reject);
    });
  if (!paged) return connection.request(method, path, undefined, headers);
  let bytes = 0;
  for (let next = ""; ;) {
    const page = await connection.request(
      method,
      `${path}${next && `&continue=${next}`}`,
      undefined,
      headers,
      { keepBody: true },
    );
    bytes += page.bytes;
    next = /"continue":"([^"]+)"/.exec(page.body.slice(0, 2000))?.[1] ?? "";
    if (page.status !== 200 || next === "")
      return { status: page.status, bytes };
  }
}

async function fill(target: Target, order: FillOrder): Promise<number> {
  const { resource, namespace, count } = order;
  const startMs = performance.now();
  let made = 0;
  const writer = async (): Promise<void> => {
    const connection = new Connection(target);
    while (made < count) {
      const index = made++;
      const name = `filled-${String(index).padStart(6, "0")}`;
      const { status, body } = await connection.request(
        "POST",
        `/api/v1/namespaces/${namespace}/${resource}`,
        resource === "pods" ? largePod(name, index) : configMap(name),
        { Accept: "application/json" },
        { keepBody: true },
      );
      if (status !== 201) throw new Error(`${resource}: ${status} ${body}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: 32 }, writer));
  return (performance.now() - startMs) / 1000;
}

/** About 4.5 KB as stored. */
function largePod(name: string, index: number): string {
  const object = JSON.parse(pod(name, index)) as {
    metadata: { annotations: Record<string, string> };
  };
  object.metadata.annotations["example.com/padding"] = "padding ".repeat(50);
  return JSON.stringify(object);
}
