// A request over HTTP/1.1 through an endpoint's pool of connections. undici frames the message itself and parses the answer
// strictly: nothing of how the client framed its request reaches the backend.
import type { Dispatcher, Pool } from "undici";
import {
  UpstreamError,
  type ResponseSink,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamRequest,
} from "./call.ts";

const failures: Readonly<Record<string, UpstreamFailure>> = {
  ECONNREFUSED: "connect",
  EHOSTUNREACH: "connect",
  ENETUNREACH: "connect",
  EHOSTDOWN: "connect",
  EADDRNOTAVAIL: "connect",
  EMFILE: "connect",
  ENFILE: "connect",
  ETIMEDOUT: "connect",
  UND_ERR_CONNECT_TIMEOUT: "connect",
  UND_ERR_HEADERS_TIMEOUT: "timeout",
  UND_ERR_BODY_TIMEOUT: "timeout",
  UND_ERR_HEADERS_OVERFLOW: "protocol",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "protocol",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "protocol",
};

/** Handshakes that fail happen before anything is sent. */
const handshake =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

export function upstreamError(error: Error): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  const failure =
    failures[code] ??
    (handshake.test(code)
      ? "connect"
      : code.startsWith("HPE_")
        ? "protocol"
        : "reset");
  return new UpstreamError(failure, error.message || code);
}

class Http1Call implements UpstreamCall, Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #ending: (() => void) | undefined;

  constructor(
    private readonly sink: ResponseSink,
    ending: () => void,
  ) {
    this.#ending = ending;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error("the client left"));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
  ): void {
    // Early hints and the like are the backend's to this proxy.
    if (this.#over || status < 200) return;
    const raw = (controller.rawHeaders ?? []) as (Buffer | string)[];
    const headers = raw.map((each) =>
      typeof each === "string" ? each : each.toString("latin1"),
    );
    const hasTrailers = headers.some(
      (each, at) => at % 2 === 0 && each.toLowerCase() === "trailer",
    );
    this.sink.onResponse(status, headers, hasTrailers);
  }

  onResponseData(
    controller: Dispatcher.DispatchController,
    chunk: Buffer,
  ): void {
    if (!this.#over && !this.sink.onData(chunk)) controller.pause();
  }

  onResponseEnd(
    _controller: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#end())
      this.sink.onEnd(
        Object.entries(trailers).flatMap(([name, values]) =>
          [values ?? []].flat().flatMap((value) => [name, value]),
        ),
      );
  }

  onResponseError(
    _controller: Dispatcher.DispatchController,
    error: Error,
  ): void {
    if (this.#end()) this.sink.onError(upstreamError(error));
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    if (!this.#end()) return;
    this.#controller?.abort(new Error("the client left"));
  }

  /** False: it was over already. */
  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#ending?.();
    return true;
  }
}

/** Of undici's Request, though its types do not name it. */
type ServedDispatch = Dispatcher.DispatchOptions & { servername?: string };

/** @param onOver called once, before the sink's last call */
export function callOverHttp1(
  pool: Pool,
  request: UpstreamRequest,
  sink: ResponseSink,
  onOver: () => void,
  serverName: string | undefined,
): UpstreamCall {
  const call = new Http1Call(sink, onOver);
  const { body, bodyLength } = request;
  const headers = [...request.headers, "host", request.authority];
  if (body && bodyLength !== undefined)
    headers.push("content-length", String(bodyLength));
  try {
    const options: ServedDispatch = {
      path: request.path,
      method: request.method,
      headers,
      body: body ?? null,
      headersTimeout: request.responseTimeoutMs,
      bodyTimeout: request.idleTimeoutMs,
      // Else undici asks for the name in the Host header, and connects again when that changes.
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    pool.dispatch(options, call);
  } catch (error) {
    // A header that undici refuses: an answer in the next turn, as always.
    setImmediate(() =>
      call.onResponseError(
        undefined as never,
        new UpstreamError("protocol", (error as Error).message),
      ),
    );
  }
  return call;
}
