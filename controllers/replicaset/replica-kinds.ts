// ReplicaSet and ReplicationController as the replica engine sees them.
import { selectorFromMap, selectorFromObject } from "../../api/selectors.ts";
import { replicaSets, replicationControllers } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { createReplicaController } from "./replica-controller.ts";

export function createReplicaSetController(
  context: ControllerContext,
): Controller {
  return createReplicaController(
    {
      name: "replicaset-controller",
      component: "replicaset-controller",
      ref: replicaSets,
      concurrency: context.options.concurrentReplicasetSyncs,
      selector: (owner) => selectorFromObject(owner.spec.selector),
      spec: ({ spec }) => ({
        replicas: spec.replicas ?? 1,
        minReadySeconds: spec.minReadySeconds ?? 0,
        template: spec.template,
      }),
      status: (owner) => owner.status,
      withStatus: (owner, status) => ({ ...owner, status }),
    },
    context,
  );
}

export function createReplicationControllerController(
  context: ControllerContext,
): Controller {
  return createReplicaController(
    {
      name: "replicationcontroller-controller",
      component: "replication-controller",
      ref: replicationControllers,
      concurrency: context.options.concurrentRcSyncs,
      // An empty selector matches nothing here, as it was never defaulted from the template.
      selector: (owner) =>
        Object.keys(owner.spec.selector ?? {}).length > 0
          ? selectorFromMap(owner.spec.selector)
          : selectorFromObject(undefined),
      spec: ({ spec }) => ({
        replicas: spec.replicas ?? 1,
        minReadySeconds: spec.minReadySeconds ?? 0,
        template: spec.template,
      }),
      status: (owner) => owner.status,
      withStatus: (owner, status) => ({ ...owner, status }),
    },
    context,
  );
}
