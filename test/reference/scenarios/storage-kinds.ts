// StorageClass, CSIDriver, CSINode, VolumeAttachment and CSIStorageCapacity: defaults, what is refused, what may change.
import { createEach, plain, updateEach, each, names } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

export const storageKinds: Scenario = {
  name: "storage-kinds",
  async run(server) {
    const { namespace, call } = server;
    const within = (group: string, resource: string): string =>
      `/apis/${group}/namespaces/${namespace}/${resource}`;

    const storageClass = {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "sc-ref" },
      provisioner: "a.b/c",
    };
    const storage = (resource: string): string =>
      `/apis/storage.k8s.io/v1/${resource}`;
    await createEach(
      server,
      "storageclass",
      storage("storageclasses"),
      storageClass,
      [
        ...names.slice(0, 3),
        ...each("provisioner", [
          undefined,
          "",
          "A/B",
          "a/b/c",
          "a b",
          "kubernetes.io/aws-ebs",
        ]),
        ...each("reclaimPolicy", ["Retain", "Recycle", "", "X"]),
        ...each("volumeBindingMode", ["WaitForFirstConsumer", "X", ""]),
        ...each("parameters", [
          { "": "x" },
          { a: "b" },
          { a: "x".repeat(300000) },
          {},
          { a: 1 },
        ]),
        ...each("allowVolumeExpansion", [true, "x"]),
        { mountOptions: ["a", ""] },
        ...each("allowedTopologies", [
          [{}],
          [{ matchLabelExpressions: [] }],
          [{ matchLabelExpressions: [{ key: "a", values: ["b"] }] }],
          [{ matchLabelExpressions: [{ key: "a b", values: [] }] }],
          [
            {
              matchLabelExpressions: [
                { key: "a", values: ["b", "b"] },
                { key: "a", values: ["c"] },
              ],
            },
          ],
          [
            { matchLabelExpressions: [{ key: "a", values: ["b"] }] },
            { matchLabelExpressions: [{ key: "a", values: ["b"] }] },
          ],
        ]),
        {
          provisioner: "",
          reclaimPolicy: "X",
          volumeBindingMode: "Y",
          parameters: { "": "" },
          allowedTopologies: [{}],
        },
      ],
    );
    await updateEach(
      server,
      "storageclass",
      storage("storageclasses"),
      { ...storageClass, parameters: { a: "b" } },
      [
        {},
        { provisioner: "d.e/f" },
        { reclaimPolicy: "Retain" },
        { volumeBindingMode: "WaitForFirstConsumer" },
        { parameters: { a: "c" } },
        { parameters: undefined },
        { allowVolumeExpansion: true },
        { mountOptions: ["x"] },
        {
          allowedTopologies: [
            { matchLabelExpressions: [{ key: "a", values: ["b"] }] },
          ],
        },
        {
          "metadata.annotations": {
            "storageclass.kubernetes.io/is-default-class": "true",
          },
        },
        {
          provisioner: "d.e/f",
          reclaimPolicy: "X",
          parameters: { c: "d" },
          volumeBindingMode: "Z",
        },
      ],
    );

    const driver = {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: "driver-ref" },
      spec: {},
    };
    await createEach(server, "csidriver", storage("csidrivers"), driver, [
      ...names,
      { spec: undefined },
      ...each("spec.volumeLifecycleModes", [
        [],
        ["Ephemeral"],
        ["X", "Persistent"],
        ["Persistent", "Persistent"],
      ]),
      ...each("spec.fsGroupPolicy", ["File", "X", ""]),
      ...each("spec.tokenRequests", [
        [{ audience: "a" }],
        [{ audience: "a" }, { audience: "a" }],
        [{ audience: "a", expirationSeconds: 1 }],
        [{ audience: "", expirationSeconds: 5000000000 }],
      ]),
      { "spec.attachRequired": false },
      { "spec.seLinuxMount": true },
      { "spec.requiresRepublish": "x" },
      { "spec.podInfoOnMount": true, "spec.storageCapacity": true },
    ]);
    await updateEach(server, "csidriver", storage("csidrivers"), driver, [
      {},
      { "spec.attachRequired": false },
      { "spec.fsGroupPolicy": "File" },
      { "spec.volumeLifecycleModes": ["Ephemeral"] },
      { "spec.storageCapacity": true },
      { "spec.tokenRequests": [{ audience: "a" }] },
      { "spec.requiresRepublish": true },
      { "spec.podInfoOnMount": true },
      { "spec.seLinuxMount": true },
      { "metadata.resourceVersion": undefined },
    ]);

    const csiNode = {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSINode",
      metadata: { name: "csinode-ref" },
      spec: { drivers: [{ name: "a.b", nodeID: "n" }] },
    };
    await createEach(server, "csinode", storage("csinodes"), csiNode, [
      ...names.slice(0, 2),
      { spec: undefined },
      { spec: {} },

      ...each("spec.drivers", [
        [{ name: "", nodeID: "" }],
        [{ name: "a.b", nodeID: "n", topologyKeys: ["a", "b c", ""] }],
        [{ name: "a.b", nodeID: "n", topologyKeys: ["a", "a"] }],
        [{ name: "a.b", nodeID: "n", allocatable: { count: -1 } }],
        [{ name: "a.b", nodeID: "n", allocatable: {} }],
        [{ name: "a.b", nodeID: "x".repeat(300) }],
        [
          { name: "a.b", nodeID: "n" },
          { name: "a.b", nodeID: "m" },
        ],
        [{ name: "A_/", nodeID: "n" }],
        [{ name: "a".repeat(64), nodeID: "n" }],
      ]),
    ]);
    await updateEach(server, "csinode", storage("csinodes"), csiNode, [
      {},

      { "spec.drivers": [{ name: "a.b", nodeID: "m" }] },
      {
        "spec.drivers": [
          { name: "a.b", nodeID: "n" },
          { name: "c.d", nodeID: "m" },
        ],
      },
    ]);

    const attachment = {
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name: "va-ref" },
      spec: {
        attacher: "a.b",
        nodeName: "n",
        source: { persistentVolumeName: "pv" },
      },
    };
    const attachments = storage("volumeattachments");
    await createEach(server, "volumeattachment", attachments, attachment, [
      ...names.slice(0, 2),
      { spec: undefined },
      ...each("spec.attacher", ["", "A_", "a/b"]),
      ...each("spec.nodeName", ["", "A_"]),
      ...each("spec.source", [
        undefined,
        {},
        { persistentVolumeName: "" },
        { persistentVolumeName: "A_" },
        {
          inlineVolumeSpec: {
            capacity: { storage: "1Gi" },
            accessModes: ["ReadWriteOnce"],
            csi: { driver: "d", volumeHandle: "h" },
          },
        },
        {
          persistentVolumeName: "a",
          inlineVolumeSpec: {
            accessModes: ["ReadWriteOnce"],
            csi: { driver: "d", volumeHandle: "h" },
          },
        },
      ]),
      { status: { attached: true } },
      { spec: { attacher: "", nodeName: "", source: {} } },
    ]);
    await updateEach(server, "volumeattachment", attachments, attachment, [
      {},
      { "spec.nodeName": "m" },
      { "status.attached": true },
      { "metadata.labels": { a: "b" } },
    ]);
    await updateEach(
      server,
      "volumeattachment",
      attachments,
      attachment,
      [
        { "status.attached": true },
        { "status.attached": true, "spec.nodeName": "m" },
        { "status.attachError": { message: "x" } },
        { "status.attachmentMetadata": { a: "x".repeat(300) } },
        { "status.detachError": { message: "x".repeat(1025) } },
      ],
      "status",
    );

    const capacity = {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIStorageCapacity",
      metadata: { name: "cap" },
      storageClassName: "sc",
    };
    const capacities = within("storage.k8s.io/v1", "csistoragecapacities");
    await createEach(server, "csistoragecapacity", capacities, capacity, [
      ...names.slice(0, 2),
      ...each("storageClassName", ["", "A_", undefined]),
      ...each("capacity", ["1Gi", "-1", "x"]),
      { maximumVolumeSize: "-1" },
      { nodeTopology: { matchLabels: { "a b": "c" } } },
    ]);
    await updateEach(server, "csistoragecapacity", capacities, capacity, [
      {},
      { storageClassName: "other" },
      { capacity: "2Gi" },
      { nodeTopology: { matchLabels: { a: "c" } } },
      { "metadata.resourceVersion": undefined },
    ]);
    for (const [version, resource] of [
      ["v1beta1", "volumeattributesclasses"],
      ["v1alpha1", "volumeattributesclasses"],
      ["v1beta1", "csistoragecapacities"],
      ["v1", "volumeattributesclasses"],
    ])
      await call(
        `storage ${version} ${resource}`,
        "GET",
        `/apis/storage.k8s.io/${version}/${resource}`,
        plain,
      );
  },
};
