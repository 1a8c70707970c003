// /containerLogs/{namespace}/{pod}/{container}: the query as LogOptions, the stream as the answer.
import { pipeline } from "node:stream/promises";
import type { LogOptions, NodeAgentView } from "../api/contracts.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest } from "../http-kit/port.ts";

/** The reference's answers to a query that can't be read, and to one that makes no sense. */
const undecodable = (): HttpError =>
  new HttpError(400, '{"message": "Unable to decode query."}');
const invalid = (): HttpError =>
  new HttpError(422, '{"message": "Invalid request."}');

function booleanOf(text: string | null): boolean {
  if (text === null || text === "" || /^(0|f|false)$/i.test(text)) return false;
  if (/^(1|t|true)$/i.test(text)) return true;
  throw undecodable();
}

function integerOf(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw undecodable();
  return Number(text);
}

function logOptions(query: URLSearchParams, container: string): LogOptions {
  const sinceSeconds = integerOf(query.get("sinceSeconds"));
  const sinceTime = query.get("sinceTime") || undefined;
  // An old name of it; "all" is the same as none.
  const tail = query.get("tail") || undefined;
  const tailLines = integerOf(
    tail === undefined ? query.get("tailLines") : tail === "all" ? null : tail,
  );
  const limitBytes = integerOf(query.get("limitBytes"));
  const stream = query.get("stream") || undefined;
  if (
    sinceTime !== undefined &&
    (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(sinceTime) ||
      Number.isNaN(Date.parse(sinceTime)))
  )
    throw undecodable();
  const bad =
    (sinceSeconds !== undefined &&
      (sinceSeconds < 1 || sinceTime !== undefined)) ||
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (stream !== undefined && !["All", "Stdout", "Stderr"].includes(stream)) ||
    (stream !== undefined && stream !== "All" && tailLines !== undefined);
  if (bad) throw invalid();
  return {
    container,
    follow: booleanOf(query.get("follow")),
    previous: booleanOf(query.get("previous")),
    timestamps: booleanOf(query.get("timestamps")),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(stream === undefined ? {} : { stream }),
  };
}

export async function serveContainerLogs(
  request: PortRequest,
  view: NodeAgentView,
  streams: boolean,
): Promise<void> {
  const { parameters, query, exchange } = request;
  const { namespace, pod, container } = parameters as {
    namespace: string;
    pod: string;
    container: string;
  };
  if (exchange.upgrade)
    throw new HttpError(400, "logs are not served over an upgraded connection");
  const options = logOptions(query, container);
  const { stream = "All" } = options;
  if (!streams && stream !== "All")
    throw new HttpError(
      400,
      `unable to return the given log stream: ${JSON.stringify(stream)}. Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
    );
  const lines = await view.logs(namespace, pod, options);
  if (exchange.closed) {
    lines.destroy();
    return;
  }
  const out = exchange.open(200, {
    "content-type": "text/plain; charset=utf-8",
  });
  // Breaking off is the client's right; a broken log ends the answer before its last chunk, which the client notices.
  await pipeline(lines, out).catch(() => exchange.destroy());
}
