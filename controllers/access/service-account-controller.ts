// Every active namespace has the service account "default".
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import { namespaces, serviceAccounts } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";

export function createServiceAccountController(
  context: ControllerContext,
): Controller {
  const { client } = context;
  const namespaceInformer = client.informer(namespaces);
  const accountInformer = client.informer(serviceAccounts);
  const reconciler = new Reconciler({
    name: "serviceaccount-controller",
    context,
    reconcile: async (name) => {
      const namespace = namespaceInformer.lister.get(name);
      if (!namespace || namespace.status?.phase === "Terminating") return;
      if (namespace.metadata.deletionTimestamp) return;
      if (accountInformer.lister.get("default", name)) return;
      try {
        await client.resource(serviceAccounts).create({
          apiVersion: "v1",
          kind: "ServiceAccount",
          metadata: { name: "default", namespace: name },
        });
      } catch (error) {
        // Made by another, or the namespace is going: both fine.
        if (
          !isAlreadyExists(error) &&
          !isNotFound(error) &&
          !isNamespaceTerminating(error)
        )
          throw error;
      }
    },
  });
  return reconciler
    .watch(namespaceInformer, {
      onAdd: (namespace) => reconciler.queue.add(namespace.metadata.name),
      onUpdate: (_, namespace) => reconciler.queue.add(namespace.metadata.name),
    })
    .watch(accountInformer, {
      onDelete: ({ metadata }) => reconciler.queue.add(metadata.namespace!),
    });
}
