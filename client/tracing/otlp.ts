// Spans as the OpenTelemetry protocol's messages (opentelemetry.proto.collector.trace.v1), as far as they are sent.
import type { GrpcMethod } from "../../grpc/channel.ts";
import type { WireTable } from "../../grpc/wire.ts";
import type {
  Attributes,
  EndedSpan,
  SpanKind,
} from "../../api/tracing/span.ts";
import type { TraceContext } from "../../api/tracing/trace-context.ts";

export const otlpTable: WireTable = {
  ExportRequest: [["resourceSpans", 1, "ResourceSpans", 1]],
  ExportResponse: [["partialSuccess", 1, "PartialSuccess", 0]],
  PartialSuccess: [
    ["rejectedSpans", 1, "int64", 0],
    ["errorMessage", 2, "string", 0],
  ],
  ResourceSpans: [
    ["resource", 1, "Resource", 0],
    ["scopeSpans", 2, "ScopeSpans", 1],
  ],
  Resource: [["attributes", 1, "KeyValue", 1]],
  ScopeSpans: [
    ["scope", 1, "Scope", 0],
    ["spans", 2, "Span", 1],
  ],
  Scope: [["name", 1, "string", 0]],
  Span: [
    ["traceId", 1, "bytes", 0],
    ["spanId", 2, "bytes", 0],
    ["traceState", 3, "string", 0],
    ["parentSpanId", 4, "bytes", 0],
    ["name", 5, "string", 0],
    ["kind", 6, "int32", 0],
    ["startTimeUnixNano", 7, "fixed64", 0],
    ["endTimeUnixNano", 8, "fixed64", 0],
    ["attributes", 9, "KeyValue", 1],
    ["links", 13, "Link", 1],
    ["status", 15, "Status", 0],
  ],
  Link: [
    ["traceId", 1, "bytes", 0],
    ["spanId", 2, "bytes", 0],
    ["traceState", 3, "string", 0],
  ],
  Status: [
    ["message", 2, "string", 0],
    ["code", 3, "int32", 0],
  ],
  KeyValue: [
    ["key", 1, "string", 0],
    ["value", 2, "AnyValue", 0],
  ],
  AnyValue: [
    ["stringValue", 1, "string", 0],
    ["boolValue", 2, "bool", 0],
    ["intValue", 3, "int64", 0],
    ["doubleValue", 4, "double", 0],
  ],
};

export const exportMethod: GrpcMethod = {
  path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  request: "ExportRequest",
  response: "ExportResponse",
};

const scope = { name: "orbit" };
const kinds: Record<SpanKind, number> = { internal: 1, server: 2, client: 3 };
const errorStatus = 2;

export function exportRequest(
  resource: Attributes,
  spans: readonly EndedSpan[],
): object {
  const scopeSpans = [{ scope, spans: spans.map(spanMessage) }];
  const attributes = keyValues(resource);
  return { resourceSpans: [{ resource: { attributes }, scopeSpans }] };
}

const bytesOf = (hex: string): Buffer => Buffer.from(hex, "hex");
/** A double holds today's nanoseconds to a quarter of a microsecond. */
const nanos = (ms: number): number => Math.round(ms * 1e6);

const place = ({ traceId, spanId, state }: TraceContext): object => ({
  ...{ traceId: bytesOf(traceId), spanId: bytesOf(spanId) },
  traceState: state,
});

function spanMessage(span: EndedSpan): object {
  return {
    ...place(span.context),
    parentSpanId: bytesOf(span.parentId),
    ...{ name: span.name, kind: kinds[span.kind] },
    startTimeUnixNano: nanos(span.startMs),
    endTimeUnixNano: nanos(span.endMs),
    attributes: keyValues(span.attributes),
    links: span.links.map(place),
    ...(span.error === undefined
      ? {}
      : { status: { message: span.error, code: errorStatus } }),
  };
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === "string"
        ? { stringValue: value }
        : typeof value === "boolean"
          ? { boolValue: value }
          : Number.isSafeInteger(value)
            ? { intValue: value }
            : { doubleValue: value },
  }));
}
