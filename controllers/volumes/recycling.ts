// Recycle: a pod of the template with the released volume in it deletes what is in the volume, which is then available
// again. Only hostPath and NFS volumes are recycled, as at the reference, which deprecates it. The pod is named after the
// volume, so that a manager that was restarted finds it; what it may take is its activeDeadlineSeconds.
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import { parseQuantity, quantityValue } from "../../api/quantity.ts";
import type { PersistentVolume, Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import { persistentVolumes, pods } from "../../client/resources.ts";
import type { ControllerOptions } from "../options.ts";
import type { ReclaimFailure } from "./reclaiming.ts";

const prefix = "recycler-for-";
const boundByController = "pv.kubernetes.io/bound-by-controller";
const gibibyte = 2 ** 30;

type RecyclerOptions = Pick<
  ControllerOptions,
  | "pvRecyclerMinimumTimeoutNfs"
  | "pvRecyclerIncrementTimeoutNfs"
  | "pvRecyclerMinimumTimeoutHostpath"
  | "pvRecyclerTimeoutIncrementHostpath"
  | "recyclerTemplates"
>;

interface RecyclingContext {
  readonly client: Client;
  readonly recorder: EventWriter;
  readonly options: RecyclerOptions;
}

/** The volume that a recycling pod works for. */
export function recycledVolume({ metadata }: Pod): string | undefined {
  return metadata.name.startsWith(prefix)
    ? metadata.name.slice(prefix.length)
    : undefined;
}

/** One step: resolves to a failure, or to undefined while the pod works and once the volume is available again. */
export async function recycle(
  { client, recorder, options }: RecyclingContext,
  volume: PersistentVolume,
): Promise<ReclaimFailure | undefined> {
  const wanted = recyclerPod(volume, options);
  if (!wanted)
    return {
      reason: "VolumeFailedRecycle",
      message: "No recycler plugin found for the volume!",
    };
  const { name, namespace } = wanted.metadata;
  const api = client.resource(pods);
  const pod = await api.get(name, namespace).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (!pod) {
    await api.create(wanted).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    return undefined;
  }
  const phase = pod.status?.phase;
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  if (phase === "Succeeded") await makeAvailable(client, volume);
  await api.delete(name, namespace).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  if (phase === "Succeeded") {
    recorder.event(volume, "Normal", "VolumeRecycled", "Volume recycled");
    return undefined;
  }
  const message =
    pod.status?.message ?? "pod failed, pod.Status.Message unknown";
  return {
    reason: "VolumeFailedRecycle",
    message: `Recycle failed: ${message}`,
  };
}

async function makeAvailable(
  client: Client,
  { metadata, spec }: PersistentVolume,
): Promise<void> {
  const { [boundByController]: byController, ...annotations } =
    metadata.annotations ?? {};
  const { claimRef, ...rest } = spec ?? {};
  // A claim that the volume's maker named keeps it.
  const { uid: _, ...reserved } = claimRef ?? {};
  await client.resource(persistentVolumes).update({
    metadata: { ...metadata, annotations },
    spec: {
      ...rest,
      ...(byController || !claimRef ? {} : { claimRef: reserved }),
    },
  });
}

/** undefined: of a type that is not recycled. */
function recyclerPod(
  { metadata, spec = {} }: PersistentVolume,
  options: RecyclerOptions,
): Pod | undefined {
  const kind = spec.hostPath ? "hostPath" : spec.nfs ? "nfs" : undefined;
  if (!kind) return undefined;
  const [minimum, increment] =
    kind === "nfs"
      ? [
          options.pvRecyclerMinimumTimeoutNfs,
          options.pvRecyclerIncrementTimeoutNfs,
        ]
      : [
          options.pvRecyclerMinimumTimeoutHostpath,
          options.pvRecyclerTimeoutIncrementHostpath,
        ];
  const gibibytes =
    quantityValue(parseQuantity(spec.capacity?.["storage"] ?? "0")) / gibibyte;
  const template = options.recyclerTemplates[kind] ?? defaultTemplate;
  const [first, ...others] = template.spec.volumes ?? [];
  return {
    ...template,
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...template.metadata,
      name: prefix + metadata.name,
      namespace: template.metadata.namespace ?? "default",
    },
    spec: {
      ...template.spec,
      restartPolicy: "Never",
      activeDeadlineSeconds: Math.max(
        minimum,
        Math.floor(gibibytes * increment),
      ),
      volumes: [
        {
          name: first?.name ?? "vol",
          ...(spec.hostPath
            ? { hostPath: { path: spec.hostPath.path } }
            : { nfs: spec.nfs! }),
        },
        ...others,
      ],
    },
  };
}

const defaultTemplate: Pod = {
  metadata: { name: "", namespace: "default" },
  spec: {
    containers: [
      {
        name: "pv-recycler",
        image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.4",
        command: ["/bin/sh"],
        args: [
          "-c",
          'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1',
        ],
        volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
      },
    ],
    volumes: [{ name: "vol" }],
  },
};
