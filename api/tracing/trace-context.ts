// The W3C trace context: what a caller says of the trace its request belongs to (`traceparent`, `tracestate`). What is not
// well formed is no context. Baggage is not passed on.
//
// Example: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 is a sampled span of a trace.

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** As it was given; "" without one. */
  readonly state: string;
}

const form =
  /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const maxStateLength = 512;

/** Undefined: there is none. */
export function parseTraceContext(
  traceparent: unknown,
  tracestate: unknown,
): TraceContext | undefined {
  if (typeof traceparent !== "string" || traceparent.length > maxStateLength)
    return undefined;
  const [, version, traceId, spanId, flags, more] =
    form.exec(traceparent) ?? [];
  if (!traceId || !spanId || version === "ff") return undefined;
  if (version === "00" && more !== undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = typeof tracestate === "string" ? tracestate : "";
  return {
    ...{ traceId, spanId },
    sampled: (Number.parseInt(flags!, 16) & 1) === 1,
    state: state.length <= maxStateLength ? state : "",
  };
}

/** The headers that pass a context on. */
export function traceHeaders({
  traceId,
  spanId,
  sampled,
  state,
}: TraceContext): Record<string, string> {
  const traceparent = `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}
