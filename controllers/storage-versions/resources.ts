// The resources of these controllers: both are behind gates, and no other part asks for them.
import type { StorageVersion } from "../../api/types/apiserverinternal-v1alpha1.ts";
import type { StorageVersionMigration } from "../../api/types/storagemigration-v1alpha1.ts";
import type { ResourceRef } from "../../client/client.ts";

export const storageVersions: ResourceRef<StorageVersion> = {
  group: "internal.apiserver.k8s.io",
  version: "v1alpha1",
  resource: "storageversions",
  kind: "StorageVersion",
  namespaced: false,
};

export const storageVersionMigrations: ResourceRef<StorageVersionMigration> = {
  group: "storagemigration.k8s.io",
  version: "v1alpha1",
  resource: "storageversionmigrations",
  kind: "StorageVersionMigration",
  namespaced: false,
};
