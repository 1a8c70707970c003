// One node through the lives of several agents: pods come and go, containers end by themselves, calls of the runtime fail
// or are not answered, and each agent is killed at a random call or crash point. Every container of a pod runs once at a
// time, is not ended by an agent that finds it running, and is started as often as its restart policy says; in the end
// every wanted pod is what it should be, and nothing is left of the others.
import type { Container, Pod, PodStatus } from "../../../api/types/core-v1.ts";
import { PodWorkers } from "../../../agent/pods/worker/pod-workers.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { ignoreCrashPoints, watchCrashPoints } from "../crash-points.ts";
import { turns, type Fate } from "../mount.ts";
import { Random } from "../random.ts";
import { Faults, type RoundResult } from "../round.ts";
import { fakeContext } from "./fake-context.ts";
import { actionsOf, fakeRuntime, FakeNode } from "./fake-node.ts";

export const podCrashPoints = [
  "podworker.sandbox.made",
  "podworker.container.created",
  "podworker.container.started",
  "podworker.end.ended",
  "podworker.end.removed",
  "podworker.end.reported",
  "podworker.gone.removed",
];

export async function podRound(
  seed: number,
  directory: string,
): Promise<RoundResult> {
  const round = new PodRound(seed, directory);
  try {
    await round.run();
  } catch (error) {
    round.breaks(
      `the round failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    ignoreCrashPoints();
  }
  return { faults: round.faults.counts, broken: round.broken };
}

class PodRound {
  readonly faults = new Faults();
  readonly broken: string[] = [];
  readonly #random: Random;
  readonly #directory: string;
  readonly #node: FakeNode;
  /** What the API server has. */
  readonly #pods = new Map<string, Pod>();
  readonly #statuses = new Map<string, PodStatus>();
  #clock = new FakeClock(Date.UTC(2025, 0, 1));
  /** Restart policy of every pod there ever was. */
  readonly #policies = new Map<string, string>();
  #names = 0;

  constructor(seed: number, directory: string) {
    this.#random = new Random(seed);
    this.#directory = directory;
    this.#node = new FakeNode(
      () => this.#clock.now(),
      (what) => this.breaks(what),
    );
  }

  breaks(what: string): void {
    if (this.broken.length < 20) this.broken.push(what);
  }

  async run(): Promise<void> {
    const lives = 2 + this.#random.integer(4);
    for (let life = 0; life < lives && this.broken.length === 0; life++)
      await this.#live(false);
    await this.#live(true);
    this.#checkStarts();
  }

  async #live(last: boolean): Promise<void> {
    const random = this.#random.fork();
    const clock = new FakeClock(this.#clock.now());
    this.#clock = clock;
    const atPoint = !last && random.chance(0.5);
    const endsAt = last || atPoint ? Infinity : random.integer(120);
    const failing = new Set<number>();
    if (!last && random.chance(0.4))
      for (let index = 0; index < 3; index++) failing.add(random.integer(80));
    let calls = 0;
    let isEnded = false;
    const ended = (): boolean => isEnded;
    const end = (): void => {
      isEnded = true;
    };
    const fate = (call: string): Fate => {
      const index = calls++;
      if (index >= endsAt)
        return { kind: "ends", effect: random.pick(["none", "whole"]) };
      if (!failing.has(index)) return { kind: "works" };
      this.faults.add(`${call} is not answered`);
      return { kind: "fails", code: "unavailable" };
    };
    watchCrashPoints(
      atPoint
        ? { name: random.pick(podCrashPoints), visit: 1 + random.integer(3) }
        : undefined,
      ended,
      end,
    );
    const act = actionsOf({ random: random.fork(), fate, ended, end });
    const runtime = fakeRuntime(this.#node, act, ended);
    const context = fakeContext({
      ...{ runtime, clock, ended },
      directory: this.#directory,
      statuses: this.#statuses,
      onChange: (uid) => workers.wake(uid),
      onFinished: (pod) => this.#delete(pod, workers),
    });
    const workers = new PodWorkers(context);
    const started = this.#start(context, workers, ended);
    for (let step = 0; step < 60 && !isEnded && !last; step++) {
      this.#step(random, workers);
      await turns(random.integer(10));
      await this.#advance(clock, random.integer(3000));
    }
    if (last) await this.#settle(clock, workers);
    else {
      this.faults.add(
        isEnded
          ? atPoint
            ? "kill at a crash point"
            : "kill at a call"
          : "stop of the agent",
      );
      // It may still be killed while it stops.
      let stopped = false;
      void workers.stop().then(() => (stopped = true));
      while (!stopped && !isEnded) await turns(1);
    }
    end();
    await Promise.race([started, turns(3)]);
    ignoreCrashPoints();
  }

  /** As the agent does: the runtime is read once, then the pods are taken up, then what nobody wants is ended. */
  async #start(
    context: ReturnType<typeof fakeContext>,
    workers: PodWorkers,
    ended: () => boolean,
  ): Promise<void> {
    for (;;) {
      try {
        await context.runtimePods.start();
        break;
      } catch {
        await turns(5);
      }
    }
    if (ended()) return;
    workers.open();
    for (const pod of this.#pods.values()) workers.set(pod);
    workers.endOrphans(() => true);
    this.#started.add(workers);
  }

  readonly #started = new WeakSet<PodWorkers>();

  #step(random: Random, workers: PodWorkers): void {
    const what = random.next();
    if (what < 0.12 && this.#pods.size < 4) {
      const pod = this.#newPod(random);
      this.#pods.set(pod.metadata.uid!, pod);
      this.#node.wanted.add(pod.metadata.uid!);
      if (this.#started.has(workers)) workers.set(pod);
    } else if (what < 0.2 && this.#pods.size > 0) {
      const pod = random.pick([...this.#pods.values()]);
      this.#node.wanted.delete(pod.metadata.uid!);
      const deleted: Pod = {
        ...pod,
        metadata: {
          ...pod.metadata,
          deletionTimestamp: new Date(this.#clock.now()).toISOString(),
        },
      };
      this.#pods.set(pod.metadata.uid!, deleted);
      if (this.#started.has(workers)) workers.set(deleted);
    } else if (what < 0.45) {
      const running = this.#node.running();
      if (running.length === 0) return;
      const container = random.pick(running);
      const forEver = container.name === "app" && random.chance(0.6);
      if (!forEver) this.#node.exit(container.id, random.chance(0.6) ? 0 : 1);
    }
  }

  /** The API server removes the object, and the agent's source tells it. */
  #delete(pod: Pod, workers: PodWorkers): void {
    const uid = pod.metadata.uid!;
    this.#pods.delete(uid);
    this.#statuses.delete(uid);
    setImmediate(() => workers.remove(uid, pod));
  }

  #newPod(random: Random): Pod {
    const number = ++this.#names;
    const restartPolicy = random.pick(["Always", "OnFailure", "Never"]);
    this.#policies.set(`uid-${number}`, restartPolicy);
    const container = (name: string): Container => ({ name, image: "busybox" });
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `p${number}`, namespace: "ns", uid: `uid-${number}` },
      spec: {
        restartPolicy,
        containers: [
          container("app"),
          ...(random.chance(0.4) ? [container("other")] : []),
        ],
        ...(random.chance(0.3) ? { initContainers: [container("init")] } : {}),
        terminationGracePeriodSeconds: 1,
      },
    };
  }

  async #advance(clock: FakeClock, ms: number): Promise<void> {
    const endMs = clock.now() + ms;
    for (;;) {
      const nextMs = clock.nextDelayMs;
      if (nextMs === undefined || clock.now() + nextMs > endMs) break;
      clock.advance(nextMs);
      await turns(4);
    }
    clock.advance(Math.max(0, endMs - clock.now()));
  }

  /** Nothing fails any more: what is wanted runs or has ended as it should, and nothing else is there. */
  async #settle(clock: FakeClock, workers: PodWorkers): Promise<void> {
    let problem: string | undefined = "not looked at";
    // Starting a container also removes a file, which takes its own time.
    const untilMs = performance.now() + 20_000;
    for (
      let round = 0;
      problem !== undefined && (round < 400 || performance.now() < untilMs);
      round++
    ) {
      for (const container of this.#node.running())
        if (container.name === "init") this.#node.exit(container.id, 0);
      await turns(20);
      await this.#advance(clock, 5_000);
      if (round % 10 === 9) workers.wakeAll();
      problem = this.#problem();
    }
    if (problem) this.breaks(`in the end ${problem}`);
  }

  #problem(): string | undefined {
    const known = new Set<string>();
    for (const [uid, pod] of this.#pods) {
      known.add(uid);
      if (pod.metadata.deletionTimestamp) return `${uid} is still there`;
      const policy = pod.spec.restartPolicy;
      for (const { name } of pod.spec.containers) {
        const runs = this.#node.runsOf(`${uid}/${name}`);
        const done =
          policy === "Never"
            ? runs.succeeded + runs.failed > 0
            : policy === "OnFailure" && runs.succeeded > 0;
        const running = this.#node
          .running()
          .some(
            (container) =>
              container.name === name &&
              this.#node.ofPod(uid).includes(container),
          );
        if (!done && !running && !initFailed(pod, this.#node))
          return `${uid}/${name} (${policy}) does not run: ${JSON.stringify(runs)}, ${JSON.stringify(this.#statuses.get(uid)?.containerStatuses?.map(({ state }) => state))}, ${JSON.stringify(this.#node.ofPod(uid).map(({ id, state, exitCode }) => [id, state, exitCode]))}`;
      }
    }
    for (const { id, metadata } of this.#node.sandboxes.values())
      if (!known.has(metadata.uid)) return `${id} of ${metadata.uid} is left`;
    return undefined;
  }

  #checkStarts(): void {
    for (const [key, { started, succeeded, failed }] of this.#node.runs) {
      const [uid, name] = key.split("/") as [string, string];
      const policy =
        name === "init"
          ? this.#policies.get(uid) === "Never"
            ? "Never"
            : "OnFailure"
          : this.#policies.get(uid);
      const most =
        policy === "Never"
          ? 1
          : policy === "OnFailure"
            ? failed + 1
            : failed + succeeded + 1;
      if (started > most)
        this.breaks(
          `${key} (${policy}) was started ${started} times: ${succeeded} ended well, ${failed} failed`,
        );
    }
  }
}

/** With the policy Never a failed init container ends the pod. */
function initFailed(pod: Pod, node: FakeNode): boolean {
  return (
    pod.spec.restartPolicy === "Never" &&
    node.runsOf(`${pod.metadata.uid}/init`).failed > 0
  );
}
