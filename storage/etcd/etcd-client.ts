// Calls to an etcd cluster over gRPC. One connection to one server at a time; when it is not available the next server
// takes its place. While none is there calls wait: one that changes nothing is tried again and again, one that changes
// something only as long as it has certainly not been sent.
import { backoffMs } from "../../api/queueing/backoff.ts";
import { trimEnd } from "../../api/patterns/trim.ts";
import type { Clock } from "../../api/clock.ts";
import {
  GrpcChannel,
  grpcCode,
  grpcCodes,
  grpcText,
  loadGrpc,
  type GrpcLibrary,
  type GrpcTracing,
  type GrpcTls,
} from "../../grpc/channel.ts";
import { createWireCodec } from "../../grpc/wire.ts";
import { StoreError } from "../store.ts";
import { etcdMessages, methods, type WatchResponse } from "./messages.ts";

const codec = createWireCodec(etcdMessages);

interface EtcdClientOptions {
  /** e.g. https://10.0.0.1:2379 */
  readonly servers: readonly string[];
  readonly tls?: GrpcTls;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** How long a call waits for a server that can be reached. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

interface CallOptions {
  /** May be done twice. */
  readonly repeatable?: boolean;
  readonly patienceMs?: number;
}

/** The texts of UNAVAILABLE for what never left this process. */
const notSent = /^(No connection established|Name resolution failed)/;
/** Between two rounds over the servers. */
const pause = { baseMs: 20, maxMs: 500 };

export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #grpc: GrpcLibrary | undefined;
  #current: GrpcChannel | undefined;
  #index = 0;
  #closed = false;
  #trace: GrpcTracing | undefined;
  readonly #pauses = new Set<() => void>();

  constructor(options: EtcdClientOptions) {
    if (options.servers.length === 0)
      throw new RangeError("at least one etcd server is needed");
    this.#options = options;
  }

  /** Of connections that are made from now on. */
  trace(tracing: GrpcTracing): void {
    this.#trace = tracing;
  }

  /** Loads gRPC; connects with the first call. */
  async start(): Promise<void> {
    this.#grpc = await loadGrpc();
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
    this.#current = undefined;
    for (const end of this.#pauses) end();
  }

  /** Rejects with a StoreError. */
  async call<T>(
    name: Exclude<keyof typeof methods, "watch">,
    request: object,
    {
      repeatable = false,
      patienceMs = this.#options.patienceMs,
    }: CallOptions = {},
  ): Promise<T> {
    const { clock, servers } = this.#options;
    const until = clock.monotonic() + patienceMs;
    let pauses = 0;
    for (let attempt = 1; ; attempt++) {
      const channel = this.#connection();
      try {
        return await channel.unary<T>(methods[name], request, {
          timeoutMs: this.#options.timeoutMs,
        });
      } catch (failure) {
        if (grpcCode(failure) !== grpcCodes.unavailable)
          throw asStoreError(failure);
        this.#leave(channel);
        if (!repeatable && !notSent.test(grpcText(failure)))
          throw asStoreError(failure);
        const everyServer = attempt > servers.length;
        const pauseMs = backoffMs(pause, pauses);
        if (everyServer && clock.monotonic() + pauseMs >= until)
          throw asStoreError(failure, patienceMs > 0);
        if (attempt % servers.length === 0) {
          await this.#pause(pauseMs);
          pauses++;
        }
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      // Not the clock's: its timers let a process end that waits for nothing else.
      const timer = setTimeout(end, ms);
      this.#pauses.add(end);
    });
  }

  /** One watch over all keys of a prefix. `onEnd` is called once, with why it ended. */
  watch(
    create: object,
    onResponse: (response: WatchResponse) => void,
    onEnd: (error: Error) => void,
  ): { cancel(): void } {
    const channel = this.#connection();
    const stream = channel.duplexStream<WatchResponse>(methods.watch);
    let ended = false;
    const end = (error: Error): void => {
      if (ended) return;
      ended = true;
      stream.cancel();
      onEnd(error);
    };
    stream.on("data", onResponse);
    stream.on("error", (error) => {
      if (grpcCode(error) === grpcCodes.unavailable && !ended)
        this.#leave(channel);
      end(asStoreError(error));
    });
    stream.on("end", () =>
      end(new StoreError("unavailable", "etcd ended the watch")),
    );
    stream.write({ createRequest: create });
    return {
      cancel: () => {
        ended = true;
        stream.cancel();
      },
    };
  }

  #connection(): GrpcChannel {
    if (this.#closed || !this.#grpc)
      throw new StoreError("closed", "the store is closed");
    if (this.#current) return this.#current;
    const url = new URL(
      this.#options.servers[this.#index % this.#options.servers.length]!,
    );
    this.#current = new GrpcChannel(this.#grpc, {
      target: `${url.hostname}:${url.port || "2379"}`,
      ...{ codec, trace: this.#trace },
      tls: url.protocol === "https:" ? (this.#options.tls ?? {}) : undefined,
      settings: {
        "grpc.max_receive_message_length": -1,
        "grpc.max_send_message_length": -1,
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
      },
    });
    return this.#current;
  }

  /** The next call goes to the next server. */
  #leave(channel: GrpcChannel): void {
    if (this.#current !== channel) return;
    this.#current = undefined;
    this.#index++;
    channel.close();
  }
}

function asStoreError(error: unknown, waited = false): StoreError {
  if (error instanceof StoreError) return error;
  const text = withoutEmptyNote(grpcText(error));
  const code = /database space exceeded/.test(text)
    ? "full"
    : /required revision has been compacted/.test(text)
      ? "compacted"
      : waited || grpcCode(error) === grpcCodes.deadlineExceeded
        ? "timeout"
        : "unavailable";
  return new StoreError(code, `etcd: ${text}`, { cause: error });
}

/** The transport adds a note to every connection error, with nothing behind it most of the time. */
function withoutEmptyNote(text: string): string {
  const trimmed = trimEnd(text, " ");
  const note = "Resolution note:";
  return trimmed.endsWith(note)
    ? trimEnd(trimmed.slice(0, -note.length), " .")
    : text;
}
