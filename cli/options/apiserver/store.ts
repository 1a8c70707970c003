// Options of the API server about where the state is kept.
import { group, option } from "../build-table.ts";
import type { OptionTable } from "../table.ts";

export const storeOptions: OptionTable = [
  group(
    "Store",
    option("etcd-servers", "strings", "", "URLs of etcd."),
    option(
      "etcd-servers-overrides",
      "strings",
      "",
      "group/resource#servers of single resources.",
    ),
    option("etcd-cafile", "string", "", "CA of etcd."),
    option("etcd-certfile", "string", "", "Client certificate for etcd."),
    option("etcd-keyfile", "string", "", "Its key."),
    option("etcd-prefix", "string", "/registry", "Prefix of all keys."),
    option(
      "etcd-compaction-interval",
      "duration",
      "5m0s",
      "Between compactions; 0 disables.",
      { min: 0 },
    ),
    option(
      "etcd-healthcheck-timeout",
      "duration",
      "2s",
      "Timeout of the health check.",
    ),
    option(
      "etcd-readycheck-timeout",
      "duration",
      "2s",
      "Timeout of the readiness check.",
    ),
    option(
      "etcd-count-metric-poll-period",
      "duration",
      "1m0s",
      "Between counts of objects; 0 disables.",
      { min: 0 },
    ),
    option(
      "etcd-db-metric-poll-interval",
      "duration",
      "30s",
      "Between looks at the size; 0 disables.",
      { min: 0 },
    ),
    option(
      "lease-reuse-duration-seconds",
      "int",
      "60",
      "How long a lease is shared.",
      { min: 1 },
    ),
    option(
      "storage-initialization-timeout",
      "duration",
      "1m0s",
      "Longest wait for the store at start.",
    ),
    option("storage-backend", "string", "", "Kind of the store.", {
      values: ["etcd3", "memory", "file"],
    }),
    option(
      "storage-media-type",
      "string",
      "application/vnd.kubernetes.protobuf",
      "Encoding of stored objects.",
      {
        values: [
          "application/vnd.kubernetes.protobuf",
          "application/vnd.orbit.protobuf",
          "application/json",
          "application/yaml",
          "json",
          "yaml",
        ],
      },
    ),
    option(
      "encryption-provider-config",
      "string",
      "",
      "File of the encryption of stored objects.",
    ),
    option(
      "encryption-provider-config-automatic-reload",
      "bool",
      "false",
      "Reload it on change; looked at once a minute.",
    ),
    option(
      "watch-cache",
      "bool",
      "true",
      "Answer reads with resourceVersion 0 from memory as it is; without, they are as new and as limited as those without a version.",
    ),
    option(
      "watch-cache-sizes",
      "strings",
      "",
      "resource[.group]#size; 0: reads of it are as without --watch-cache. Other sizes have no meaning.",
    ),
    option(
      "default-watch-cache-size",
      "int",
      "100",
      "The same for resources --watch-cache-sizes does not name.",
      { min: 0 },
    ),
  ),
];
