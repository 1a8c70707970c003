// Publishes the CA that signs the API server's certificate as ConfigMap kube-root-ca.crt in every active namespace, and
// repairs it when it is changed or deleted. Pods mount it beside their token.
import { ApiError, isAlreadyExists, isNotFound } from "../../api/errors.ts";
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import { configMaps, namespaces } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { isNamespaceTerminating } from "../workloads/pod-control.ts";
import { Reconciler } from "../reconciler.ts";

const rootCaName = "kube-root-ca.crt";
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
const annotation = "kubernetes.io/description";

/** @param rootCa PEM certificates */
export function createRootCaPublisher(
  context: ControllerContext,
  rootCa: string,
): Controller {
  const { client } = context;
  const namespaceInformer = client.informer(namespaces);
  const mapInformer = client.informer(configMaps, {
    fieldSelector: `metadata.name=${rootCaName}`,
  });
  const reconciler = new Reconciler({
    name: "root-ca-certificate-publisher-controller",
    context,
    reconcile,
  });

  const labels = ["code"];
  const syncs = new Counters({
    name: "root_ca_cert_publisher_sync_total",
    help: "Syncs of namespaces, by the code that the API server answered.",
    labels,
  });
  const durations = new Histograms(
    {
      name: "root_ca_cert_publisher_sync_duration_seconds",
      help: "How long syncs of namespaces took, by the code that the API server answered.",
      labels,
    },
    exponentialBounds(0.001, 2, 15),
  );
  context.metrics?.add("root-ca-publisher", () => [
    syncs.family(),
    durations.family(),
  ]);

  async function reconcile(name: string): Promise<void> {
    const startMs = context.clock.monotonic();
    const ended = (code: number): void => {
      const seconds = (context.clock.monotonic() - startMs) / 1000;
      syncs.count(String(code));
      durations.observe(seconds, String(code));
    };
    try {
      await sync(name);
    } catch (error) {
      ended(error instanceof ApiError ? error.code : 500);
      throw error;
    }
    ended(200);
  }

  async function sync(name: string): Promise<void> {
    const namespace = namespaceInformer.lister.get(name);
    if (!namespace || namespace.metadata.deletionTimestamp) return;
    if (namespace.status?.phase === "Terminating") return;
    const found = mapInformer.lister.get(rootCaName, name);
    const right =
      found?.data?.["ca.crt"] === rootCa &&
      Object.keys(found.data).length === 1 &&
      found.metadata.annotations?.[annotation] !== undefined;
    if (right) return;
    const maps = client.resource(configMaps);
    try {
      if (found)
        await maps.update({
          ...found,
          metadata: {
            ...found.metadata,
            annotations: {
              ...found.metadata.annotations,
              [annotation]: description,
            },
          },
          data: { "ca.crt": rootCa },
        });
      else
        await maps.create({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: {
            name: rootCaName,
            namespace: name,
            annotations: { [annotation]: description },
          },
          data: { "ca.crt": rootCa },
        });
    } catch (error) {
      const fine = isNotFound(error) || isNamespaceTerminating(error);
      if (!fine && !isAlreadyExists(error)) throw error;
    }
  }

  return reconciler
    .watch(namespaceInformer, {
      onAdd: (namespace) => reconciler.queue.add(namespace.metadata.name),
      onUpdate: (_, namespace) => reconciler.queue.add(namespace.metadata.name),
    })
    .watch(mapInformer, {
      onUpdate: (_, map) => reconciler.queue.add(map.metadata.namespace!),
      onDelete: (map) => reconciler.queue.add(map.metadata.namespace!),
    });
}
