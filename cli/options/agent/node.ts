// Options of the agent about the node it registers, and about its own process.
import { group, option } from "../build-table.ts";
import {
  areAddresses,
  areNodeLabels,
  isDomain,
  isNodeAddress,
  isNodeName,
} from "../values/checks.ts";
import type { OptionTable } from "../table.ts";

export const agentNodeOptions: OptionTable = [
  group(
    "Node",
    option(
      "config",
      "string",
      "",
      "KubeletConfiguration file (kubelet.config.k8s.io/v1beta1).",
    ),
    option(
      "config-dir",
      "string",
      "",
      "Directory of *.conf files, each a KubeletConfiguration merged over --config and the ones before it.",
    ),
    option(
      "hostname-override",
      "string",
      "",
      "Name of the node; the host's name when unset.",
      { check: isNodeName },
    ),
    option(
      "node-ip",
      "string",
      "",
      "Address of the node (or one of each family, comma-separated); with 0.0.0.0 or :: one of that family is found, if there is one.",
      { check: isNodeAddress },
    ),
    option("node-labels", "map", "", "Labels the node registers with.", {
      check: areNodeLabels,
    }),
    option("register-node", "bool", "true", "Register with the API server.", {
      file: "registerNode",
    }),
    option("register-schedulable", "bool", "true", "Register as schedulable."),
    option(
      "register-with-taints",
      "strings",
      "",
      "Taints key=value:effect the node registers with.",
      { file: "registerWithTaints" },
    ),
    option("provider-id", "string", "", "Identity given by the provider.", {
      file: "providerID",
    }),
    option(
      "cloud-provider",
      "string",
      "",
      "external: a cloud's controller initialises the node and gives it its addresses; others are not built in, as in the reference.",
      {
        check: (provider) =>
          provider === "" || provider === "external"
            ? undefined
            : "must be external or empty: cloud providers are not built in",
      },
    ),
    option(
      "node-status-update-frequency",
      "duration",
      "10s",
      "Between reports of the node's status.",
      { min: 1, file: "nodeStatusUpdateFrequency" },
    ),
    option(
      "node-status-max-images",
      "int",
      "50",
      "Images in the node's status; -1: all.",
      { min: -1, file: "nodeStatusMaxImages" },
    ),
    option(
      "node-lease-duration-seconds",
      "int",
      "40",
      "Validity of the node's lease.",
      { min: 1, file: "nodeLeaseDurationSeconds" },
    ),
    option(
      "root-dir",
      "string",
      "/var/lib/orbitlet",
      "Directory of pods' volumes and the agent's state.",
    ),
    option(
      "resolv-conf",
      "string",
      "/etc/resolv.conf",
      "Resolver configuration pods start from.",
      { file: "resolvConf" },
    ),
    option("cluster-dns", "strings", "", "Addresses of DNS servers for pods.", {
      check: areAddresses,
      file: "clusterDNS",
    }),
    option("cluster-domain", "string", "", "Domain of the cluster.", {
      check: isDomain,
      file: "clusterDomain",
    }),
    option("max-pods", "int", "110", "Pods that may run.", {
      min: 0,
      file: "maxPods",
    }),
    option("pods-per-core", "int", "0", "Pods a core; 0: no limit.", {
      min: 0,
      file: "podsPerCore",
    }),
    option("pod-max-pids", "int", "-1", "Processes a pod; -1: no limit.", {
      min: -1,
      file: "podPidsLimit",
    }),
    option("max-open-files", "int", "1000000", "Open files of the agent.", {
      min: 0,
      file: "maxOpenFiles",
    }),
    option(
      "oom-score-adj",
      "int",
      "-999",
      "oom_score_adj of the agent; of `orbit server` when given.",
      {
        min: -1000,
        max: 1000,
        file: "oomScoreAdj",
      },
    ),
  ),
];
