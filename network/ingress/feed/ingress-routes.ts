// An Ingress as routes, backends and uses of certificates, by a pure function.
// Source: networking.k8s.io/v1 Ingress. ImplementationSpecific paths are prefixes. Its default backend takes what matches
// no rule: of its own hosts first, then of every host that has no other; the oldest wins.
import { objectKey } from "../../../api/object.ts";
import type {
  Ingress,
  IngressBackend,
} from "../../../api/types/networking-v1.ts";
import type { CertificateUse } from "../messages.ts";
import type {
  FixedAnswer,
  Forward,
  PathMatch,
  Redirect,
  RouteRule,
  RouteSet,
} from "../routing/route.ts";
import { ingressSettings, type IngressSettings } from "./ingress-settings.ts";
import { backendKey, type BackendSpec } from "./service-backend.ts";

export interface IngressSockets {
  /** Ids; undefined: there is none. */
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Of the HTTPS socket, as clients see it. */
  readonly httpsPort: number;
}

export interface ObjectPlan {
  readonly routes: readonly RouteSet[];
  readonly certificateUses: readonly CertificateUse[];
  readonly backends: readonly BackendSpec[];
  /** Secrets of certificates, as namespace/name. */
  readonly certificates: readonly string[];
  readonly problems: readonly string[];
}

/** Older first, then by name. */
function rankOf({ metadata }: Pick<Ingress, "metadata">): string {
  return `${metadata.creationTimestamp ?? ""} ${objectKey({ metadata })}`;
}

const pathTypes: Readonly<Record<string, PathMatch["type"]>> = {
  Exact: "Exact",
  Prefix: "Prefix",
  ImplementationSpecific: "Prefix",
};

export function ingressPlan(
  ingress: Ingress,
  sockets: IngressSockets,
): ObjectPlan {
  const { metadata } = ingress;
  const namespace = metadata.namespace ?? "";
  const settings = ingressSettings(metadata.annotations);
  const problems = [...settings.problems];
  const backends = new Map<string, BackendSpec>();
  const action = (
    backend: IngressBackend | undefined,
  ): Forward | FixedAnswer => {
    if (settings.problems.length > 0)
      return refusal("the annotations of the Ingress are wrong");
    const named = backendSpec(namespace, backend, settings);
    if (typeof named === "string") {
      problems.push(named);
      return refusal(named);
    }
    const key = backendKey(named);
    backends.set(key, named);
    return { kind: "forward", backends: [{ backend: key, weight: 1 }] };
  };
  const rules = rulesOf(ingress, settings, action);
  const owner = {
    kind: "Ingress" as const,
    namespace,
    name: metadata.name ?? "",
  };
  const rank = rankOf(ingress);
  const set = (
    socket: string | undefined,
    own: readonly RouteRule[],
  ): RouteSet[] =>
    socket === undefined
      ? []
      : [{ owner, rank, sockets: [socket], rules: own }];
  const redirects =
    settings.httpsRedirect && sockets.https !== undefined
      ? rules.map((rule) => ({ ...rule, action: toHttps(sockets.httpsPort) }))
      : rules;
  const uses = certificateUses(ingress, sockets.https);
  return {
    routes: [...set(sockets.http, redirects), ...set(sockets.https, rules)],
    certificateUses: uses,
    backends: [...backends.values()],
    certificates: [...new Set(uses.map(({ certificate }) => certificate))],
    problems: [...new Set(problems)],
  };
}

function rulesOf(
  { spec }: Ingress,
  { limits }: IngressSettings,
  action: (backend: IngressBackend | undefined) => Forward | FixedAnswer,
): RouteRule[] {
  const rules: RouteRule[] = [];
  const add = (rule: Omit<RouteRule, "limits">): void => {
    rules.push({ ...rule, limits });
  };
  for (const { host = "", http } of spec.rules ?? []) {
    for (const { path, pathType, backend } of http?.paths ?? [])
      add({
        hosts: [host],
        matches: [
          {
            path: {
              type: pathTypes[pathType] ?? "Prefix",
              value: path || "/",
            },
          },
        ],
        action: action(backend),
      });
    // A rule without paths sends all of its host to the default backend.
    if (!http && spec.defaultBackend)
      add({
        hosts: [host],
        matches: [{ path: { type: "Prefix", value: "/" } }],
        action: action(spec.defaultBackend),
      });
  }
  if (spec.defaultBackend) {
    const hosts = (spec.rules ?? []).map(({ host = "" }) => host);
    add({
      hosts: [...new Set([...hosts, ""])],
      matches: [],
      action: action(spec.defaultBackend),
    });
  }
  return rules;
}

function refusal(text: string): FixedAnswer {
  return { kind: "answer", status: 503, text };
}

/** 308: the method stays. */
function toHttps(port: number): Redirect {
  return { kind: "redirect", status: 308, scheme: "https", port };
}

/** What is wrong with it, as text. */
function backendSpec(
  namespace: string,
  backend: IngressBackend | undefined,
  { protocol, authoritySecret, serverName, verify }: IngressSettings,
): BackendSpec | string {
  const service = backend?.service;
  if (!service)
    return `the backend ${backend?.resource?.kind ?? ""} ${backend?.resource?.name ?? ""} is no Service; others are not supported`;
  const port = service.port?.number ?? service.port?.name;
  if (port === undefined)
    return `the backend ${service.name} names no port of its Service`;
  return {
    namespace,
    service: service.name,
    port,
    ...(protocol === undefined ? {} : { protocol }),
    ...(authoritySecret === undefined
      ? {}
      : { authority: `Secret/${authoritySecret}` }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(verify ? {} : { verify }),
  };
}

function certificateUses(
  ingress: Ingress,
  socket: string | undefined,
): CertificateUse[] {
  if (socket === undefined) return [];
  const { metadata, spec } = ingress;
  return (spec.tls ?? []).flatMap(({ hosts = [], secretName }) =>
    secretName
      ? [
          {
            sockets: [socket],
            rank: rankOf(ingress),
            hosts,
            certificate: `${metadata.namespace ?? ""}/${secretName}`,
          },
        ]
      : [],
  );
}
