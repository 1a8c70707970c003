// The options every bench shares: where the server is, how to prove who we are, whose CPU is counted.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { load } from "js-yaml";
import type { Target } from "./connection.ts";

export interface BenchOptions {
  target: Target;
  pids: number[];
  seconds: number;
  only: RegExp;
  image: string;
  jsonFile: string | undefined;
  /** A JSON file an earlier run on a peer wrote: ratios are printed against it. */
  peerFile: string | undefined;
  startedAtMs: number | undefined;
  /** Of the node bench: what is run for a pod, instead of times. */
  processes: boolean;
  /** Of the node bench: starts the server again, for the time until its pods are adopted. */
  restartCommand: string | undefined;
  /** How many those are. */
  pods: number;
}

const read = (file: string | undefined): Buffer | undefined =>
  file === undefined ? undefined : readFileSync(file);

interface Kubeconfig {
  clusters: {
    cluster: { server: string; "certificate-authority-data"?: string };
  }[];
  users: {
    user: {
      "client-certificate-data"?: string;
      "client-key-data"?: string;
      token?: string;
    };
  }[];
}

export function targetFromKubeconfig(file: string): Target {
  const config = load(readFileSync(file, "utf8")) as Kubeconfig;
  const { cluster } = config.clusters[0]!;
  const { user } = config.users[0]!;
  const decode = (data: string | undefined): Buffer | undefined =>
    data ? Buffer.from(data, "base64") : undefined;
  return {
    url: new URL(cluster.server),
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
    token: user.token,
    insecure: false,
  };
}

/** Reads the command line: `--kubeconfig F` or `--server URL` with `--ca --cert --key --token --insecure`. */
export function benchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      kubeconfig: { type: "string" },
      server: { type: "string" },
      ca: { type: "string" },
      cert: { type: "string" },
      key: { type: "string" },
      token: { type: "string" },
      insecure: { type: "boolean", default: false },
      pids: { type: "string", default: "" },
      seconds: { type: "string", default: "5" },
      only: { type: "string", default: "." },
      image: { type: "string", default: "docker.io/library/busybox:latest" },
      json: { type: "string" },
      peer: { type: "string" },
      "started-at": { type: "string" },
      processes: { type: "boolean", default: false },
      restart: { type: "string" },
      pods: { type: "string", default: "110" },
    },
  });
  const target = values.kubeconfig
    ? targetFromKubeconfig(values.kubeconfig)
    : {
        url: new URL(values.server ?? "https://127.0.0.1:6443"),
        ca: read(values.ca),
        cert: read(values.cert),
        key: read(values.key),
        token: values.token,
        insecure: values.insecure,
      };
  return {
    target,
    pids: values.pids.split(",").filter(Boolean).map(Number),
    seconds: Number(values.seconds),
    only: new RegExp(values.only),
    image: values.image,
    jsonFile: values.json,
    peerFile: values.peer,
    startedAtMs: values["started-at"]
      ? Number(values["started-at"])
      : undefined,
    processes: values.processes,
    restartCommand: values.restart,
    pods: Number(values.pods),
  };
}
