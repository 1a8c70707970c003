// One gRPC channel to containerd's socket: unary CRI calls by name, containerd service calls and streams by method.
// grpc-js is loaded on open(), not at import. The channel reconnects by itself (100 ms … 2 s); while it is down every
// call fails at once with RuntimeError "unavailable". Every gRPC failure leaves here as a RuntimeError.
import type * as grpc from "@grpc/grpc-js";
import { RuntimeError, type RuntimeErrorCode } from "../runtime.ts";
import criTable from "./cri-v1.json";
import type { CriMethods } from "./cri-v1-types.ts";
import { containerdMessages } from "./services.ts";
import { createWireCodec, type WireTable } from "./wire.ts";

export interface ServiceMethod {
  readonly path: string;
  readonly request: string;
  readonly response: string;
}

/** What a caller may send: any part of the message. */
export type Message<T> = {
  [K in keyof T]?: T[K] extends (infer E)[]
    ? Message<E>[]
    : T[K] extends Buffer
      ? Buffer
      : T[K] extends object | undefined
        ? Message<T[K]>
        : T[K];
};

export interface Connection {
  open(): Promise<void>;
  close(): void;
  /** timeoutMs 0: no deadline. */
  call<M extends keyof CriMethods>(
    method: M,
    request: Message<CriMethods[M][0]>,
    timeoutMs?: number,
  ): Promise<CriMethods[M][1]>;
  service<T>(
    method: ServiceMethod,
    request: object,
    options?: ServiceOptions,
  ): Promise<T>;
  serverStream(
    method: ServiceMethod,
    request: object,
  ): grpc.ClientReadableStream<unknown>;
  duplexStream(
    method: ServiceMethod,
    options?: ServiceOptions,
  ): grpc.ClientDuplexStream<object, unknown>;
  decode(message: string, bytes: Uint8Array): unknown;
  /** Resolves when a channel is up; rejects with "unavailable" after timeoutMs. */
  waitForReady(timeoutMs: number): Promise<void>;
}

export interface ServiceOptions {
  timeoutMs?: number;
  /** containerd lease that protects what the call makes. */
  lease?: string;
}

export interface ConnectionOptions {
  /** `unix:///run/containerd/containerd.sock`, or a bare path. */
  endpoint: string;
  requestTimeoutMs: number;
  maxMessageBytes: number;
}

/** containerd's namespace of everything CRI. */
const namespace = "k8s.io";

/** gRPC status codes, by number so that grpc-js need not be loaded to name them. */
const codes: Readonly<Record<number, RuntimeErrorCode>> = {
  3: "invalid",
  4: "timeout",
  5: "not-found",
  9: "invalid",
  12: "unsupported",
  14: "unavailable",
};

export const grpcCodes = {
  cancelled: 1,
  deadlineExceeded: 4,
  alreadyExists: 6,
  unimplemented: 12,
  unavailable: 14,
} as const;

function grpcCode(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}

/** The gRPC code behind a RuntimeError of this connection, if one. */
export function causeCode(error: unknown): number | undefined {
  return error instanceof RuntimeError
    ? grpcCode(error.cause)
    : grpcCode(error);
}

/** Turns a gRPC failure into a RuntimeError; the text is the runtime's own, without grpc-js's code prefix. */
export function toRuntimeError(error: unknown, call: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = grpcCode(error);
  const details = (error as { details?: unknown }).details;
  const text =
    typeof details === "string" && details !== ""
      ? details
      : String((error as Error).message ?? error);
  // For some time after its start containerd answers, but has not read back its pods.
  const kind = /server is not initialized yet/.test(text)
    ? "unavailable"
    : ((code === undefined ? undefined : codes[code]) ?? "unknown");
  return new RuntimeError(kind, `${call}: ${text}`, {
    cause: error,
    detail: text,
  });
}

/** Accepts `unix:///path`, `unix:/path` and `/path`. */
export function socketPath(endpoint: string): string {
  if (endpoint.startsWith("/")) return endpoint;
  const match = /^unix:(?:\/\/)?(\/.+)$/.exec(endpoint);
  if (match === null)
    throw new RuntimeError(
      "invalid",
      `container runtime endpoint ${endpoint} is not a unix socket`,
    );
  return match[1]!;
}

export function createConnection(options: ConnectionOptions): Connection {
  const codec = createWireCodec(
    criTable.messages as unknown as WireTable,
    containerdMessages,
  );
  const target = `unix://${socketPath(options.endpoint)}`;
  const methods = criTable.methods as unknown as Record<
    string,
    [string, string, string]
  >;
  let library: typeof grpc | undefined;
  let client: grpc.Client | undefined;

  function opened(): { library: typeof grpc; client: grpc.Client } {
    if (library === undefined || client === undefined)
      throw new RuntimeError(
        "unavailable",
        "the connection to the container runtime is closed",
      );
    return { library, client };
  }

  function metadata(lease?: string): grpc.Metadata {
    const values = new (opened().library.Metadata)();
    values.set("containerd-namespace", namespace);
    if (lease !== undefined) values.set("containerd-lease", lease);
    return values;
  }

  function unary<T>(
    method: ServiceMethod,
    request: object,
    timeoutMs: number,
    lease?: string,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const { client } = opened();
      client.makeUnaryRequest(
        method.path,
        (value: object) => codec.encode(method.request, value),
        (bytes: Buffer) => codec.decode(method.response, bytes) as T,
        request,
        metadata(lease),
        timeoutMs > 0 ? { deadline: Date.now() + timeoutMs } : {},
        (error, response) => {
          if (error === null) resolve(response as T);
          else
            reject(
              toRuntimeError(
                error,
                method.path.slice(method.path.lastIndexOf("/") + 1),
              ),
            );
        },
      );
    });
  }

  return {
    async open() {
      if (client !== undefined) return;
      library = await import("@grpc/grpc-js");
      client = new library.Client(
        target,
        library.credentials.createInsecure(),
        {
          "grpc.initial_reconnect_backoff_ms": 100,
          "grpc.min_reconnect_backoff_ms": 100,
          "grpc.max_reconnect_backoff_ms": 2000,
          "grpc.max_receive_message_length": options.maxMessageBytes,
          "grpc.max_send_message_length": options.maxMessageBytes,
          "grpc.enable_http_proxy": 0,
          "grpc.service_config_disable_resolution": 1,
          "grpc.use_local_subchannel_pool": 1,
        },
      );
    },
    close() {
      client?.close();
      client = undefined;
    },
    call(name, request, timeoutMs = options.requestTimeoutMs) {
      const [path, requestType, responseType] = methods[name]!;
      return unary(
        { path, request: requestType, response: responseType },
        request,
        timeoutMs,
      );
    },
    service(
      method,
      request,
      { timeoutMs = options.requestTimeoutMs, lease } = {},
    ) {
      return unary(method, request, timeoutMs, lease);
    },
    serverStream(method, request) {
      return opened().client.makeServerStreamRequest(
        method.path,
        (value: object) => codec.encode(method.request, value),
        (bytes: Buffer) => codec.decode(method.response, bytes) as unknown,
        request,
        metadata(),
      );
    },
    duplexStream(method, { timeoutMs = 0, lease } = {}) {
      return opened().client.makeBidiStreamRequest(
        method.path,
        (value: object) => codec.encode(method.request, value),
        (bytes: Buffer) => codec.decode(method.response, bytes) as unknown,
        metadata(lease),
        timeoutMs > 0 ? { deadline: Date.now() + timeoutMs } : {},
      );
    },
    decode: (message, bytes) => codec.decode(message, bytes),
    waitForReady(timeoutMs) {
      return new Promise((resolve, reject) => {
        opened().client.waitForReady(Date.now() + timeoutMs, (error) => {
          if (error === undefined) resolve();
          else
            reject(
              new RuntimeError(
                "unavailable",
                `container runtime at ${options.endpoint} can't be reached`,
                { cause: error },
              ),
            );
        });
      });
    },
  };
}
