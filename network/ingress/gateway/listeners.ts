// What a Gateway's listeners are worth: which socket each is served at, with which certificates, and its conditions. All
// Gateways share the node's addresses, so listeners of one port share a socket: of two that want different protocols the
// older Gateway's has it.
import type { CertificateUse } from "../messages.ts";
import type { RouteSet } from "../routing/route.ts";
import { no, yes, type PlannedCondition } from "./conditions.ts";
import type { MayRefer } from "./grants.ts";
import { gatewayGroup, type Gateway, type GatewayListener } from "./objects.ts";

export interface PlannedListener {
  readonly spec: GatewayListener;
  /** Undefined: it is not served. */
  readonly socket: string | undefined;
  readonly conditions: readonly PlannedCondition[];
  readonly supportsRoutes: boolean;
  /** Secrets, as namespace/name. */
  readonly certificates: readonly string[];
}

/** Of a port that is asked for. */
export type SocketState = "open" | "pending" | { readonly problem: string };

export interface SocketWish {
  readonly id: string;
  readonly port: number;
  readonly tls: boolean;
}

interface ListenerContext {
  readonly gatewayProblem?: GatewayProblem | undefined;
  readonly mayRefer: MayRefer;
  /** What is wrong with the certificate of a Secret; undefined: nothing. */
  readonly certificateProblem: (key: string) => string | undefined;
  /** The socket for the port, or why there is none. */
  readonly socketFor: (port: number, tls: boolean) => SocketWish | string;
  readonly socketState: (id: string) => SocketState;
}

export type GatewayProblem = readonly [reason: string, message: string];

/**
 * Why nothing of the Gateway is served: what it asks for would be missing without a trace, and some of that protects.
 * @param addresses of the node
 */
export function gatewayProblem(
  spec: Gateway["spec"],
  addresses: readonly string[],
): GatewayProblem | undefined {
  if (spec.infrastructure?.parametersRef)
    return [
      "InvalidParameters",
      "infrastructure.parametersRef is not supported",
    ];
  if (spec.tls) return ["Invalid", "tls of the Gateway is not supported"];
  const other = (spec.addresses ?? []).some(
    ({ type = "IPAddress", value = "" }) =>
      type !== "IPAddress" || (value !== "" && !addresses.includes(value)),
  );
  return other
    ? [
        "UnsupportedAddress",
        "Gateways have the addresses of the node; others can't be asked for",
      ]
    : undefined;
}

export function planListener(
  gateway: Gateway,
  spec: GatewayListener,
  context: ListenerContext,
): PlannedListener {
  const refused = (reason: string, message: string): PlannedListener => ({
    spec,
    socket: undefined,
    supportsRoutes: false,
    certificates: [],
    conditions: [
      no("Accepted", reason, message),
      no("Programmed", "Invalid", message),
      yes("ResolvedRefs"),
      no("Conflicted", "NoConflicts", ""),
    ],
  });
  const { protocol, tls } = spec;
  if (context.gatewayProblem) return refused(...context.gatewayProblem);
  if (protocol !== "HTTP" && protocol !== "HTTPS")
    return refused(
      "UnsupportedProtocol",
      `the protocol ${protocol} is not supported; HTTP and HTTPS are`,
    );
  const secure = protocol === "HTTPS";
  if (secure && (tls?.mode ?? "Terminate") !== "Terminate")
    return refused(
      "UnsupportedProtocol",
      `tls.mode ${tls?.mode} is not supported`,
    );
  if (tls?.frontendValidation)
    return refused(
      "UnsupportedProtocol",
      "tls.frontendValidation is not supported",
    );
  const socket = context.socketFor(spec.port, secure);
  if (typeof socket === "string")
    return {
      ...refused("PortUnavailable", socket),
      conditions: [
        no("Accepted", "PortUnavailable", socket),
        no("Programmed", "Invalid", socket),
        yes("ResolvedRefs"),
        yes("Conflicted", "ProtocolConflict", socket),
      ],
    };
  const certificates = secure
    ? certificatesOf(gateway, spec, context)
    : { keys: [], problem: undefined };
  const kinds = routeKinds(spec);
  const unresolved = certificates.problem ?? kinds.problem;
  const state = context.socketState(socket.id);
  const taken = typeof state === "object" ? state.problem : undefined;
  const serves = taken === undefined && certificates.problem === undefined;
  return {
    spec,
    socket: serves ? socket.id : undefined,
    supportsRoutes: kinds.http,
    certificates: certificates.keys,
    conditions: [
      taken === undefined
        ? yes("Accepted")
        : no("Accepted", "PortUnavailable", taken),
      serves
        ? state === "open"
          ? yes("Programmed")
          : no("Programmed", "Pending", "the port is being opened")
        : no("Programmed", "Invalid", taken ?? certificates.problem![1]),
      unresolved ? no("ResolvedRefs", ...unresolved) : yes("ResolvedRefs"),
      no("Conflicted", "NoConflicts", ""),
    ],
  };
}

type Problem = readonly [reason: string, message: string];

function certificatesOf(
  { metadata }: Gateway,
  { tls }: GatewayListener,
  { mayRefer, certificateProblem }: ListenerContext,
): { keys: string[]; problem: Problem | undefined } {
  const keys: string[] = [];
  let problem: Problem | undefined;
  for (const ref of tls?.certificateRefs ?? []) {
    const { group = "", kind = "Secret", name } = ref;
    const own = metadata.namespace ?? "";
    const namespace = ref.namespace ?? own;
    const key = `${namespace}/${name}`;
    if (group !== "" || kind !== "Secret")
      problem = ["InvalidCertificateRef", `${kind} ${name} is no Secret`];
    else if (
      !mayRefer({
        from: { group: gatewayGroup, kind: "Gateway", namespace: own },
        to: { group, kind, namespace, name },
      })
    )
      problem = ["RefNotPermitted", `no ReferenceGrant allows ${key}`];
    else {
      keys.push(key);
      const wrong = certificateProblem(key);
      if (wrong !== undefined)
        problem = ["InvalidCertificateRef", `the Secret ${key}: ${wrong}`];
    }
  }
  if (!problem && keys.length === 0)
    problem = ["InvalidCertificateRef", "there is no certificateRef"];
  return { keys, problem };
}

function routeKinds({ allowedRoutes }: GatewayListener): {
  http: boolean;
  problem: Problem | undefined;
} {
  const kinds = allowedRoutes?.kinds ?? [];
  if (kinds.length === 0) return { http: true, problem: undefined };
  const known = ({ group = gatewayGroup, kind }: (typeof kinds)[number]) =>
    group === gatewayGroup && kind === "HTTPRoute";
  const other = kinds.find((each) => !known(each));
  return {
    http: kinds.some(known),
    problem: other && [
      "InvalidRouteKinds",
      `routes of kind ${other.kind} are not supported`,
    ],
  };
}

/** Which certificates its clients get. */
export function certificateUsesOf(
  gateway: Gateway,
  listeners: readonly PlannedListener[],
): CertificateUse[] {
  const { metadata } = gateway;
  const rank = `${metadata.creationTimestamp ?? ""} ${metadata.namespace}/${metadata.name}`;
  return listeners.flatMap(({ spec, socket, certificates }) =>
    socket === undefined
      ? []
      : certificates.map((certificate) => ({
          sockets: [socket],
          rank,
          hosts: [spec.hostname ?? ""],
          deep: true,
          certificate,
        })),
  );
}

/** Keeps the served listeners known, also those without routes: they have the requests for their hosts. */
export function listenerSets(
  { metadata }: Gateway,
  listeners: readonly PlannedListener[],
): RouteSet[] {
  return listeners.flatMap(({ spec, socket }) =>
    socket === undefined
      ? []
      : [
          {
            owner: {
              kind: "Gateway" as const,
              namespace: metadata.namespace ?? "",
              name: metadata.name,
            },
            rank: "",
            sockets: [socket],
            listener: spec.hostname ?? "",
            rules: [],
          },
        ],
  );
}
