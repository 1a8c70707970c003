// Calls to an etcd cluster over gRPC. One connection to one server at a time; when it is not available the next server
// takes its place. While none is there calls wait: one that changes nothing is tried again and again, one that changes
// something only as long as it has certainly not been sent.
import type * as Grpc from "@grpc/grpc-js";
import type {
  ChannelCredentials,
  Client,
  ClientDuplexStream,
  ServiceError,
} from "@grpc/grpc-js";
import type { Type } from "protobufjs";
import type { Clock } from "../../api/clock.ts";
import { StoreError } from "../store.ts";
import {
  etcdMessages,
  methods,
  type Method,
  type WatchResponse,
} from "./messages.ts";

export interface EtcdTls {
  /** PEM */
  readonly ca?: Buffer | string;
  readonly certificate?: Buffer | string;
  readonly key?: Buffer | string;
}

export interface EtcdClientOptions {
  /** e.g. https://10.0.0.1:2379 */
  readonly servers: readonly string[];
  readonly tls?: EtcdTls;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** How long a call waits for a server that can be reached. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

export interface CallOptions {
  /** May be done twice. */
  readonly repeatable?: boolean;
  readonly patienceMs?: number;
}

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
/** The texts of UNAVAILABLE for what never left this process. */
const notSent = /^(No connection established|Name resolution failed)/;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #grpc: typeof Grpc | undefined;
  readonly #types = new Map<string, Type>();
  #current: Client | undefined;
  #index = 0;
  #closed = false;
  readonly #pauses = new Set<() => void>();

  constructor(options: EtcdClientOptions) {
    if (options.servers.length === 0)
      throw new RangeError("at least one etcd server is needed");
    this.#options = options;
  }

  /** Loads gRPC; connects with the first call. */
  async start(): Promise<void> {
    this.#grpc = await import("@grpc/grpc-js");
    const { Root } = await import("protobufjs");
    const root = Root.fromJSON(etcdMessages);
    for (const { request, response } of Object.values(methods)) {
      this.#types.set(request, root.lookupType(request));
      this.#types.set(response, root.lookupType(response));
    }
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
    let pauseMs = MIN_PAUSE_MS;
    for (let attempt = 1; ; attempt++) {
      const client = this.#connection();
      try {
        return await this.#unary<T>(client, methods[name], request);
      } catch (error) {
        const failure = error as ServiceError;
        if (failure.code !== UNAVAILABLE) throw asStoreError(failure);
        this.#leave(client);
        if (!repeatable && !notSent.test(failure.details))
          throw asStoreError(failure);
        const everyServer = attempt > servers.length;
        if (everyServer && clock.monotonic() + pauseMs >= until)
          throw asStoreError(failure, patienceMs > 0);
        if (attempt % servers.length === 0) {
          await this.#pause(pauseMs);
          pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
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
    const client = this.#connection();
    const { path, request, response } = methods.watch;
    const stream: ClientDuplexStream<object, WatchResponse> =
      client.makeBidiStreamRequest(
        path,
        this.#encoder(request),
        this.#decoder<WatchResponse>(response),
      );
    let ended = false;
    const end = (error: Error): void => {
      if (ended) return;
      ended = true;
      stream.cancel();
      onEnd(error);
    };
    stream.on("data", onResponse);
    stream.on("error", (error: ServiceError) => {
      if (error.code === UNAVAILABLE && !ended) this.#leave(client);
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

  #unary<T>(
    client: Client,
    { path, request, response }: Method,
    message: object,
  ): Promise<T> {
    const deadline = Date.now() + this.#options.timeoutMs;
    return new Promise<T>((resolve, reject) => {
      client.makeUnaryRequest<object, T>(
        path,
        this.#encoder(request),
        this.#decoder<T>(response),
        message,
        { deadline },
        (error, value) => {
          if (error) reject(error);
          else resolve(value!);
        },
      );
    });
  }

  #connection(): Client {
    if (this.#closed || !this.#grpc)
      throw new StoreError("closed", "the store is closed");
    if (this.#current) return this.#current;
    const url = new URL(
      this.#options.servers[this.#index % this.#options.servers.length]!,
    );
    this.#current = new this.#grpc.Client(
      `${url.hostname}:${url.port || "2379"}`,
      this.#credentials(url),
      {
        "grpc.max_receive_message_length": -1,
        "grpc.max_send_message_length": -1,
        "grpc.keepalive_time_ms": 30_000,
        "grpc.keepalive_timeout_ms": 10_000,
      },
    );
    return this.#current;
  }

  #credentials(url: URL): ChannelCredentials {
    const { credentials } = this.#grpc!;
    if (url.protocol !== "https:") return credentials.createInsecure();
    const { ca, certificate, key } = this.#options.tls ?? {};
    const bytes = (pem: Buffer | string | undefined): Buffer | null =>
      pem === undefined ? null : Buffer.from(pem);
    return credentials.createSsl(bytes(ca), bytes(key), bytes(certificate));
  }

  /** The next call goes to the next server. */
  #leave(client: Client): void {
    if (this.#current !== client) return;
    this.#current = undefined;
    this.#index++;
    client.close();
  }

  #encoder(name: string): (message: object) => Buffer {
    const type = this.#types.get(name)!;
    return (message) =>
      Buffer.from(type.encode(type.fromObject(message)).finish());
  }

  #decoder<T>(name: string): (bytes: Buffer) => T {
    const type = this.#types.get(name)!;
    return (bytes) =>
      type.toObject(type.decode(bytes), {
        longs: String,
        defaults: true,
        arrays: true,
        bytes: Buffer,
      }) as T;
  }
}

function asStoreError(
  error: ServiceError | StoreError,
  waited = false,
): StoreError {
  if (error instanceof StoreError) return error;
  const text = (error.details || error.message).replace(
    /\.? *Resolution note: *$/,
    "",
  );
  const code = /database space exceeded/.test(text)
    ? "full"
    : /required revision has been compacted/.test(text)
      ? "compacted"
      : waited || (error as ServiceError).code === DEADLINE_EXCEEDED
        ? "timeout"
        : "unavailable";
  return new StoreError(code, `etcd: ${text}`, { cause: error });
}
