// Spans of one process, and which one the present work belongs to. The work of a request runs in a scope; what it calls,
// however deep, finds the request's span there. A trace that comes from outside decides itself whether it is sampled;
// of those that begin here a share is.
//
// Work that a request left behind (a timer, a loop that its event woke) has no span any more once the request's has ended.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { Span, type Attributes, type SpanKind, type SpanSink } from "./span.ts";
import { traceHeaders, type TraceContext } from "./trace-context.ts";

interface TracerOptions {
  /** Of the traces that begin here this many of a million are sampled. */
  readonly ratePerMillion: number;
  readonly sink: SpanSink;
  readonly clock: Clock;
}

interface Scope {
  span: Span | undefined;
}

interface StartOptions {
  readonly kind: SpanKind;
  readonly parent?: TraceContext | undefined;
  readonly links?: readonly TraceContext[];
  /** Of the clock's monotonic time; default now. */
  readonly startedMs?: number;
}

/** One call of another server: what it is shown, and its end. */
interface TracedCall {
  readonly headers: Readonly<Record<string, string>>;
  /** @param error of a call that failed */
  end(error?: unknown, attributes?: Attributes): void;
}

export class Tracer {
  readonly #scopes = new AsyncLocalStorage<Scope>();
  /** Trace identifiers below it are sampled. */
  readonly #bound: bigint;

  constructor(private readonly options: TracerOptions) {
    const millionths = BigInt(Math.floor(options.ratePerMillion));
    this.#bound = (millionths << 63n) / 1_000_000n;
  }

  /** Runs the work of a request: what it calls is in the span that `enter` begins. */
  scope<T>(work: () => T): T {
    return this.#scopes.run({ span: undefined }, work);
  }

  /** The span of the present scope from now on. */
  enter(name: string, options: StartOptions): Span {
    const span = this.#start(name, options);
    const scope = this.#scopes.getStore();
    if (scope) scope.span = span;
    return span;
  }

  /** The work as a part of the present span; without one, or one that is not sampled, it is only run. */
  child<T>(name: string, attributes: () => Attributes, work: () => T): T {
    const parent = this.#current();
    if (!parent?.sampled) return work();
    const span = this.#start(name, {
      ...{ kind: "internal", parent: parent.context },
    }).set(attributes());
    return this.#scopes.run({ span }, () => ended(span, work));
  }

  /** The work as a trace of its own, unless it is part of one. */
  root<T>(name: string, attributes: Attributes, work: () => T): T {
    const parent = this.#current()?.context;
    const span = this.#start(name, { kind: "internal", parent }).set(
      attributes,
    );
    return this.#scopes.run({ span }, () => ended(span, work));
  }

  /** A call of another server. */
  call(name: string, attributes: Attributes): TracedCall {
    const parent = this.#current()?.context;
    const span = this.#start(name, { kind: "client", parent }).set(attributes);
    return {
      headers: traceHeaders(span.context),
      end(error, more) {
        if (more) span.set(more);
        if (error !== undefined) span.fail(error);
        span.end();
      },
    };
  }

  #current(): Span | undefined {
    const span = this.#scopes.getStore()?.span;
    return span?.ended ? undefined : span;
  }

  #start(
    name: string,
    { kind, parent, links = [], startedMs }: StartOptions,
  ): Span {
    const { clock, sink } = this.options;
    const monotonicMs = clock.monotonic();
    const offsetMs = clock.now() - monotonicMs;
    const ids = randomBytes(24);
    const traceId = parent?.traceId ?? ids.toString("hex", 0, 16);
    return new Span({
      context: {
        traceId,
        spanId: ids.toString("hex", 16, 24),
        sampled: parent ? parent.sampled : this.#samples(traceId),
        state: parent?.state ?? "",
      },
      parentId: parent?.spanId ?? "",
      ...{ name, kind, links, sink },
      startMs: offsetMs + (startedMs ?? monotonicMs),
      now: () => offsetMs + clock.monotonic(),
    });
  }

  /** By the identifier alone, so that servers that see the same one decide alike. */
  #samples(traceId: string): boolean {
    return BigInt(`0x${traceId.slice(16)}`) >> 1n < this.#bound;
  }
}

/** Ends the span with the work. */
function ended<T>(span: Span, work: () => T): T {
  try {
    const result = work();
    if (result instanceof Promise) {
      result.then(
        () => span.end(),
        (error: unknown) => span.fail(error).end(),
      );
      return result;
    }
    span.end();
    return result;
  } catch (error) {
    span.fail(error).end();
    throw error;
  }
}
