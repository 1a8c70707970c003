// A request over HTTP/2 (h2c or h2): both bodies stream at once, and trailers reach the client, as gRPC needs.
import { constants, type IncomingHttpHeaders } from "node:http2";
import {
  UpstreamError,
  type ResponseSink,
  type UpstreamCall,
  type UpstreamRequest,
} from "./call.ts";
import type { Http2Sessions } from "./http2-sessions.ts";
import { upstreamError } from "./http1-call.ts";

function requestHeaders(
  request: UpstreamRequest,
  scheme: "http" | "https",
): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = {
    ":method": request.method,
    ":path": request.path,
    ":scheme": scheme,
    ":authority": request.authority,
  };
  const { headers, bodyLength } = request;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    const value = headers[at + 1]!;
    const known = all[name];
    all[name] = known === undefined ? value : [known, value].flat();
  }
  // Values of fields that come once for HTTP/2 but came several times here are one list (RFC 9110 5.3).
  for (const [name, value] of Object.entries(all))
    if (Array.isArray(value)) all[name] = value.join(", ");
  if (bodyLength !== undefined && bodyLength > 0)
    all["content-length"] = String(bodyLength);
  return all;
}

function flat(headers: IncomingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    name.startsWith(":")
      ? []
      : [values ?? []].flat().flatMap((value) => [name, String(value)]),
  );
}

/** @param onOver called once, before the sink's last call */
export function callOverHttp2(
  sessions: Http2Sessions,
  scheme: "http" | "https",
  request: UpstreamRequest,
  sink: ResponseSink,
  onOver: () => void,
): UpstreamCall {
  const place = sessions.take();
  let over = false;
  const late = setTimeout(() => {
    fail(new UpstreamError("timeout", "no answer in time"));
    stream?.close(constants.NGHTTP2_CANCEL);
  }, request.responseTimeoutMs);
  const end = (): boolean => {
    if (over) return false;
    over = true;
    clearTimeout(late);
    place.release();
    onOver();
    return true;
  };
  const fail = (error: UpstreamError): void => {
    if (end()) sink.onError(error);
  };
  let stream: ReturnType<typeof place.session.request>;
  try {
    stream = place.session.request(requestHeaders(request, scheme), {
      endStream: !request.body,
    });
  } catch (error) {
    setImmediate(() =>
      fail(new UpstreamError("protocol", (error as Error).message)),
    );
    return { resume: () => undefined, abort: () => void end() };
  }
  let trailers: string[] = [];
  let responded = false;
  stream.on("response", (headers: IncomingHttpHeaders, flags: number) => {
    clearTimeout(late);
    if (over) return;
    responded = true;
    const ends = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.setTimeout(request.idleTimeoutMs, () => {
      fail(new UpstreamError("timeout", "nothing was sent in time"));
      stream.close(constants.NGHTTP2_CANCEL);
    });
    sink.onResponse(Number(headers[":status"] ?? 502), flat(headers), !ends);
  });
  stream.on("data", (chunk: Buffer) => {
    if (!over && !sink.onData(chunk)) stream.pause();
  });
  stream.on("trailers", (headers: IncomingHttpHeaders) => {
    trailers = flat(headers);
  });
  stream.on("end", () => {
    if (!responded || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
    if (end()) sink.onEnd(trailers);
  });
  stream.on("error", (error: Error) =>
    fail(failureOf(error, place.connected())),
  );
  stream.on("close", () =>
    fail(
      failureOf(
        new Error(`the stream was closed with code ${stream.rstCode}`),
        place.connected(),
      ),
    ),
  );
  if (request.body) {
    request.body.on("error", () => stream.close(constants.NGHTTP2_CANCEL));
    request.body.pipe(stream);
  }
  return {
    resume: () => void stream.resume(),
    abort: () => {
      if (end()) stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}

/** What happens before there is a connection is a connection's failure. */
function failureOf(error: Error, connected: boolean): UpstreamError {
  return connected
    ? upstreamError(error)
    : new UpstreamError("connect", error.message);
}
