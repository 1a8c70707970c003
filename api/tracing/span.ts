// One span of a trace. A span that is not sampled is only a place in the trace, to be passed on: it records nothing.
// Invariant: a span is given to its sink once, when it ends; what is set afterwards is lost.
import type { TraceContext } from "./trace-context.ts";

export type SpanKind = "internal" | "server" | "client";
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** What a span is when it has ended. */
export interface EndedSpan {
  readonly context: TraceContext;
  /** "" of a root. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly TraceContext[];
  /** Undefined: it did not fail. */
  readonly error: string | undefined;
}

export interface SpanSink {
  /** Never throws, and never waits. */
  add(span: EndedSpan): void;
}

interface SpanOptions {
  readonly context: TraceContext;
  readonly parentId: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly links: readonly TraceContext[];
  /** Unix milliseconds with fractions, in step with `startMs`. */
  readonly now: () => number;
  readonly sink: SpanSink;
}

/** Values of requests can be long. */
const maxTextLength = 2048;

export class Span {
  readonly #attributes: Record<string, string | number | boolean> = {};
  #ended = false;
  #error: string | undefined;

  constructor(readonly options: SpanOptions) {}

  get context(): TraceContext {
    return this.options.context;
  }

  get sampled(): boolean {
    return this.options.context.sampled;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Empty texts are left out. */
  set(attributes: Attributes): this {
    if (!this.sampled || this.#ended) return this;
    for (const [name, value] of Object.entries(attributes))
      if (typeof value !== "string") this.#attributes[name] = value;
      else if (value !== "")
        this.#attributes[name] = value.slice(0, maxTextLength);
    return this;
  }

  /** @param error why it failed; a text or what was thrown */
  fail(error: unknown): this {
    const text = error instanceof Error ? error.message : String(error);
    this.#error = text.slice(0, maxTextLength);
    return this;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.sampled) return;
    const { sink, now, startMs, ...known } = this.options;
    sink.add({
      ...{ context: known.context, parentId: known.parentId },
      ...{ name: known.name, kind: known.kind, links: known.links },
      ...{ startMs, endMs: Math.max(startMs, now()) },
      ...{ attributes: this.#attributes, error: this.#error },
    });
  }
}
