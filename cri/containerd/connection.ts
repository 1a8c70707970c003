// One gRPC channel to containerd's socket: unary CRI calls by name, containerd service calls and streams by method.
// grpc-js is loaded on open(), not at import. The channel reconnects by itself (100 ms … 2 s); while it is down every
// call fails at once with RuntimeError "unavailable". Every gRPC failure leaves here as a RuntimeError.
import type * as grpc from "@grpc/grpc-js";
import { socketPath } from "../endpoint.ts";
import { RuntimeError, type RuntimeErrorCode } from "../runtime.ts";
import {
  GrpcChannel,
  grpcCode,
  grpcCodes,
  grpcText,
  loadGrpc,
  type GrpcCallOptions,
  type GrpcMethod,
  type GrpcTracing,
} from "../../grpc/channel.ts";
import { createWireCodec, type WireTable } from "../../grpc/wire.ts";
import criTable from "./cri-v1.json";
import type { CriMethods } from "./cri-v1-types.ts";
import { containerdMessages } from "./services.ts";

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
    method: GrpcMethod,
    request: object,
    options?: ServiceOptions,
  ): Promise<T>;
  serverStream(
    method: GrpcMethod,
    request: object,
  ): grpc.ClientReadableStream<unknown>;
  duplexStream(
    method: GrpcMethod,
    options?: ServiceOptions,
  ): grpc.ClientDuplexStream<object, unknown>;
  decode(message: string, bytes: Uint8Array): unknown;
  /** Resolves when a channel is up; rejects with "unavailable" after timeoutMs. */
  waitForReady(timeoutMs: number): Promise<void>;
}

interface ServiceOptions {
  timeoutMs?: number;
  /** containerd lease that protects what the call makes. */
  lease?: string;
}

interface ConnectionOptions {
  /** `unix:///run/containerd/containerd.sock`, or a bare path. */
  endpoint: string;
  requestTimeoutMs: number;
  maxMessageBytes: number;
  trace?: GrpcTracing | undefined;
}

/** containerd's namespace of everything CRI. */
const namespace = "k8s.io";

/** What the codes of gRPC mean to callers of the runtime. */
const codes: Readonly<Record<number, RuntimeErrorCode>> = {
  [grpcCodes.invalidArgument]: "invalid",
  [grpcCodes.deadlineExceeded]: "timeout",
  [grpcCodes.notFound]: "not-found",
  [grpcCodes.failedPrecondition]: "invalid",
  [grpcCodes.unimplemented]: "unsupported",
  [grpcCodes.unavailable]: "unavailable",
};

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
  const text = grpcText(error);
  // For some time after its start containerd answers, but has not read back its pods.
  const kind = /server is not initialized yet/.test(text)
    ? "unavailable"
    : ((code === undefined ? undefined : codes[code]) ?? "unknown");
  return new RuntimeError(kind, `${call}: ${text}`, {
    cause: error,
    detail: text,
  });
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
  let channel: GrpcChannel | undefined;

  function opened(): GrpcChannel {
    if (channel === undefined)
      throw new RuntimeError(
        "unavailable",
        "the connection to the container runtime is closed",
      );
    return channel;
  }

  function callOptions({
    timeoutMs = 0,
    lease,
  }: ServiceOptions): GrpcCallOptions {
    return {
      timeoutMs,
      metadata: {
        "containerd-namespace": namespace,
        ...(lease === undefined ? {} : { "containerd-lease": lease }),
      },
    };
  }

  async function unary<T>(
    method: GrpcMethod,
    request: object,
    service: ServiceOptions,
  ): Promise<T> {
    try {
      return await opened().unary<T>(method, request, callOptions(service));
    } catch (error) {
      throw toRuntimeError(
        error,
        method.path.slice(method.path.lastIndexOf("/") + 1),
      );
    }
  }

  return {
    async open() {
      if (channel !== undefined) return;
      const library = await loadGrpc();
      channel = new GrpcChannel(library, {
        target,
        codec,
        trace: options.trace,
        settings: {
          "grpc.initial_reconnect_backoff_ms": 100,
          "grpc.min_reconnect_backoff_ms": 100,
          "grpc.max_reconnect_backoff_ms": 2000,
          "grpc.max_receive_message_length": options.maxMessageBytes,
          "grpc.max_send_message_length": options.maxMessageBytes,
          "grpc.enable_http_proxy": 0,
          "grpc.service_config_disable_resolution": 1,
          "grpc.use_local_subchannel_pool": 1,
        },
      });
    },
    close() {
      channel?.close();
      channel = undefined;
    },
    call(name, request, timeoutMs = options.requestTimeoutMs) {
      const [path, requestType, responseType] = methods[name]!;
      return unary(
        { path, request: requestType, response: responseType },
        request,
        { timeoutMs },
      );
    },
    service: (method, request, service = {}) =>
      unary(method, request, {
        timeoutMs: options.requestTimeoutMs,
        ...service,
      }),
    serverStream: (method, request) =>
      opened().serverStream(method, request, callOptions({})),
    duplexStream: (method, service = {}) =>
      opened().duplexStream(method, callOptions(service)),
    decode: (message, bytes) => codec.decode(message, bytes),
    async waitForReady(timeoutMs) {
      try {
        await opened().waitForReady(timeoutMs);
      } catch (error) {
        throw new RuntimeError(
          "unavailable",
          `container runtime at ${options.endpoint} can't be reached`,
          { cause: error },
        );
      }
    },
  };
}
