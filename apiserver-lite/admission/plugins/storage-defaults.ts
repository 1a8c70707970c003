// DefaultStorageClass, DefaultIngressClass and StorageObjectInUseProtection.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { createdObject, nameOf } from "./requests.ts";

const DEFAULT_STORAGE = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const DEFAULT_INGRESS = "ingressclass.kubernetes.io/is-default-class";

/** A claim that names no class gets the default one; of several, the newest. */
export const defaultStorageClass: AdmissionPlugin = {
  name: "DefaultStorageClass",
  writesWhole: true,
  admit(attributes, context) {
    const claim = createdObject(attributes, "", "persistentvolumeclaims");
    if (
      !claim ||
      claim.metadata.annotations?.[
        "volume.beta.kubernetes.io/storage-class"
      ] !== undefined
    )
      return;
    const spec = (claim["spec"] ?? {}) as { storageClassName?: string };
    // An empty name is a wish: no class.
    if (spec.storageClassName !== undefined && spec.storageClassName !== null)
      return;
    const created = (object: Readonly<AnyObject>): string =>
      object.metadata.creationTimestamp ?? "";
    const newest = context
      .list("storage.k8s.io", "storageclasses")
      .filter(({ metadata }) =>
        DEFAULT_STORAGE.some((key) => metadata.annotations?.[key] === "true"),
      )
      .sort(
        (a, b) =>
          created(b).localeCompare(created(a)) ||
          (a.metadata.name < b.metadata.name ? -1 : 1),
      )[0];
    if (newest)
      claim["spec"] = { ...spec, storageClassName: newest.metadata.name };
  },
};

export const defaultIngressClass: AdmissionPlugin = {
  name: "DefaultIngressClass",
  writesWhole: true,
  admit(attributes, context) {
    const ingress = createdObject(attributes, "networking.k8s.io", "ingresses");
    if (
      !ingress ||
      ingress.metadata.annotations?.["kubernetes.io/ingress.class"] !==
        undefined
    )
      return;
    const spec = (ingress["spec"] ?? {}) as { ingressClassName?: string };
    if (spec.ingressClassName !== undefined && spec.ingressClassName !== null)
      return;
    const defaults = context
      .list("networking.k8s.io", "ingressclasses")
      .filter(
        ({ metadata }) => metadata.annotations?.[DEFAULT_INGRESS] === "true",
      )
      .sort(
        (a, b) =>
          (b.metadata.creationTimestamp ?? "").localeCompare(
            a.metadata.creationTimestamp ?? "",
          ) || (a.metadata.name < b.metadata.name ? -1 : 1),
      );
    if (defaults[0])
      ingress["spec"] = {
        ...spec,
        ingressClassName: defaults[0].metadata.name,
      };
  },
};

/** Volumes and claims in use stay until they are not. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  writesWhole: true,
  admit(attributes) {
    const claim = createdObject(attributes, "", "persistentvolumeclaims");
    if (claim) addFinalizer(claim, "kubernetes.io/pvc-protection");
    const volume = createdObject(attributes, "", "persistentvolumes");
    if (volume) addFinalizer(volume, "kubernetes.io/pv-protection");
  },
};

function addFinalizer({ metadata }: AnyObject, finalizer: string): void {
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer))
    metadata.finalizers = [...finalizers, finalizer];
}

/** Claims grow only where their class allows it. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: "PersistentVolumeClaimResize",
  validate(attributes, context) {
    const { resource, operation, subresource, object, oldObject } = attributes;
    if (
      resource.resource !== "persistentvolumeclaims" ||
      operation !== "UPDATE" ||
      subresource !== ""
    )
      return;
    const requestOf = (
      claim: Readonly<AnyObject> | undefined,
    ): string | undefined =>
      (
        claim?.["spec"] as
          { resources?: { requests?: { storage?: string } } } | undefined
      )?.resources?.requests?.storage;
    const wanted = requestOf(object);
    const before = requestOf(oldObject);
    if (!wanted || !before || wanted === before) return;
    const { storageClassName = "" } = (object?.["spec"] ?? {}) as {
      storageClassName?: string;
    };
    const storageClass = context.read(
      "storage.k8s.io",
      "storageclasses",
      "",
      storageClassName,
    );
    if (storageClass?.["allowVolumeExpansion"] === true) return;
    throw errors.forbidden(
      resource,
      nameOf(attributes),
      "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
    );
  },
};
