// Tracing as its configurations say it, the API server's file and the agent's section alike: where the collector is and how
// much is sampled, with the reference's limits and texts. The connection to a collector is plain text, as the reference's.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { Attributes } from "../../../api/tracing/span.ts";
import { Tracer } from "../../../api/tracing/tracer.ts";
import { SpanExporter } from "../../../client/tracing/span-exporter.ts";
import type { GrpcTracing } from "../../../grpc/channel.ts";
import type { ConfigurationSection } from "../configuration-section.ts";

interface TracingSettings {
  /** As grpc-js names it. */
  readonly target: string;
  /** 0: only what callers have sampled. */
  readonly ratePerMillion: number;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Spans of gRPC calls. */
  readonly grpc: GrpcTracing;
  /** Sends what is left, for a bounded time. */
  stop(): Promise<void>;
}

const defaultTarget = "dns:localhost:4317";
const million = 1_000_000;

export const tracingFields = ["endpoint", "samplingRatePerMillion"];

/** Reports what is wrong. */
export function readTracing(section: ConfigurationSection): TracingSettings {
  return tracingSettings(
    section.text("endpoint"),
    section.integer("samplingRatePerMillion"),
    (field, value, detail) => {
      const path = section.pathOf(field);
      section.problem(fieldErrors.invalid(path, value, detail).detail, path);
    },
  );
}

/** @param invalid is called with each field that is wrong, in the reference's words */
export function tracingSettings(
  endpoint: string,
  rate: number,
  invalid: (field: string, value: unknown, detail: string) => void,
): TracingSettings {
  if (rate < 0)
    invalid("samplingRatePerMillion", rate, "sampling rate must be positive");
  if (rate > million)
    invalid(
      "samplingRatePerMillion",
      rate,
      "sampling rate per million must be less than or equal to one million",
    );
  const target = endpoint === "" ? defaultTarget : targetOf(endpoint);
  if (target === undefined)
    invalid(
      "endpoint",
      endpoint,
      `unsupported scheme: ${endpoint.split(":")[0]}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
    );
  return { target: target ?? defaultTarget, ratePerMillion: rate };
}

/** Undefined: it is no place of a collector. `localhost:4317`, `dns://authority/host:port`, `unix:///run/otlp.sock` */
function targetOf(endpoint: string): string | undefined {
  if (!endpoint.includes("//")) {
    const [, kind, rest = ""] =
      /^(unix-abstract|unix|dns):(.*)$/.exec(endpoint) ?? [];
    if (kind === "unix-abstract") return `unix:\0${rest}`;
    if (kind !== undefined) return endpoint;
    return `dns:${endpoint}`;
  }
  const [, scheme, rest = ""] = /^([a-z-]*):\/\/(.*)$/.exec(endpoint) ?? [];
  if (scheme === "unix" && rest.startsWith("/")) return `unix:${rest}`;
  if (scheme === "unix-abstract") return `unix:\0${rest}`;
  return scheme === "dns" ? endpoint : undefined;
}

export function startTracing(
  { target, ratePerMillion }: TracingSettings,
  resource: Attributes,
  { clock, logger }: { clock: Clock; logger: Logger },
): Tracing {
  const sink = new SpanExporter({ target, resource, clock, logger });
  const tracer = new Tracer({ ratePerMillion, sink, clock });
  return {
    tracer,
    grpc(path) {
      const [, service = "", method = ""] = path.split("/");
      return tracer.call(path.slice(1), {
        "rpc.system": "grpc",
        "rpc.service": service,
        "rpc.method": method,
      });
    },
    stop: () => sink.stop(),
  };
}
