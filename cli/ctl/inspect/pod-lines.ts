// A pod as lines of names and values, for describe: what its readers look for, in the order they know.
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Pod,
  Probe,
  Toleration,
  Volume,
} from "../../../api/types/core-v1.ts";
import { mapText, type Lines } from "./field-lines.ts";

type Line = Lines[number];

/** Lines of what is there. */
const optional = (name: string, value: string | Lines | undefined): Line[] =>
  value === undefined || value.length === 0 ? [] : [[name, value]];

export function podLines({ metadata, spec, status = {} }: Pod): Lines {
  const groups: [string, Container[], ContainerStatus[] | undefined][] = [
    [
      "Init Containers",
      spec.initContainers ?? [],
      status.initContainerStatuses,
    ],
    ["Containers", spec.containers, status.containerStatuses],
    [
      "Ephemeral Containers",
      (spec.ephemeralContainers ?? []) as Container[],
      status.ephemeralContainerStatuses,
    ],
  ];
  return [
    ["Name", metadata.name],
    ["Namespace", metadata.namespace ?? "default"],
    ...(spec.priority === undefined
      ? []
      : ([["Priority", String(spec.priority)]] as Line[])),
    ...optional("Priority Class Name", spec.priorityClassName),
    ["Service Account", spec.serviceAccountName ?? "default"],
    [
      "Node",
      spec.nodeName
        ? [spec.nodeName, status.hostIP].filter(Boolean).join("/")
        : "<none>",
    ],
    ...optional("Start Time", status.startTime),
    ["Labels", mapText(metadata.labels)],
    ["Annotations", mapText(metadata.annotations, ": ")],
    [
      "Status",
      metadata.deletionTimestamp
        ? `Terminating (since ${metadata.deletionTimestamp})`
        : (status.phase ?? "Unknown"),
    ],
    ...optional("Reason", status.reason),
    ...optional("Message", status.message),
    ["IP", status.podIP ?? ""],
    ["IPs", status.podIPs?.map(({ ip }) => ip).join(", ") || "<none>"],
    ...groups.flatMap(([name, containers, statuses]) =>
      optional(
        name,
        containers.map((container): Line => [
          container.name,
          containerLines(
            container,
            statuses?.find((one) => one.name === container.name),
          ),
        ]),
      ),
    ),
    ...optional(
      "Conditions",
      (status.conditions ?? []).map((condition): Line => [
        condition.type,
        [condition.status, condition.reason, condition.message]
          .filter(Boolean)
          .join("  "),
      ]),
    ),
    ...optional("Volumes", (spec.volumes ?? []).map(volumeLine)),
    ["QoS Class", status.qosClass ?? ""],
    ["Node-Selectors", mapText(spec.nodeSelector)],
    [
      "Tolerations",
      (spec.tolerations ?? []).map(tolerationText).join("\n") || "<none>",
    ],
  ];
}

function containerLines(
  container: Container,
  status: ContainerStatus | undefined,
): Lines {
  const { resources = {} } = container;
  const probes = [
    ["Liveness", container.livenessProbe],
    ["Readiness", container.readinessProbe],
    ["Startup", container.startupProbe],
  ] as const;
  return [
    ["Container ID", status?.containerID ?? ""],
    ["Image", container.image ?? ""],
    ["Image ID", status?.imageID ?? ""],
    [
      container.ports?.length === 1 ? "Port" : "Ports",
      (container.ports ?? [])
        .map(
          ({ containerPort, protocol = "TCP" }) =>
            `${containerPort}/${protocol}`,
        )
        .join(", ") || "<none>",
    ],
    ...optional("Command", (container.command ?? []).join("\n")),
    ...optional("Args", (container.args ?? []).join("\n")),
    ...stateLines("State", status?.state),
    ...(Object.keys(status?.lastState ?? {}).length > 0
      ? stateLines("Last State", status?.lastState)
      : []),
    ["Ready", status?.ready ? "True" : "False"],
    ["Restart Count", String(status?.restartCount ?? 0)],
    ...optional("Limits", resources.limits && mapText(resources.limits, ": ")),
    ...optional(
      "Requests",
      resources.requests && mapText(resources.requests, ": "),
    ),
    ...probes.flatMap(([name, probe]) =>
      optional(name, probe && probeText(probe)),
    ),
    [
      "Environment",
      (container.env ?? [])
        .map(({ name, value, valueFrom }) =>
          valueFrom
            ? `${name}: <set to ${JSON.stringify(valueFrom)}>`
            : `${name}: ${value ?? ""}`,
        )
        .join("\n") || "<none>",
    ],
    [
      "Mounts",
      (container.volumeMounts ?? [])
        .map(
          ({ name, mountPath, readOnly }) =>
            `${mountPath} from ${name} (${readOnly ? "ro" : "rw"})`,
        )
        .join("\n") || "<none>",
    ],
  ];
}

function stateLines(name: string, state: ContainerState = {}): Line[] {
  const { running, waiting, terminated } = state;
  if (running) return [[name, `Running since ${running.startedAt ?? "?"}`]];
  if (terminated)
    return [
      [name, "Terminated"],
      ["  Reason", terminated.reason ?? ""],
      ...optional("  Message", terminated.message),
      ["  Exit Code", String(terminated.exitCode)],
      ["  Started", terminated.startedAt ?? ""],
      ["  Finished", terminated.finishedAt ?? ""],
    ];
  return [
    [name, "Waiting"],
    ...optional("  Reason", waiting?.reason),
    ...optional("  Message", waiting?.message),
  ];
}

function probeText(probe: Probe): string {
  const { exec, httpGet, tcpSocket, grpc } = probe;
  const what = exec
    ? `exec [${(exec.command ?? []).join(" ")}]`
    : httpGet
      ? `http-get ${(httpGet.scheme ?? "HTTP").toLowerCase()}://${httpGet.host ?? ""}:${httpGet.port}${httpGet.path ?? ""}`
      : tcpSocket
        ? `tcp-socket ${tcpSocket.host ?? ""}:${tcpSocket.port}`
        : `grpc ${grpc?.port}`;
  return `${what} delay=${probe.initialDelaySeconds ?? 0}s timeout=${probe.timeoutSeconds ?? 1}s period=${probe.periodSeconds ?? 10}s #success=${probe.successThreshold ?? 1} #failure=${probe.failureThreshold ?? 3}`;
}

/** The type is the field that is set; what it holds is in one line. */
function volumeLine({ name, ...source }: Volume): Line {
  const [type = "", value] =
    Object.entries(source).find(([, one]) => one) ?? [];
  return [name, `${type} ${JSON.stringify(value)}`];
}

function tolerationText(toleration: Toleration): string {
  const { key = "", operator, value, effect, tolerationSeconds } = toleration;
  return [
    `${key}${value ? `=${value}` : ""}${effect ? `:${effect}` : ""}`,
    ...(operator === "Exists" ? ["op=Exists"] : []),
    ...(tolerationSeconds === undefined ? [] : [`for ${tolerationSeconds}s`]),
  ].join(" ");
}
