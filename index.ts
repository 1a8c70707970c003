// The library: a whole Kubernetes API inside a test or a program, in memory, without root, ready in well under a second.
// Any number of clusters may run in one process.
//
//   const cluster = await startCluster();
//   await cluster.client.resource(configMaps).create({ apiVersion: "v1", kind: "ConfigMap", metadata: { … } });
//   await cluster.stop();
export {
  startCluster,
  type Cluster,
  type ClusterOptions,
} from "./cli/cluster/start-cluster.ts";
export { kubernetesVersion, orbitVersion } from "./cli/version.ts";
export * from "./client/resources.ts";
export type {
  Client,
  ObjectOf,
  ResourceClient,
  ResourceRef,
  ListOptions,
  WatchOptions,
  WriteOptions,
  Patch,
  WatchEvent,
  WatchStream,
} from "./client/client.ts";
export type {
  Informer,
  InformerOptions,
  Lister,
  ResourceHandler,
} from "./client/informer.ts";
export type { KubeList, KubeObject } from "./api/object.ts";
export type { Clock } from "./api/clock.ts";
export {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from "./api/errors.ts";
