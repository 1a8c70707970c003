// A collector of spans: an OTLP gRPC server on a unix socket that keeps what it is sent; it may be silent.
import { exportMethod, otlpTable } from "../../client/tracing/otlp.ts";
import { loadGrpc } from "../../grpc/channel.ts";
import { GrpcError, GrpcServer } from "../../grpc/server.ts";
import { createWireCodec } from "../../grpc/wire.ts";

interface ReceivedValue {
  stringValue: string;
  intValue: number;
  boolValue: boolean;
}

interface ReceivedSpan {
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId: Buffer;
  name: string;
  kind: number;
  startTimeUnixNano: number;
  endTimeUnixNano: number;
  attributes: { key: string; value: ReceivedValue }[];
  links: { traceId: Buffer; spanId: Buffer }[];
  status?: { message: string; code: number };
}

interface ReceivedRequest {
  resourceSpans: {
    resource: { attributes: ReceivedSpan["attributes"] };
    scopeSpans: { spans: ReceivedSpan[] }[];
  }[];
}

export interface CollectedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly kind: number;
  readonly startNano: number;
  readonly endNano: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly string[];
  readonly error: string | undefined;
}

const valuesOf = (
  attributes: ReceivedSpan["attributes"],
): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue || value.intValue,
    ]),
  );

export class SpanCollector {
  readonly spans: CollectedSpan[] = [];
  resource: Readonly<Record<string, string | number>> = {};
  /** How large each batch was. */
  readonly batches: number[] = [];
  /** Requests are not answered. */
  silent = false;
  /** The next requests are refused with this code. */
  refusals: number[] = [];
  #server: GrpcServer | undefined;

  constructor(readonly socketPath: string) {}

  get endpoint(): string {
    return `unix://${this.socketPath}`;
  }

  async start(): Promise<this> {
    this.#server = new GrpcServer(await loadGrpc(), {
      codec: createWireCodec(otlpTable),
      handlers: [
        {
          method: exportMethod,
          unary: (request: ReceivedRequest) => this.#receive(request),
        },
      ],
    });
    await this.#server.listen(this.socketPath);
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  named(name: string): CollectedSpan | undefined {
    return this.spans.find((span) => span.name === name);
  }

  async #receive({ resourceSpans }: ReceivedRequest): Promise<object> {
    if (this.silent) await new Promise(() => undefined);
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw new GrpcError(refusal, "not now");
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = valuesOf(resource.attributes);
      for (const { spans } of scopeSpans) {
        this.batches.push(spans.length);
        for (const span of spans)
          this.spans.push({
            trace: span.traceId.toString("hex"),
            id: span.spanId.toString("hex"),
            parent: span.parentSpanId.toString("hex"),
            ...{ name: span.name, kind: span.kind },
            startNano: span.startTimeUnixNano,
            endNano: span.endTimeUnixNano,
            attributes: valuesOf(span.attributes),
            links: span.links.map(({ spanId }) => spanId.toString("hex")),
            error: span.status?.code === 2 ? span.status.message : undefined,
          });
      }
    }
    return {};
  }
}
