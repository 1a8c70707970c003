// A pod's volumes: every source with nothing in it, with something wrong, and with all it needs (and what defaults add).
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const pod = (...volumes: unknown[]): object => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "i" }], volumes },
});
const volume = (source: object): object => pod({ name: "v", ...source });

const sources = [
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
  "hostPath",
  "image",
  "iscsi",
  "nfs",
  "persistentVolumeClaim",
  "photonPersistentDisk",
  "portworxVolume",
  "projected",
  "quobyte",
  "rbd",
  "scaleIO",
  "secret",
  "storageos",
  "vsphereVolume",
];

const shape = {
  "no name": pod({ emptyDir: {} }),
  nothing: pod({}),
  "no source": pod({ name: "v" }),
  "bad name": pod({ name: "A.b", emptyDir: {} }),
  twice: pod({ name: "v", emptyDir: {} }, { name: "v", emptyDir: {} }),
  "two sources": volume({ emptyDir: {}, hostPath: { path: "/a" } }),
  "three sources": volume({
    emptyDir: {},
    secret: { secretName: "a" },
    configMap: { name: "b" },
  }),
  "unknown source": volume({ floppy: {} }),
};

const wrong = {
  "emptyDir negative": { emptyDir: { sizeLimit: "-1" } },
  "emptyDir memory": { emptyDir: { medium: "Memory", sizeLimit: "1Gi" } },
  "emptyDir medium": { emptyDir: { medium: "Tape" } },
  "hostPath dots": { hostPath: { path: "/a/../b" } },
  "hostPath type": { hostPath: { path: "/a", type: "Pipe" } },
  "hostPath relative": { hostPath: { path: "a", type: "Directory" } },
  gitRepo: { gitRepo: { repository: "r", directory: "../a" } },
  "gitRepo absolute": { gitRepo: { repository: "r", directory: "/a" } },
  "gce partition": { gcePersistentDisk: { pdName: "d", partition: 300 } },
  "aws partition": { awsElasticBlockStore: { volumeID: "d", partition: -1 } },
  "secret mode": { secret: { secretName: "s", defaultMode: 512 } },
  "secret mode negative": { secret: { secretName: "s", defaultMode: -1 } },
  "secret items": {
    secret: {
      secretName: "s",
      items: [
        {},
        { key: "a" },
        { key: "a/b", path: "/x" },
        { key: "a", path: "../x", mode: 9999 },
        { key: "a", path: "..x" },
      ],
    },
  },
  "secret name": { secret: { secretName: "A_" } },
  secret: {
    secret: {
      secretName: "s",
      optional: true,
      items: [{ key: "a", path: "b", mode: 256 }],
    },
  },
  "configMap items": {
    configMap: {
      name: "s",
      defaultMode: 9999,
      items: [
        { key: "", path: "" },
        { key: "..", path: "x" },
      ],
    },
  },
  "configMap same path": {
    configMap: {
      name: "s",
      items: [
        { key: "a", path: "x" },
        { key: "b", path: "x" },
      ],
    },
  },
  configMap: { configMap: { name: "s" } },
  "nfs relative": { nfs: { server: "s", path: "a" } },
  nfs: { nfs: { server: "s", path: "/a" } },
  iscsi: {
    iscsi: {
      targetPortal: "1.1.1.1",
      iqn: "iqn.2001-04.com.example:x",
      lun: 0,
    },
  },
  "iscsi iqn": {
    iscsi: {
      targetPortal: "1.1.1.1",
      iqn: "abc",
      lun: 300,
      chapAuthDiscovery: true,
      initiatorName: "x",
    },
  },
  "iscsi iqn forms": {
    iscsi: { targetPortal: "1.1.1.1", iqn: "iqn.x", lun: -1 },
  },
  "iscsi eui": { iscsi: { targetPortal: "1.1.1.1", iqn: "eui.x", lun: 1 } },
  "iscsi naa": { iscsi: { targetPortal: "1.1.1.1", iqn: "naa.x", lun: 1 } },
  glusterfs: { glusterfs: { endpoints: "e", path: "p" } },
  "flocker both": { flocker: { datasetName: "a", datasetUUID: "b" } },
  "flocker slash": { flocker: { datasetName: "a/b" } },
  flocker: { flocker: { datasetName: "a" } },
  rbd: { rbd: { monitors: ["m"], image: "i" } },
  "cinder secret": { cinder: { volumeID: "v", secretRef: {} } },
  cephfs: { cephfs: { monitors: ["m"] } },
  "quobyte registry": { quobyte: { registry: "a,b", volume: "v" } },
  "quobyte tenant": {
    quobyte: { registry: "a:1", volume: "v", tenant: "a b".repeat(30) },
  },
  quobyte: { quobyte: { registry: "a:1", volume: "v" } },
  fc: { fc: { targetWWNs: ["a"], lun: 1 } },
  "fc lun": { fc: { targetWWNs: ["a"], lun: 300 } },
  "fc no lun": { fc: { targetWWNs: ["a"] } },
  "fc both": { fc: { targetWWNs: ["a"], lun: 1, wwids: ["b"] } },
  "flexVolume options": {
    flexVolume: { driver: "d", options: { "kubernetes.io/x": "y" } },
  },
  flexVolume: { flexVolume: { driver: "d" } },
  azureDisk: { azureDisk: { diskName: "d", diskURI: "u" } },
  "azureDisk wrong": {
    azureDisk: { diskName: "d", diskURI: "u", cachingMode: "x", kind: "y" },
  },
  "azureDisk managed": {
    azureDisk: { diskName: "d", diskURI: "u", kind: "Managed" },
  },
  "azureDisk dedicated": {
    azureDisk: { diskName: "d", diskURI: "u", kind: "Dedicated" },
  },
  azureFile: { azureFile: { secretName: "s", shareName: "t" } },
  storageos: {
    storageos: { volumeName: "A_", volumeNamespace: "B_", secretRef: {} },
  },
  scaleIO: {
    scaleIO: {
      gateway: "g",
      system: "s",
      volumeName: "v",
      secretRef: { name: "x" },
    },
  },
  csi: { csi: { driver: "d.io" } },
  "csi driver": { csi: { driver: "D_".repeat(40) } },
  "csi secret": { csi: { driver: "d.io", nodePublishSecretRef: {} } },
  "csi secret name": {
    csi: { driver: "d.io", nodePublishSecretRef: { name: "A_" } },
  },
  pvc: { persistentVolumeClaim: { claimName: "c", readOnly: true } },
  "pvc name": { persistentVolumeClaim: { claimName: "A_" } },
  "ephemeral template": { ephemeral: { volumeClaimTemplate: {} } },
  "ephemeral metadata": {
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { name: "x", namespace: "y", labels: { "a b": "c d" } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
        },
      },
    },
  },
  ephemeral: {
    ephemeral: {
      volumeClaimTemplate: {
        metadata: { labels: { a: "b" } },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "1Gi" } },
        },
      },
    },
  },
  "downward empty": { downwardAPI: { items: [{}] } },
  "downward both": {
    downwardAPI: {
      items: [
        {
          path: "a",
          fieldRef: { fieldPath: "metadata.name" },
          resourceFieldRef: { containerName: "c", resource: "limits.cpu" },
        },
      ],
    },
  },
  "downward field": {
    downwardAPI: {
      items: [{ path: "a", fieldRef: { fieldPath: "status.podIP" } }],
    },
  },
  "downward field unknown": {
    downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "x" } }] },
  },
  "downward field empty": {
    downwardAPI: { items: [{ path: "a", fieldRef: {} }] },
  },
  "downward resource": {
    downwardAPI: {
      items: [
        { path: "a", resourceFieldRef: { resource: "limits.cpu" } },
        { path: "b", resourceFieldRef: { containerName: "c", resource: "x" } },
      ],
    },
  },
  "downward divisor": {
    downwardAPI: {
      items: [
        {
          path: "a",
          resourceFieldRef: {
            containerName: "c",
            resource: "limits.cpu",
            divisor: "5",
          },
        },
      ],
    },
  },
  "downward path": {
    downwardAPI: {
      items: [
        { path: "/a", fieldRef: { fieldPath: "metadata.labels" } },
        {
          path: "../a",
          fieldRef: { fieldPath: "metadata.labels" },
          mode: 9999,
        },
      ],
    },
  },
  "downward same path": {
    downwardAPI: {
      items: [
        { path: "a", fieldRef: { fieldPath: "metadata.labels" } },
        { path: "a", fieldRef: { fieldPath: "metadata.uid" } },
      ],
    },
  },
  downward: {
    downwardAPI: {
      defaultMode: 256,
      items: [
        { path: "a", fieldRef: { fieldPath: "metadata.labels['x']" } },
        {
          path: "b",
          resourceFieldRef: { containerName: "c", resource: "limits.memory" },
        },
      ],
    },
  },
  "downward mode": { downwardAPI: { defaultMode: 9999 } },
  "projected empty source": { projected: { sources: [{}] } },
  "projected no sources": { projected: { sources: [] } },
  "projected mode": { projected: { defaultMode: 9999, sources: [] } },
  "projected two": {
    projected: {
      sources: [{ secret: { name: "a" }, configMap: { name: "b" } }],
    },
  },
  "projected names": {
    projected: {
      sources: [
        { secret: {} },
        { configMap: {} },
        { downwardAPI: { items: [{}] } },
        { serviceAccountToken: {} },
      ],
    },
  },
  "projected token short": {
    projected: {
      sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 5 } }],
    },
  },
  "projected token long": {
    projected: {
      sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 5e9 } }],
    },
  },
  "projected token path": {
    projected: { sources: [{ serviceAccountToken: { path: "/../t" } }] },
  },
  "projected token path dots": {
    projected: { sources: [{ serviceAccountToken: { path: "..t" } }] },
  },
  "projected same path": {
    projected: {
      sources: [
        { secret: { name: "a", items: [{ key: "k", path: "x" }] } },
        { configMap: { name: "b", items: [{ key: "k", path: "x" }] } },
      ],
    },
  },
  "projected same path of a field": {
    projected: {
      sources: [
        { secret: { name: "a", items: [{ key: "k", path: "x" }] } },
        {
          downwardAPI: {
            items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }],
          },
        },
      ],
    },
  },
  projected: {
    projected: {
      sources: [
        { secret: { name: "a" } },
        { configMap: { name: "b", optional: true } },
        {
          downwardAPI: {
            items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }],
          },
        },
        { serviceAccountToken: { path: "t" } },
      ],
    },
  },
  "projected trust": {
    projected: { sources: [{ clusterTrustBundle: { path: "x", name: "y" } }] },
  },
  image: { image: { reference: "r" } },
};

export const corePodsVolumes: Scenario = {
  name: "core-pods-volumes",
  async run(server) {
    const path = `/api/v1/namespaces/${server.namespace}/pods`;
    const each = (rows: Record<string, object>): Record<string, object> =>
      Object.fromEntries(
        Object.entries(rows).map(([label, source]) => [label, volume(source)]),
      );
    const beside = (other: object): Record<string, object> =>
      Object.fromEntries(
        sources.map((name) => [name, { ...other, [name]: {} }]),
      );
    for (const [prefix, rows] of Object.entries({
      shape,
      empty: each(beside({})),
      null: each({
        secret: { secret: null },
        both: { secret: null, emptyDir: {} },
      }),
      "beside another": each(beside({ emptyDir: {} })),
      source: each(wrong),
    }))
      await tryEach(server, path, prefix, pod(), rows);
  },
};
