// The parameters that operations take, by what they do.

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: "string" | "integer" | "boolean";
}

export const query = (
  name: string,
  type: Parameter["type"] = "string",
): Parameter => ({ name, in: "query", type });
export const inPath = (name: string): Parameter => ({
  name,
  in: "path",
  type: "string",
});

export const PRETTY = query("pretty");
export const LIST = [
  query("allowWatchBookmarks", "boolean"),
  query("continue"),
  query("fieldSelector"),
  query("labelSelector"),
  query("limit", "integer"),
  query("resourceVersion"),
  query("resourceVersionMatch"),
  query("sendInitialEvents", "boolean"),
  query("timeoutSeconds", "integer"),
  query("watch", "boolean"),
];
export const WRITE = [
  query("dryRun"),
  query("fieldManager"),
  query("fieldValidation"),
];
export const DELETE = [
  query("dryRun"),
  query("gracePeriodSeconds", "integer"),
  query("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
  query("orphanDependents", "boolean"),
  query("propagationPolicy"),
];
export const COLLECTION = [
  query("continue"),
  query("fieldSelector"),
  query("labelSelector"),
  query("limit", "integer"),
  query("resourceVersion"),
  query("resourceVersionMatch"),
  query("sendInitialEvents", "boolean"),
  query("timeoutSeconds", "integer"),
];
export const CONNECT: Readonly<Record<string, readonly Parameter[]>> = {
  PodAttachOptions: [
    query("container"),
    query("stderr", "boolean"),
    query("stdin", "boolean"),
    query("stdout", "boolean"),
    query("tty", "boolean"),
  ],
  PodExecOptions: [
    query("command"),
    query("container"),
    query("stderr", "boolean"),
    query("stdin", "boolean"),
    query("stdout", "boolean"),
    query("tty", "boolean"),
  ],
  PodPortForwardOptions: [query("ports", "integer")],
  PodProxyOptions: [query("path")],
  ServiceProxyOptions: [query("path")],
  NodeProxyOptions: [query("path")],
};
export const LOG = [
  query("container"),
  query("follow", "boolean"),
  query("insecureSkipTLSVerifyBackend", "boolean"),
  query("limitBytes", "integer"),
  query("previous", "boolean"),
  query("sinceSeconds", "integer"),
  query("stream"),
  query("tailLines", "integer"),
  query("timestamps", "boolean"),
];
