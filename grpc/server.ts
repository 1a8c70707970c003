// A gRPC server on a unix socket whose messages are read and written by a wire table. It owns the socket file and the
// connections; what a method does is its handler's. A GrpcError of a handler is answered with its code, any other error as
// UNKNOWN with its message. Requests above 4 MiB are refused by grpc-js.
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import type * as Grpc from "@grpc/grpc-js";
import { AuthorityFilter } from "./authority-filter.ts";
import type { GrpcLibrary, GrpcMethod } from "./channel.ts";
import { FilteredSocket } from "./filtered-socket.ts";
import type { WireCodec } from "./wire.ts";

/** An error with a code of gRPC. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = "GrpcError";
  }
}

interface UnaryHandler {
  readonly method: GrpcMethod;
  /** The message is decoded by the method's table: every field is there. */
  readonly unary: (request: never) => object | Promise<object>;
}

interface StreamHandler {
  readonly method: GrpcMethod;
  /** Sends until the signal is aborted (the client left, the server closed) or it resolves, which ends the stream. */
  readonly stream: (
    request: never,
    send: (message: object) => void,
    signal: AbortSignal,
  ) => Promise<void>;
}

interface GrpcServerOptions {
  readonly codec: WireCodec;
  readonly handlers: readonly (UnaryHandler | StreamHandler)[];
}

const unknown = 2;

export class GrpcServer {
  readonly #library: GrpcLibrary;
  readonly #server: Grpc.Server;
  #listener: Server | undefined;
  #socketPath: string | undefined;

  constructor(library: GrpcLibrary, { codec, handlers }: GrpcServerOptions) {
    this.#library = library;
    this.#server = new library.Server();
    for (const handler of handlers)
      this.#server.addService(
        { [handler.method.path]: definitionOf(handler, codec) },
        { [handler.method.path]: implementationOf(handler) },
      );
  }

  /** Takes the place of a socket that is there already. `mode` of the socket file, default 0600. */
  async listen(socketPath: string, mode = 0o600): Promise<void> {
    await rm(socketPath, { force: true });
    const injector = this.#server.createConnectionInjector(
      this.#library.ServerCredentials.createInsecure(),
    );
    const listener = createServer((socket) => {
      const filter = new AuthorityFilter();
      injector.injectConnection(
        new FilteredSocket(socket, (chunk) => filter.pass(chunk)),
      );
    });
    await once(listener.listen(socketPath), "listening");
    this.#listener = listener;
    this.#socketPath = socketPath;
    await chmod(socketPath, mode);
  }

  /** Ends all calls under way and removes the socket. */
  async close(): Promise<void> {
    this.#listener?.close();
    this.#server.forceShutdown();
    if (this.#socketPath) await rm(this.#socketPath, { force: true });
  }
}

function definitionOf(
  handler: UnaryHandler | StreamHandler,
  codec: WireCodec,
): Grpc.MethodDefinition<object, object> {
  const { path, request, response } = handler.method;
  return {
    path,
    requestStream: false,
    responseStream: "stream" in handler,
    requestSerialize: (value) => codec.encode(request, value),
    requestDeserialize: (bytes) => codec.decode(request, bytes),
    responseSerialize: (value) => codec.encode(response, value),
    responseDeserialize: (bytes) => codec.decode(response, bytes),
  };
}

function implementationOf(
  handler: UnaryHandler | StreamHandler,
): Grpc.UntypedHandleCall {
  if ("stream" in handler)
    return (call: Grpc.ServerWritableStream<object, object>) => {
      const ended = new AbortController();
      call.on("cancelled", () => ended.abort());
      call.on("error", () => ended.abort());
      Promise.resolve()
        .then(() =>
          handler.stream(
            call.request as never,
            (message) => void call.write(message),
            ended.signal,
          ),
        )
        .then(
          () => call.end(),
          (error: unknown) => call.destroy(statusOf(error)),
        );
    };
  return (
    call: Grpc.ServerUnaryCall<object, object>,
    answer: Grpc.sendUnaryData<object>,
  ) => {
    Promise.resolve()
      .then(() => handler.unary(call.request as never))
      .then(
        (response) => answer(null, response),
        (error: unknown) => answer(statusOf(error)),
      );
  };
}

function statusOf(error: unknown): Error & Partial<Grpc.StatusObject> {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof GrpcError ? error.code : unknown;
  return Object.assign(new Error(message), { code, details: message });
}
