// PersistentVolumes and their claims: sources, capacities, what binds them, and what stays as it was written.
import { createEach, plain, updateEach } from "../cases.ts";
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const volume = (spec: object, metadata: object = {}): object => ({
  metadata: { name: "ref-pv", ...metadata },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    ...spec,
  },
});
const on = (source: object): object => volume(source);
const path = { hostPath: { path: "/a" } };
const affinity = {
  required: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: "a", operator: "Exists" }] },
    ],
  },
};

const volumes = {
  plain: on(path),
  "no spec": { metadata: { name: "ref-pv" } },
  "no source": on({}),
  "two sources": on({ ...path, nfs: { server: "s", path: "/a" } }),
  "no capacity": volume({ ...path, capacity: undefined }),
  "negative capacity": volume({ ...path, capacity: { storage: "-1" } }),
  "zero capacity": volume({ ...path, capacity: { storage: "0" } }),
  "no modes": volume({ ...path, accessModes: [] }),
  "unknown mode": volume({ ...path, accessModes: ["ReadSometimes"] }),
  "once pod and others": volume({
    ...path,
    accessModes: ["ReadWriteOncePod", "ReadWriteOnce"],
  }),
  "same mode twice": volume({
    ...path,
    accessModes: ["ReadWriteOnce", "ReadWriteOnce"],
  }),
  "reclaim policy": volume({ ...path, persistentVolumeReclaimPolicy: "Keep" }),
  recycle: volume({ ...path, persistentVolumeReclaimPolicy: "Recycle" }),
  "recycle the root": volume({
    hostPath: { path: "/" },
    persistentVolumeReclaimPolicy: "Recycle",
  }),
  "volume mode": volume({ ...path, volumeMode: "Tape" }),
  block: volume({ ...path, volumeMode: "Block" }),
  class: volume({ ...path, storageClassName: "A_" }),
  "class fine": volume({ ...path, storageClassName: "fast" }),
  "mount options": volume({ ...path, mountOptions: ["ro"] }),
  "attributes class": volume({ ...path, volumeAttributesClassName: "x" }),
  claim: volume({ ...path, claimRef: {} }),
  "claim named": volume({ ...path, claimRef: { name: "c", namespace: "n" } }),
  "affinity empty": volume({ ...path, nodeAffinity: {} }),
  "affinity without terms": volume({ ...path, nodeAffinity: { required: {} } }),
  affinity: volume({ ...path, nodeAffinity: affinity }),
  "name upper case": volume(path, { name: "A" }),
  "annotation of a class": volume(path, {
    annotations: { "volume.beta.kubernetes.io/storage-class": "x" },
  }),
  "host path dots": on({ hostPath: { path: "/a/../b" } }),
  "host path type": on({ hostPath: { path: "/a", type: "Pipe" } }),
  "host path empty": on({ hostPath: {} }),
  local: on({ local: { path: "/a" } }),
  "local with affinity": volume({
    local: { path: "/a" },
    nodeAffinity: affinity,
  }),
  "local empty": volume({ local: {}, nodeAffinity: affinity }),
  csi: on({ csi: {} }),
  "csi driver": on({ csi: { driver: "A_", volumeHandle: "h" } }),
  "csi fine": on({
    csi: { driver: "d.io", volumeHandle: "h", fsType: "ext4" },
  }),
  "csi secrets": on({
    csi: {
      driver: "d.io",
      volumeHandle: "h",
      nodePublishSecretRef: {},
      controllerExpandSecretRef: { name: "A_", namespace: "B_" },
    },
  }),
  nfs: on({ nfs: {} }),
  "nfs fine": on({ nfs: { server: "s", path: "/a" } }),
  iscsi: on({ iscsi: {} }),
  fc: on({ fc: {} }),
  rbd: on({ rbd: {} }),
  cephfs: on({ cephfs: {} }),
  cinder: on({ cinder: { secretRef: {} } }),
  glusterfs: on({ glusterfs: {} }),
  flexVolume: on({ flexVolume: {} }),
  azureFile: on({ azureFile: {} }),
  azureDisk: on({ azureDisk: {} }),
  gce: on({ gcePersistentDisk: { pdName: "d" } }),
  aws: on({ awsElasticBlockStore: {} }),
  vsphere: on({ vsphereVolume: {} }),
  portworx: on({ portworxVolume: {} }),
  quobyte: on({ quobyte: {} }),
  scaleIO: on({ scaleIO: {} }),
  storageos: on({ storageos: {} }),
  flocker: on({ flocker: {} }),
  photon: on({ photonPersistentDisk: {} }),
};

const claim = (spec: object, metadata: object = {}): object => ({
  metadata: { name: "c", ...metadata },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    ...spec,
  },
});
const claims = {
  plain: claim({}),
  "no spec": { metadata: { name: "c" } },
  "no modes": claim({ accessModes: undefined }),
  "unknown mode": claim({ accessModes: ["x"] }),
  "once pod and others": claim({
    accessModes: ["ReadWriteOncePod", "ReadWriteMany"],
  }),
  "no storage": claim({ resources: {} }),
  "storage zero": claim({ resources: { requests: { storage: "0" } } }),
  "storage negative": claim({ resources: { requests: { storage: "-1" } } }),
  "storage fraction": claim({ resources: { requests: { storage: "1.5" } } }),
  "other resources": claim({
    resources: { requests: { storage: "1Gi", cpu: "1" } },
  }),
  limits: claim({
    resources: { requests: { storage: "2Gi" }, limits: { storage: "1Gi" } },
  }),
  class: claim({ storageClassName: "A_" }),
  "class empty": claim({ storageClassName: "" }),
  "class unknown": claim({ storageClassName: "none" }),
  "volume mode": claim({ volumeMode: "x" }),
  "volume name": claim({ volumeName: "A_" }),
  selector: claim({
    selector: {
      matchLabels: { "a b": "c" },
      matchExpressions: [{ key: "a", operator: "x" }],
    },
  }),
  "data source": claim({ dataSource: {} }),
  "data source claim": claim({
    dataSource: { kind: "PersistentVolumeClaim", name: "x" },
  }),
  "data source snapshot": claim({
    dataSource: {
      apiGroup: "snapshot.storage.k8s.io",
      kind: "VolumeSnapshot",
      name: "x",
    },
  }),
  "data source other": claim({ dataSource: { kind: "Pod", name: "x" } }),
  "data source ref": claim({
    dataSourceRef: { kind: "PersistentVolumeClaim", name: "x" },
  }),
  "data source ref empty": claim({ dataSourceRef: {} }),
  "data source ref namespace": claim({
    dataSourceRef: { kind: "PersistentVolumeClaim", name: "x", namespace: "y" },
  }),
  "data sources differ": claim({
    dataSource: { kind: "PersistentVolumeClaim", name: "x" },
    dataSourceRef: { kind: "PersistentVolumeClaim", name: "y" },
  }),
  "attributes class": claim({ volumeAttributesClassName: "x" }),
  "class annotation": claim(
    {},
    { annotations: { "volume.beta.kubernetes.io/storage-class": "x" } },
  ),
  fine: claim({
    selector: { matchLabels: { a: "b" } },
    volumeMode: "Block",
    storageClassName: "s",
    volumeName: "v",
  }),
};

export const coreStorage: Scenario = {
  name: "core-storage",
  async run(server) {
    const { call, namespace } = server;
    const pvs = "/api/v1/persistentvolumes";
    const pvcs = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    await tryEach(server, pvs, "volume", on(path), volumes);
    await tryEach(server, pvcs, "claim", claim({}), claims);
    await updateEach(server, "volume", pvs, on(path), [
      {},
      { "spec.hostPath.path": "/b" },
      { "spec.hostPath": undefined, "spec.nfs": { server: "s", path: "/a" } },
      { "spec.capacity.storage": "2Gi" },
      { "spec.accessModes": ["ReadOnlyMany"] },
      { "spec.persistentVolumeReclaimPolicy": "Delete" },
      { "spec.volumeMode": "Block" },
      { "spec.storageClassName": "x" },
      { "spec.nodeAffinity": affinity },
      { "spec.claimRef": { name: "c", namespace } },
      { "spec.volumeAttributesClassName": "x" },
      { "spec.mountOptions": ["ro"] },
      { status: { phase: "Bound" } },
    ]);
    await updateEach(server, "claim", pvcs, claim({}), [
      {},
      { "spec.resources.requests.storage": "2Gi" },
      { "spec.resources.requests.storage": "500Mi" },
      { "spec.accessModes": ["ReadOnlyMany"] },
      { "spec.volumeName": "v" },
      { "spec.storageClassName": "x" },
      { "spec.volumeMode": "Block" },
      { "spec.selector": { matchLabels: { a: "b" } } },
      { "metadata.finalizers": [] },
      { status: { phase: "Bound" } },
    ]);
    await call("bind", "PATCH", `${pvcs}/c/status`, {
      body: {
        status: {
          phase: "Bound",
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
        },
      },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
    await updateEach(server, "bound", pvcs, claim({}), [
      { "spec.resources.requests.storage": "2Gi" },
      { "spec.resources.requests.storage": "500Mi" },
      { "spec.volumeName": "v" },
      { "spec.resources.limits": { storage: "3Gi" } },
    ]);
    await updateEach(
      server,
      "bound",
      pvcs,
      claim({}),
      [
        { "status.phase": "Odd" },
        { "status.capacity": { storage: "-1" } },
        { "status.conditions": [{ type: "x", status: "y" }] },
        { "status.allocatedResources": { cpu: "1" } },
        { "status.allocatedResourceStatuses": { storage: "x" } },
        { "spec.accessModes": [] },
      ],
      "status",
    );
    await call("delete a claim", "DELETE", `${pvcs}/c`, plain);
    await call("delete a volume", "DELETE", `${pvs}/ref-pv`, plain);
    await call("it stays", "GET", `${pvs}/ref-pv`, plain);
    await call("let it go", "PATCH", `${pvs}/ref-pv`, {
      body: { metadata: { finalizers: null } },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
    await createEach(server, "many", pvcs, claim({}, { name: "many" }), [
      {
        "spec.accessModes": [],
        "spec.resources": {},
        "spec.volumeMode": "x",
        "metadata.name": "A",
      },
    ]);
  },
};
