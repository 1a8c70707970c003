// What the reference's own code (1.32) decided for random pods and states of their containers, recorded for what a pod
// needs next. `i0+?` is a sidecar with a startup probe; containers are NAME-SANDBOX-ATTEMPT, the newest first, with their
// states; "end" is all that runs. A container that is ended first starts in the next pass here, in the same one there.
import * as fs from "node:fs";
import * as path from "node:path";
import { BackOff } from "../../../agent/pacing/back-off.ts";
import { computePodActions } from "../../../agent/pods/worker/pod-actions.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { ContainerStatus, SandboxStatus } from "../../../cri/runtime.ts";
import {
  containerOf,
  exited,
  runtimePodOf,
  sandboxOf,
  testPod,
} from "./runtime-objects.ts";

interface Decision {
  policy: string;
  inits: string;
  apps: string;
  eph: string;
  sandboxes: string;
  containers: string;
  decided: string;
}

const decisions = JSON.parse(
  fs.readFileSync(path.join(__dirname, "fixtures/pod-decisions.json"), "utf8"),
) as Decision[];

const listOf = (text: string, separator: string): string[] =>
  text === "" ? [] : text.split(separator);

function containersOf(text: string): Container[] {
  return listOf(text, " ").map((word) => ({
    name: word.replace(/[+?]/g, ""),
    image: "i",
    ...(word.includes("+") ? { restartPolicy: "Always" } : {}),
    ...(word.includes("?")
      ? { startupProbe: { exec: { command: ["x"] } } }
      : {}),
  }));
}

function podOf({ policy, inits, apps, eph }: Decision): Pod {
  return testPod({
    restartPolicy: policy,
    initContainers: containersOf(inits),
    containers: containersOf(apps),
    ephemeralContainers: containersOf(eph),
  });
}

function sandboxes(pod: Pod, text: string): SandboxStatus[] {
  return listOf(text, ", ").map((each) => {
    const [id = "", gone] = each.split(" ");
    return sandboxOf(pod, { id, ready: gone === undefined });
  });
}

function statusOf(pod: Pod, text: string): ContainerStatus {
  const [id = "", state = "", ...rest] = text.split(" ");
  const [name = "", sandbox, attempt] = id.split("-");
  const made = containerOf(pod, name, {
    id,
    sandboxId: `s${sandbox}`,
    restartCount: Number(attempt),
    ...(state === "exited" ? exited(Number(rest[0])) : {}),
  });
  if (!rest.includes("changed")) return made;
  const { annotations } = containerOf(testPod(), name);
  return {
    ...made,
    annotations: { ...annotations, "io.kubernetes.container.hash": "old" },
  };
}

function decided(given: Decision): string {
  const pod = podOf(given);
  const states = listOf(given.containers, ", ");
  const said = (id: string, word: string): boolean =>
    states.some((text) => text.startsWith(`${id} `) && text.includes(word));
  const actions = computePodActions({
    pod,
    runtimePod: runtimePodOf(
      sandboxes(pod, given.sandboxes),
      states.map((text) => statusOf(pod, text)),
    ),
    probes: {
      liveness: (id) => (said(id, "unlive") ? "failure" : undefined),
      startup: (id) =>
        said(id, " unstarted")
          ? "failure"
          : said(id, " started")
            ? "success"
            : undefined,
    },
    backOff: new BackOff(),
    nowMs: 1e9,
    toRestart: new Set(),
    resizeRestarts: () => false,
  });
  const { killPod, createSandbox } = actions;
  const order = [
    ...containersOf(given.eph),
    ...containersOf(given.inits),
    ...containersOf(given.apps),
  ].map(({ name }) => name);
  const started = actions.containersToStart
    .filter(({ kind }) => !createSandbox || kind !== "ephemeral")
    .map(({ container }) => container.name)
    .sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return [
    ...(killPod ? ["end"] : []),
    ...(createSandbox ? ["sandbox"] : []),
    ...actions.containersToKill.map(({ status }) => `kill ${status.id}`).sort(),
    ...started.map((name) => `start ${name}`),
  ].join(", ");
}

test.each(decisions)(
  "$policy, $inits | $apps | $eph: $sandboxes: $containers: $decided",
  (given) => {
    expect(decided(given)).toBe(given.decided);
  },
);
