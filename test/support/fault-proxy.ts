// A proxy between an agent and its runtime's socket that spoils calls: answers late or never, with an error before or after
// the call had its effect, or with a broken stream. It carries gRPC as HTTP/2 streams and knows no message of it.
import * as http2 from "node:http2";
import * as net from "node:net";
import * as path from "node:path";

/** Codes of gRPC. */
export const unknown = 2;
export const unavailable = 14;

export type Fault =
  | { readonly kind: "none" }
  /** The call has its effect, the answer comes later. */
  | { readonly kind: "late"; readonly delayMs: number }
  /** No answer ever comes; the call does not reach the runtime. */
  | { readonly kind: "silent" }
  /** `done`: the call has had its effect, only its answer is replaced. */
  | { readonly kind: "error"; readonly code: number; readonly done: boolean }
  /** The stream breaks. */
  | { readonly kind: "cut"; readonly done: boolean };

export interface FaultProxy {
  readonly endpoint: string;
  /** What becomes of a call, by its method's name and how many calls of whatever method came before it. */
  faults: (method: string, before: number) => Fault;
  /** Calls by method. */
  readonly calls: ReadonlyMap<string, number>;
  /** Breaks every connection; the next call opens one again. */
  cut(): void;
  close(): Promise<void>;
}

/** @param endpoint of the runtime, `unix://…` @param directory for the proxy's socket */
export async function startFaultProxy(
  endpoint: string,
  directory: string,
): Promise<FaultProxy> {
  const target = endpoint.replace(/^unix:\/\//, "");
  const socket = path.join(directory, "faulty.sock");
  const calls = new Map<string, number>();
  const sessions = new Set<http2.ServerHttp2Session>();
  let upstream: http2.ClientHttp2Session | undefined;
  let total = 0;
  const connect = (): http2.ClientHttp2Session => {
    if (upstream && !upstream.closed && !upstream.destroyed) return upstream;
    upstream = http2.connect("http://localhost", {
      createConnection: () => net.connect(target),
    });
    upstream.on("error", () => undefined);
    return upstream;
  };
  const proxy: FaultProxy = {
    endpoint: `unix://${socket}`,
    faults: () => ({ kind: "none" }),
    calls,
    cut() {
      for (const session of sessions) session.destroy();
    },
    async close() {
      proxy.cut();
      upstream?.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  const server = http2.createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => undefined);
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    const method = String(headers[":path"]).split("/").at(-1)!;
    calls.set(method, (calls.get(method) ?? 0) + 1);
    // Events are a stream for as long as the agent runs.
    const fault: Fault =
      method === "Subscribe" ? { kind: "none" } : proxy.faults(method, total++);
    carry(connect, stream, headers, fault);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return proxy;
}

function fail(stream: http2.ServerHttp2Stream, code: number): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": String(code),
      "grpc-message": "spoiled by the test",
    },
    { endStream: true },
  );
}

function carry(
  connect: () => http2.ClientHttp2Session,
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  fault: Fault,
): void {
  if (fault.kind === "silent") {
    stream.resume();
    return;
  }
  if (fault.kind === "error" && !fault.done) {
    stream.resume();
    return fail(stream, fault.code);
  }
  if (fault.kind === "cut" && !fault.done) {
    stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    return;
  }
  const { connection: _, ...forwarded } = headers;
  const call = connect().request(forwarded);
  let trailers: http2.IncomingHttpHeaders = {};
  call.on("trailers", (sent) => (trailers = sent));
  call.on("error", () => fail(stream, unavailable));
  stream.pipe(call);
  if (fault.kind === "none") {
    stream.on("close", () => call.close(http2.constants.NGHTTP2_CANCEL));
    call.on("response", (answer, flags) => {
      if (stream.destroyed) return;
      const ended = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream: ended, waitForTrailers: !ended });
      if (ended) return;
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      call.pipe(stream);
    });
    return;
  }
  // The runtime is to finish, whatever becomes of the one who asked.
  const chunks: Buffer[] = [];
  let answer: http2.IncomingHttpHeaders = {};
  call.on("response", (sent) => (answer = sent));
  call.on("data", (chunk: Buffer) => chunks.push(chunk));
  call.on("end", () => {
    if (fault.kind === "error") return fail(stream, fault.code);
    if (fault.kind === "cut") {
      stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    setTimeout(() => {
      if (stream.destroyed || stream.headersSent) return;
      stream.respond(answer, { waitForTrailers: true });
      stream.on("wantTrailers", () =>
        stream.sendTrailers(
          Object.keys(trailers).length > 0 ? trailers : { "grpc-status": "0" },
        ),
      );
      stream.end(Buffer.concat(chunks));
    }, fault.delayMs);
  });
}
