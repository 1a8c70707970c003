// Which objects belong to which node: its pods, and what those refer to. The references of pods are counted per node as
// pods come and go, so that a question is one look-up; volumes, attachments and slices are few and are read when asked for.
//
//   node ← pod ← secret, config map, service account, claim (of a volume or of devices)
//   node ← pod ← claim ← volume ← secret
//   node ← attachment, node ← slice
//
// Mirror pods belong to their node, and what they name does not: a node could write one that names anything.
import type { AnyObject } from "../../api/object.ts";
import type { PersistentVolume, Pod } from "../../api/types/core-v1.ts";
import { TimeSlices } from "../loop/time-slices.ts";
import type { ClusterState } from "../resources/state.ts";
import { podReferences } from "../../api/objects/pod-references.ts";
import { typed } from "../resources/typed.ts";

export class NodeRelations {
  readonly #state: ClusterState;
  /** Node → `resource/namespace/name` → how many of its pods refer to it. */
  readonly #references = new Map<string, Map<string, number>>();
  #stop: (() => void) | undefined;

  constructor(state: ClusterState) {
    this.#state = state;
  }

  /** Resolves when all pods are counted, in slices of time. Pods that change meanwhile are counted at once. */
  async start(): Promise<void> {
    const present = this.#state.scan("", "pods", "spec.nodeName");
    this.#stop = this.#state.onChange("", "pods", ({ object, previous }) => {
      if (previous) this.#count(previous, -1);
      if (object) this.#count(object, 1);
    });
    const slices = new TimeSlices();
    for (const pod of present) {
      this.#count(pod, 1);
      if (slices.over) await slices.next();
    }
  }

  stop(): void {
    this.#stop?.();
    this.#references.clear();
  }

  /** @param resource with its group: "secrets", "volumeattachments.storage.k8s.io" */
  related(
    node: string,
    resource: string,
    namespace: string,
    name: string,
  ): boolean {
    switch (resource) {
      case "persistentvolumes":
        return this.#mounts(node, name) !== undefined;
      case "volumeattachments.storage.k8s.io":
        return this.#names(
          node,
          this.#state.read("storage.k8s.io", "volumeattachments", "", name),
        );
      case "resourceslices.resource.k8s.io":
        return this.#names(
          node,
          this.#state.read("resource.k8s.io", "resourceslices", "", name),
        );
      case "secrets":
        return (
          this.#refers(node, resource, namespace, name) ||
          this.#mountsWith(node, namespace, name)
        );
      default:
        return this.#refers(node, resource, namespace, name);
    }
  }

  #refers(
    node: string,
    resource: string,
    namespace: string,
    name: string,
  ): boolean {
    const counts = this.#references.get(node);
    return (counts?.get(`${resource}/${namespace}/${name}`) ?? 0) > 0;
  }

  #names(node: string, object: Readonly<AnyObject> | undefined): boolean {
    const spec = object?.["spec"] as { nodeName?: string } | undefined;
    return spec?.nodeName === node;
  }

  /** The volume, when a pod of the node mounts the claim it is for. */
  #mounts(node: string, name: string): PersistentVolume | undefined {
    const volume = this.#state.read("", "persistentvolumes", "", name) as
      PersistentVolume | undefined;
    const claim = volume?.spec?.claimRef;
    return claim &&
      this.#refers(
        node,
        "persistentvolumeclaims",
        claim.namespace ?? "",
        claim.name ?? "",
      )
      ? volume
      : undefined;
  }

  /** Does a volume of the node's pods need this secret to be mounted? */
  #mountsWith(node: string, namespace: string, secret: string): boolean {
    for (const [key, count] of this.#references.get(node) ?? []) {
      if (count <= 0) continue;
      const [resource, claimNamespace = "", claimName = ""] = key.split("/");
      if (resource !== "persistentvolumeclaims") continue;
      const claim = this.#state.read(
        "",
        "persistentvolumeclaims",
        claimNamespace,
        claimName,
      );
      const { volumeName = "" } = (claim?.["spec"] ?? {}) as {
        volumeName?: string;
      };
      const volume =
        volumeName === "" ? undefined : this.#mounts(node, volumeName);
      if (!volume) continue;
      for (const needed of mountSecrets(volume))
        if (needed.name === secret && needed.namespace === namespace)
          return true;
    }
    return false;
  }

  #count(object: Readonly<AnyObject>, by: 1 | -1): void {
    const pod = typed<Pod>(object);
    const node = pod.spec.nodeName;
    if (!node) return;
    let counts = this.#references.get(node);
    if (!counts) this.#references.set(node, (counts = new Map()));
    const { namespace = "", name } = pod.metadata;
    const add = (resource: string, referred: string): void => {
      const key = `${resource}/${namespace}/${referred}`;
      const count = (counts.get(key) ?? 0) + by;
      // Below 0 while a pod that is gone again has yet to be counted.
      if (count !== 0) counts.set(key, count);
      else counts.delete(key);
    };
    add("pods", name);
    for (const reference of podReferences(pod))
      add(reference.resource, reference.name);
    if (counts.size === 0) this.#references.delete(node);
  }
}

/** Of the secrets a volume names, those a node needs; the others are the controllers'. */
function* mountSecrets({
  spec,
}: PersistentVolume): Generator<{ namespace: string; name: string }> {
  if (!spec) return;
  const own = spec.claimRef?.namespace ?? "";
  if (spec.azureFile)
    yield {
      namespace: spec.azureFile.secretNamespace || own,
      name: spec.azureFile.secretName,
    };
  const references = [
    spec.cephfs?.secretRef,
    spec.flexVolume?.secretRef,
    spec.rbd?.secretRef,
    spec.scaleIO?.secretRef,
    spec.iscsi?.secretRef,
    spec.storageos?.secretRef,
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
    spec.csi?.nodeExpandSecretRef,
  ];
  for (const reference of references)
    if (reference?.name)
      yield { namespace: reference.namespace || own, name: reference.name };
}
