// One gRPC channel: the unary calls and streams of a peer (container runtime, etcd, plug-ins) whose messages are written
// and read by a wire table. It owns the connection only; deadlines, retries and what an error means are its caller's.
// grpc-js is loaded by loadGrpc(), not at import, because loading it takes longer than the rest of a start.
import type * as Grpc from "@grpc/grpc-js";
import type { WireCodec } from "./wire.ts";

export type GrpcLibrary = typeof Grpc;

export function loadGrpc(): Promise<GrpcLibrary> {
  return import("@grpc/grpc-js");
}

/** The codes of gRPC that callers look at, by number, so that grpc-js need not be loaded to name them. */
export const grpcCodes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
} as const;

/** The gRPC code of a failed call; undefined for any other error. */
export function grpcCode(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}

/** The peer's own text of a failed call, without grpc-js's code in front. */
export function grpcText(error: unknown): string {
  const { details, message } = error as { details?: unknown; message?: string };
  return typeof details === "string" && details !== ""
    ? details
    : String(message ?? error);
}

const codeNames: Readonly<Record<number, string>> = {
  1: "Canceled",
  2: "Unknown",
  3: "InvalidArgument",
  4: "DeadlineExceeded",
  5: "NotFound",
  6: "AlreadyExists",
  7: "PermissionDenied",
  8: "ResourceExhausted",
  9: "FailedPrecondition",
  10: "Aborted",
  11: "OutOfRange",
  12: "Unimplemented",
  13: "Internal",
  14: "Unavailable",
  16: "Unauthenticated",
};

/** The reference's name of the code of a failed call. */
export function grpcCodeName(error: unknown): string {
  return codeNames[grpcCode(error) ?? 2] ?? "Unknown";
}

/** A failed call as the reference writes it: `rpc error: code = NotFound desc = no such volume`. */
export function grpcStatusText(error: unknown): string {
  const name = grpcCodeName(error);
  return `rpc error: code = ${name} desc = ${grpcText(error)}`;
}

export interface GrpcMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Names of messages of the codec's tables. */
  readonly request: string;
  readonly response: string;
}

export interface GrpcTls {
  /** PEM */
  readonly ca?: Buffer | string;
  readonly certificate?: Buffer | string;
  readonly key?: Buffer | string;
}

/** Of one call: what the peer is shown, and the call's end. */
interface GrpcTrace {
  readonly headers: Readonly<Record<string, string>>;
  end(error?: unknown, attributes?: Readonly<Record<string, number>>): void;
}

/** Called with the path of each unary call. */
export type GrpcTracing = (path: string) => GrpcTrace;

interface GrpcChannelOptions {
  /** `unix:///path` or `host:port`. */
  readonly target: string;
  readonly codec: WireCodec;
  /** Undefined: plain text. */
  readonly tls?: GrpcTls | undefined;
  readonly trace?: GrpcTracing | undefined;
  /** grpc-js's own names. */
  readonly settings: Grpc.ChannelOptions;
}

export interface GrpcCallOptions {
  /** 0 or undefined: no deadline. */
  readonly timeoutMs?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Waits for a peer that is not there until the deadline, instead of failing at once. */
  readonly waitForReady?: boolean;
}

export class GrpcChannel {
  readonly #library: GrpcLibrary;
  readonly #client: Grpc.Client;
  readonly #codec: WireCodec;
  readonly #trace: GrpcTracing | undefined;
  readonly #underWay = new Set<Grpc.ClientUnaryCall>();

  /** Connects with the first call. */
  constructor(
    library: GrpcLibrary,
    { target, codec, tls, trace, settings }: GrpcChannelOptions,
  ) {
    this.#library = library;
    this.#codec = codec;
    this.#trace = trace;
    this.#client = new library.Client(
      target,
      tls
        ? library.credentials.createSsl(
            bytesOf(tls.ca),
            bytesOf(tls.key),
            bytesOf(tls.certificate),
          )
        : library.credentials.createInsecure(),
      settings,
    );
  }

  /** Ends the connection once the calls under way have their answers. */
  close(): void {
    this.#client.close();
  }

  /** Ends the connection; unary calls under way fail at once as cancelled. */
  abort(): void {
    for (const call of this.#underWay) call.cancel();
    this.#client.close();
  }

  /** Rejects with grpc-js's ServiceError. */
  unary<T>(
    method: GrpcMethod,
    request: object,
    options: GrpcCallOptions = {},
  ): Promise<T> {
    const traced = this.#trace?.(method.path);
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        method.path,
        this.#encoder(method),
        this.#decoder(method),
        request,
        this.#metadata(options, traced?.headers),
        deadlineOf(options),
        (failure, response) => {
          this.#underWay.delete(call);
          const error = failure && asLostConnection(failure);
          traced?.end(error ?? undefined, {
            "rpc.grpc.status_code": error?.code ?? 0,
          });
          if (error) reject(error);
          else resolve(response as T);
        },
      );
      this.#underWay.add(call);
    });
  }

  serverStream(
    method: GrpcMethod,
    request: object,
    options: GrpcCallOptions = {},
  ): Grpc.ClientReadableStream<unknown> {
    return this.#client.makeServerStreamRequest(
      method.path,
      this.#encoder(method),
      this.#decoder(method),
      request,
      this.#metadata(options),
      deadlineOf(options),
    );
  }

  duplexStream<T = unknown>(
    method: GrpcMethod,
    options: GrpcCallOptions = {},
  ): Grpc.ClientDuplexStream<object, T> {
    return this.#client.makeBidiStreamRequest(
      method.path,
      this.#encoder(method),
      this.#decoder(method) as (bytes: Buffer) => T,
      this.#metadata(options),
      deadlineOf(options),
    );
  }

  /** Resolves when the connection is up; rejects after timeoutMs. */
  waitForReady(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + timeoutMs, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  #metadata(
    { metadata = {}, waitForReady = false }: GrpcCallOptions,
    more: Readonly<Record<string, string>> = {},
  ): Grpc.Metadata {
    const values = new this.#library.Metadata({ waitForReady });
    for (const [name, value] of Object.entries(metadata))
      values.set(name, value);
    for (const name in more) values.set(name, more[name]!);
    return values;
  }

  #encoder({ request }: GrpcMethod): (value: object) => Buffer {
    return (value) => this.#codec.encode(request, value);
  }

  #decoder({ response }: GrpcMethod): (bytes: Buffer) => unknown {
    return (bytes) => this.#codec.decode(response, bytes);
  }
}

/**
 * grpc-js reports some broken connections as a call that its caller cancelled, for Node ends the streams of both alike.
 * Unary calls are cancelled here by abort() alone, which has other details, and the reference's client reports a broken
 * connection as Unavailable.
 */
function asLostConnection(error: Grpc.ServiceError): Grpc.ServiceError {
  if (error.code !== grpcCodes.cancelled || error.details !== "Call cancelled")
    return error;
  const details = "Connection dropped";
  return Object.assign(error, {
    code: grpcCodes.unavailable,
    details,
    message: `14 UNAVAILABLE: ${details}`,
  });
}

function deadlineOf({ timeoutMs = 0 }: GrpcCallOptions): Grpc.CallOptions {
  return timeoutMs > 0 ? { deadline: Date.now() + timeoutMs } : {};
}

function bytesOf(pem: Buffer | string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}
