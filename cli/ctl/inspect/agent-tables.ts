// The columns of `get` for what a node agent lists, made here, since it prints no tables.
import { humanDuration } from "../../../api/duration.ts";
import type { AnyObject } from "../../../api/object.ts";
import type {
  ConfigMap,
  Event,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from "../../../api/types/core-v1.ts";
import type { Table } from "../output.ts";

/** Columns that -o wide adds are marked with `+`. */
interface Columns {
  readonly names: readonly string[];
  readonly cells: (object: never) => unknown[];
}

export function age(time: string | undefined): string {
  const atMs = Date.parse(time ?? "");
  return Number.isNaN(atMs) ? "<unknown>" : humanDuration(Date.now() - atMs);
}

const keys = ({ data = {} }: { data?: object }): number =>
  Object.keys(data).length;

const tables: Readonly<Record<string, Columns>> = {
  pods: {
    names: ["Name", "Ready", "Status", "Restarts", "Age", "+IP"],
    cells: podCells,
  },
  configmaps: {
    names: ["Name", "Data"],
    cells: (map: ConfigMap) => [map.metadata.name, keys(map)],
  },
  secrets: {
    names: ["Name", "Type", "Data"],
    cells: (secret: Secret) => [
      secret.metadata.name,
      secret.type ?? "Opaque",
      keys(secret),
    ],
  },
  services: {
    names: [
      "Name",
      "Type",
      "Cluster-IP",
      "External-IP",
      "Port(s)",
      "+Selector",
    ],
    cells: ({ metadata, spec }: Service) => [
      metadata.name,
      spec.type ?? "ClusterIP",
      spec.clusterIP || "<none>",
      spec.externalName ?? (spec.externalIPs?.join(",") || "<none>"),
      (spec.ports ?? [])
        .map(({ port, nodePort, protocol = "TCP" }) =>
          nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
        )
        .join(",") || "<none>",
      Object.entries(spec.selector ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .join(",") || "<none>",
    ],
  },
  persistentvolumeclaims: {
    names: [
      "Name",
      "Status",
      "Volume",
      "Capacity",
      "Access Modes",
      "StorageClass",
    ],
    cells: ({ metadata, spec = {}, status }: PersistentVolumeClaim) => [
      metadata.name,
      status?.phase ?? "",
      spec.volumeName ?? "",
      status?.capacity?.["storage"] ?? "",
      shortModes(spec.accessModes),
      spec.storageClassName ?? "",
    ],
  },
  persistentvolumes: {
    names: ["Name", "Capacity", "Access Modes", "Status", "Claim", "+Path"],
    cells: ({ metadata, spec = {}, status }: PersistentVolume) => [
      metadata.name,
      spec.capacity?.["storage"] ?? "",
      shortModes(spec.accessModes),
      status?.phase ?? "",
      `${spec.claimRef?.namespace}/${spec.claimRef?.name}`,
      spec.local?.path ?? "",
    ],
  },
  events: {
    names: ["Last Seen", "Type", "Reason", "Object", "Message"],
    cells: ({
      lastTimestamp,
      type,
      reason,
      involvedObject,
      message,
    }: Event) => [
      age(lastTimestamp),
      type ?? "",
      reason ?? "",
      `${involvedObject.kind?.toLowerCase()}/${involvedObject.name}`,
      message ?? "",
    ],
  },
};

const shortModes = (modes: readonly string[] = []): string =>
  modes.map((mode) => (mode === "ReadWriteOncePod" ? "RWOP" : "RWO")).join(",");

function podCells({ metadata, spec, status }: Pod): unknown[] {
  const statuses = status?.containerStatuses ?? [];
  const reason = statuses
    .map(({ state }) => state?.waiting?.reason ?? state?.terminated?.reason)
    .find(Boolean);
  return [
    metadata.name,
    `${statuses.filter(({ ready }) => ready).length}/${spec.containers.length}`,
    metadata.deletionTimestamp
      ? "Terminating"
      : (reason ?? status?.reason ?? status?.phase ?? "Unknown"),
    String(statuses.reduce((sum, { restartCount }) => sum + restartCount, 0)),
    age(metadata.creationTimestamp ?? status?.startTime),
    status?.podIP ?? "<none>",
  ];
}

export function agentTable(
  resource: string,
  objects: readonly AnyObject[],
): Table {
  const { names, cells } = tables[resource]!;
  return {
    columnDefinitions: names.map((name) => ({
      name: name.replace("+", ""),
      priority: name.startsWith("+") ? 1 : 0,
    })),
    rows: objects.map((object) => ({
      object,
      cells: cells(object as never),
    })),
  };
}
