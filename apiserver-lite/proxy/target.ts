// Where a proxied request goes: the agent of a pod's node (logs, exec, attach, port-forward), or the pod, service or
// node itself (…/proxy). Answers with the reference's errors when there is no such place.
import { ApiError, errors } from "../../api/errors.ts";
import type { Container, Node, Pod } from "../../api/types/core-v1.ts";
import type { StateReader } from "../resources/state.ts";
import type { ConnectRequest } from "./connect-handler.ts";
import { pathOf, splitProxyName, type ProxyTarget } from "./proxy-name.ts";
import { refuseLocalAddress } from "../service-routing/service-place.ts";
import { serviceTarget } from "./service-target.ts";
import { typed } from "../resources/typed.ts";

export interface TargetOptions {
  readonly state: StateReader;
  /** In order of preference. */
  readonly addressTypes: readonly string[];
}

const DEFAULT_AGENT_PORT = 10250;

export function proxyTarget(
  request: ConnectRequest,
  options: TargetOptions,
): ProxyTarget {
  const { resource, subresource } = request;
  if (subresource !== "proxy") return agentTarget(request, options);
  if (resource === "pods") return podTarget(request);
  if (resource === "services") return serviceTarget(request, options.state);
  return nodeTarget(request, options);
}

function readPod({ namespace, name, read }: ConnectRequest): Pod {
  const pod = read("", "pods", namespace, name);
  if (!pod) throw errors.notFound({ group: "", resource: "pods" }, name);
  return typed<Pod>(pod);
}

/**
 * Whether the pod whose log is asked for has no node yet, so that nothing was logged. Throws ApiError 400, 404, 422: what
 * is wrong with the request is wrong before the pod has a node, too.
 */
export function isUnscheduledLog(request: ConnectRequest): boolean {
  const pod = readPod(request);
  if (pod.spec.nodeName) return false;
  copyLogOptions(request.query, new URLSearchParams());
  containerOf(pod, request.query.get("container") ?? "");
  return true;
}

function agentTarget(
  request: ConnectRequest,
  options: TargetOptions,
): ProxyTarget {
  const { namespace, name, subresource, query } = request;
  const pod = readPod(request);
  const passed = new URLSearchParams();
  let path: string;
  if (subresource === "portforward") {
    for (const port of query.getAll("ports")) passed.append("port", port);
    path = `/portForward/${namespace}/${name}`;
  } else {
    if (subresource === "log") copyLogOptions(query, passed);
    const container = containerOf(pod, query.get("container") ?? "");
    if (subresource !== "log") copyStreamOptions(query, passed, subresource);
    const route = { log: "containerLogs", exec: "exec", attach: "attach" }[
      subresource
    ];
    if (!route)
      throw errors.notFound(
        { group: "", resource: `pods/${subresource}` },
        name,
      );
    path = `/${route}/${namespace}/${name}/${container}`;
  }
  if (!pod.spec.nodeName)
    throw errors.badRequest(`pod ${name} does not have a host assigned`);
  const text = passed.toString();
  return {
    // As the reference reports the node of a pod.
    ...agentAddress(pod.spec.nodeName, options, "pods"),
    path: text === "" ? path : `${path}?${text}`,
  };
}

/** The container asked for, or the only one. */
function containerOf(pod: Pod, asked: string): string {
  const containers = pod.spec.containers;
  const inits = pod.spec.initContainers ?? [];
  const ephemeral = typed<Container[]>(pod.spec.ephemeralContainers ?? []);
  const name = pod.metadata.name ?? "";
  if (asked !== "") {
    if (
      [...containers, ...inits, ...ephemeral].some(
        (container) => container.name === asked,
      )
    )
      return asked;
    throw errors.badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const names = (list: readonly Container[]): string =>
    list.map((container) => container.name).join(" ");
  if (containers.length === 1) return containers[0]!.name;
  let text = `a container name must be specified for pod ${name}`;
  if (containers.length > 1) text += `, choose one of: [${names(containers)}]`;
  if (inits.length > 0)
    text += ` or one of the init containers: [${names(inits)}]`;
  throw errors.badRequest(text);
}

const LOG_OPTIONS = [
  "follow",
  "previous",
  "timestamps",
  "sinceSeconds",
  "sinceTime",
  "tailLines",
  "limitBytes",
  "stream",
];

function copyLogOptions(query: URLSearchParams, passed: URLSearchParams): void {
  const number = (name: string, least: number): void => {
    const text = query.get(name);
    if (text === null || text === "") return;
    if (!/^[+-]?\d+$/.test(text) || Number(text) < least) {
      const bound =
        least === 0
          ? "must be greater than or equal to 0"
          : "must be greater than 0";
      throw errors.invalid({ group: "", kind: "PodLogOptions" }, "", [
        {
          type: "FieldValueInvalid",
          field: name,
          detail: `Invalid value: ${text}: ${bound}`,
        },
      ]);
    }
  };
  number("tailLines", 0);
  number("limitBytes", 1);
  number("sinceSeconds", 1);
  if (query.get("sinceSeconds") && query.get("sinceTime")) {
    throw errors.invalid({ group: "", kind: "PodLogOptions" }, "", [
      {
        type: "FieldValueForbidden",
        field: "",
        detail:
          "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
      },
    ]);
  }
  for (const name of LOG_OPTIONS) {
    const value = query.get(name);
    if (value) passed.set(name, value);
  }
}

/** The API says stdin, stdout, stderr; the agent's port says input, output, error. */
function copyStreamOptions(
  query: URLSearchParams,
  passed: URLSearchParams,
  subresource: string,
): void {
  const wanted = (name: string): boolean =>
    /^(1|t|true)$/i.test(query.get(name) ?? "");
  const streams = [
    ["stdin", "input"],
    ["stdout", "output"],
    ["stderr", "error"],
    ["tty", "tty"],
  ] as const;
  for (const [name, passedAs] of streams)
    if (wanted(name)) passed.set(passedAs, "1");
  // A terminal has one output.
  if (wanted("tty")) passed.delete("error");
  if (!["input", "output", "error"].some((name) => passed.has(name))) {
    throw errors.badRequest(
      "at least one of stdin, stdout or stderr must be specified",
    );
  }
  if (subresource !== "exec") return;
  const command = query.getAll("command");
  if (command.length === 0) throw errors.badRequest("command is required");
  for (const word of command) passed.append("command", word);
}

/**
 * @param resource what a node that is not there is reported as
 * @throws ApiError when there is no such node, or it has no address of these types
 */
export function agentAddress(
  nodeName: string,
  { state, addressTypes }: TargetOptions,
  resource = "nodes",
): Omit<ProxyTarget, "path"> {
  const node = typed<Node>(state.read("", "nodes", "", nodeName));
  if (!node) throw errors.notFound({ group: "", resource }, nodeName);
  const addresses = node.status?.addresses ?? [];
  const host = addressTypes.flatMap((type) =>
    addresses.filter((address) => address.type === type),
  )[0]?.address;
  if (!host)
    throw new ApiError({
      code: 500,
      message: `no preferred addresses found; known addresses: [${addresses.map(({ address }) => address).join(" ")}]`,
    });
  const port =
    node.status?.daemonEndpoints?.kubeletEndpoint?.Port || DEFAULT_AGENT_PORT;
  return { scheme: "https", host, port, agent: true };
}

function podTarget(request: ConnectRequest): ProxyTarget {
  const parsed = splitProxyName(request.name);
  if (!parsed) throw errors.badRequest(`invalid pod request "${request.name}"`);
  const pod = readPod({ ...request, name: parsed.name });
  const port = parsed.port === "" ? (firstPort(pod) ?? 0) : portOf(parsed.port);
  if (port === undefined)
    throw errors.badRequest(`invalid pod request "${request.name}"`);
  const host = pod.status?.podIP ?? "";
  if (host === "") throw errors.badRequest("address not allowed");
  refuseLocalAddress(host);
  const scheme = parsed.scheme || "http";
  return {
    scheme,
    host,
    port: port || (scheme === "https" ? 443 : 80),
    path: pathOf(request),
    agent: false,
  };
}

/** Undefined: it is none. Names of ports are not looked up. */
function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : undefined;
}

function firstPort(pod: Pod): number | undefined {
  return pod.spec.containers.flatMap((container) => container.ports ?? [])[0]
    ?.containerPort;
}

function nodeTarget(
  request: ConnectRequest,
  options: TargetOptions,
): ProxyTarget {
  const parsed = splitProxyName(request.name);
  if (!parsed)
    throw errors.badRequest(`invalid node request "${request.name}"`);
  const agent = agentAddress(parsed.name, options);
  const path = pathOf(request);
  if (parsed.port === "" || Number(parsed.port) === agent.port)
    return { ...agent, path };
  const port = portOf(parsed.port);
  if (port === undefined)
    throw errors.badRequest(`invalid node request "${request.name}"`);
  refuseLocalAddress(agent.host);
  return {
    scheme: parsed.scheme || "http",
    host: agent.host,
    port,
    path,
    agent: false,
  };
}
