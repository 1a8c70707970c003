// The annotations of an Ingress that this controller knows (docs/NETWORK.md). All begin with its prefix; one that it does
// not know, or whose value is wrong, is a problem: limits and TLS to backends never quietly fall away.
import { parseDurationMs } from "../../../api/duration.ts";
import { quantityValue } from "../../../api/quantity.ts";
import type { BackendProtocol, RouteLimits } from "../routing/route.ts";

const annotationPrefix = "ingress.orbit.io/";

export interface IngressSettings {
  readonly httpsRedirect: boolean;
  readonly limits: RouteLimits;
  /** Undefined: as the Service's port says. */
  readonly protocol: BackendProtocol | undefined;
  /** Of the Ingress's namespace, with `ca.crt`. */
  readonly authoritySecret: string | undefined;
  readonly serverName: string | undefined;
  readonly verify: boolean;
  readonly problems: readonly string[];
}

const protocols: Readonly<Record<string, BackendProtocol>> = {
  http: "http",
  https: "https",
  h2c: "h2c",
  grpc: "h2c",
  h2: "h2",
  grpcs: "h2",
};

function positive(value: number): number {
  if (!Number.isFinite(value) || value <= 0 || value > 2 ** 31 - 1)
    throw new Error("out of range");
  return value;
}

function choice<T>(values: Readonly<Record<string, T>>, text: string): T {
  const key = text.toLowerCase();
  if (!Object.hasOwn(values, key))
    throw new Error(`must be one of ${Object.keys(values).join(", ")}`);
  return values[key]!;
}

const booleans = { true: true, false: false };

type Readers = Readonly<Record<string, (text: string) => unknown>>;

const readers = {
  "https-redirect": (text: string) => choice(booleans, text),
  "response-timeout": (text: string) => positive(parseDurationMs(text)),
  "idle-timeout": (text: string) => positive(parseDurationMs(text)),
  "max-body-size": (text: string) => {
    const bytes = quantityValue(text);
    if (!Number.isSafeInteger(bytes) || bytes < 0)
      throw new Error("must be a quantity such as 8Mi");
    return bytes;
  },
  "backend-protocol": (text: string) => choice(protocols, text),
  "backend-ca-secret": (text: string) => text,
  "backend-server-name": (text: string) => text,
  "backend-tls-verify": (text: string) => choice(booleans, text),
} satisfies Readers;

type Name = keyof typeof readers;

export function ingressSettings(
  annotations: Readonly<Record<string, string>> = {},
): IngressSettings {
  const problems: string[] = [];
  const values = new Map<string, unknown>();
  for (const [full, text] of Object.entries(annotations)) {
    if (!full.startsWith(annotationPrefix)) continue;
    const name = full.slice(annotationPrefix.length);
    const reader = Object.hasOwn(readers, name)
      ? readers[name as Name]
      : undefined;
    if (!reader) {
      problems.push(`the annotation ${full} is not known`);
      continue;
    }
    try {
      values.set(name, reader(text));
    } catch (error) {
      problems.push(
        `the annotation ${full} has the wrong value ${JSON.stringify(text.slice(0, 100))}: ${(error as Error).message}`,
      );
    }
  }
  const value = <N extends Name>(
    name: N,
  ): ReturnType<(typeof readers)[N]> | undefined =>
    values.get(name) as ReturnType<(typeof readers)[N]> | undefined;
  const responseTimeoutMs = value("response-timeout");
  const idleTimeoutMs = value("idle-timeout");
  const maxBodyBytes = value("max-body-size");
  return {
    httpsRedirect: value("https-redirect") ?? false,
    limits: {
      ...(responseTimeoutMs === undefined ? {} : { responseTimeoutMs }),
      ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    },
    protocol: value("backend-protocol"),
    authoritySecret: value("backend-ca-secret"),
    serverName: value("backend-server-name"),
    verify: value("backend-tls-verify") ?? true,
    problems,
  };
}
