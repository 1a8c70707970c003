// The class of local directories, which `orbit server` has from the beginning: StorageClass local-path, the default one
// unless another is, and the right of nodes to learn whether a volume by a name they know is gone, by which they remove
// its directory. What is there already is left as it is.
import { isAlreadyExists } from "../../api/errors.ts";
import { localPathProvisioner } from "../../api/objects/volumes/local-path.ts";
import { defaultClass } from "../../api/objects/volumes/volume-match.ts";
import type { Client } from "../../client/client.ts";
import {
  clusterRoleBindings,
  clusterRoles,
  storageClasses,
} from "../../client/resources.ts";

const className = "local-path";
const roleName = "orbit:local-path-nodes";

export async function ensureLocalPathClass(client: Client): Promise<void> {
  const { items } = await client.resource(storageClasses).list();
  const isDefault = defaultClass(items) === undefined;
  if (!items.some(({ metadata }) => metadata.name === className))
    await unlessThere(
      client.resource(storageClasses).create({
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: {
          name: className,
          ...(isDefault
            ? {
                annotations: {
                  "storageclass.kubernetes.io/is-default-class": "true",
                },
              }
            : {}),
        },
        provisioner: localPathProvisioner,
        reclaimPolicy: "Delete",
        volumeBindingMode: "WaitForFirstConsumer",
      }),
    );
  await unlessThere(
    client.resource(clusterRoles).create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: roleName },
      rules: [
        { apiGroups: [""], resources: ["persistentvolumes"], verbs: ["get"] },
      ],
    }),
  );
  await unlessThere(
    client.resource(clusterRoleBindings).create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: roleName },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: roleName,
      },
      subjects: [
        {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "Group",
          name: "system:nodes",
        },
      ],
    }),
  );
}

async function unlessThere(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
