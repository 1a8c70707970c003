// One disk and the file store on it through several processes: each serves random clients while calls fail, and ends by a
// stop, a kill or a power loss at a random call or crash point; the next must find what the clients were told. At the end,
// sometimes, bytes of the log are damaged: the store must notice.
import { createFileStore } from "../../storage/file/file-store.ts";
import { StoreError, type Store } from "../../storage/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import {
  ignoreCrashPoints,
  storeCrashPoints,
  watchCrashPoints,
} from "./crash-points.ts";
import { damaged } from "./damage.ts";
import { DiskDirectory, filesBelow } from "./disk.ts";
import { expiringPrefix, Model } from "./model.ts";
import { Mount, turns, type Fate, type MountCall } from "./mount.ts";
import { Random } from "./random.ts";
import { Faults, type RoundResult } from "./round.ts";
import { StoreClients } from "./store-clients.ts";

type Ending =
  "stop" | "kill at a call" | "kill at a crash point" | "power loss";

const works: Fate = { kind: "works" };
const changing = new Set([
  "open",
  "makeDirectory",
  "write",
  "durableWrite",
  "link",
  "rename",
]);

/** What happens to one process's calls. */
class Plan {
  readonly ending: Ending;
  readonly point: { name: string; visit: number } | undefined;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #endsAt: number;
  readonly #failing = new Map<number, string>();
  /** The calls of this name fail from one visit up to another. */
  readonly #target: { name: string; from: number; to: number } | undefined;
  #visits = 0;
  readonly #full: readonly [from: number, to: number];
  #calls = 0;
  /** No more faults: the store must be well again. */
  calm = false;

  constructor(random: Random, faults: Faults) {
    this.#random = random;
    this.#faults = faults;
    this.ending = random.pick([
      "stop",
      "kill at a call",
      "kill at a call",
      "kill at a crash point",
      "kill at a crash point",
      "power loss",
      "power loss",
      "power loss",
    ]);
    this.point =
      this.ending === "kill at a crash point"
        ? {
            name: random.pick(storeCrashPoints),
            visit: 1 + random.integer(random.pick([2, 20])),
          }
        : undefined;
    this.#endsAt =
      this.ending === "kill at a call" || this.ending === "power loss"
        ? random.integer(random.pick([20, 400]))
        : Infinity;
    // Single calls, and a few one after the other: what is tried after a failure fails too.
    if (random.chance(0.5))
      for (let index = 0; index < 1 + random.integer(3); index++) {
        const at = random.integer(random.pick([8, 40, 150]));
        const count = random.chance(0.5) ? 1 : 2 + random.integer(5);
        for (let next = at; next < at + count; next++)
          this.#failing.set(next, "EIO");
      }
    const visit = 1 + random.integer(4);
    this.#target = random.chance(0.25)
      ? {
          name: random.pick(["sync", "sync", "datasync", "rename", "truncate"]),
          from: visit,
          to: visit + random.integer(3),
        }
      : undefined;
    const from = random.chance(0.3) ? random.integer(100) : Infinity;
    this.#full = [from, from + 1 + random.integer(60)];
  }

  #targeted(name: string): string | undefined {
    const target = this.#target;
    if (name !== target?.name) return undefined;
    const visit = ++this.#visits;
    return visit >= target.from && visit <= target.to ? "EIO" : undefined;
  }

  fate(call: MountCall): Fate {
    const index = this.#calls++;
    if (index >= this.#endsAt)
      return {
        kind: "ends",
        effect: this.#random.pick(["none", "part", "whole"]),
      };
    if (this.calm) return works;
    const code = this.#failing.get(index) ?? this.#targeted(call.name);
    if (code) {
      this.#faults.add(`${code} of ${call.name}`);
      return { kind: "fails", code };
    }
    if (
      index >= this.#full[0] &&
      index < this.#full[1] &&
      changing.has(call.name)
    ) {
      this.#faults.add("full disk");
      return { kind: "fails", code: "ENOSPC" };
    }
    return works;
  }
}

/** @param lyingDisk syncs do nothing: the round must notice (a test of the runner itself) */
export async function storeRound(
  seed: number,
  lyingDisk = false,
): Promise<RoundResult> {
  const round = new StoreRound(seed, lyingDisk);
  try {
    await round.run();
  } catch (error) {
    round.model.breaks(
      `the round failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    ignoreCrashPoints();
  }
  return { faults: round.faults.counts, broken: round.model.broken };
}

class StoreRound {
  readonly model = new Model();
  readonly faults = new Faults();
  readonly #random: Random;
  readonly #root = new DiskDirectory();
  readonly #compactAboveBytes: number;
  #nowMs = Date.UTC(2025, 0, 1);
  #resume: number[] = [];
  /** Where the newest frame of the log begins. */
  #lastAppendAt = 0;

  constructor(
    seed: number,
    private readonly lyingDisk: boolean,
  ) {
    this.#random = new Random(seed);
    this.#compactAboveBytes = this.#random.pick([3_000, 12_000, 1_000_000]);
  }

  async run(): Promise<void> {
    const lives = 2 + this.#random.integer(4);
    for (let life = 0; life < lives && !this.#broken; life++)
      await this.#live(new Plan(this.#random.fork(), this.faults));
    if (this.#broken) return;
    await this.#verify();
    if (this.#random.chance(0.4) && !this.#broken) await this.#damage();
  }

  get #broken(): boolean {
    return this.model.broken.length > 0;
  }

  /** Without the lock, which would be held by an ended process: starters-round.ts is about it. */
  #process(
    fate: (call: MountCall) => Fate,
    short = false,
  ): {
    mount: Mount;
    store: Store;
    clock: FakeClock;
  } {
    const clock = new FakeClock(this.#nowMs);
    const mount = new Mount({
      root: this.#root,
      at: "/disk",
      random: this.#random.fork(),
      ...{ fate, short, lies: this.lyingDisk },
    });
    const store = createFileStore({
      directory: "/disk/store",
      fileSystem: mount,
      lock: () => Promise.resolve({ release: () => Promise.resolve() }),
      clock,
      compactAboveBytes: this.#compactAboveBytes,
    });
    return { mount, store, clock };
  }

  async #live(plan: Plan): Promise<void> {
    const { mount, store, clock } = this.#process(
      (call) => plan.fate(call),
      true,
    );
    const ended = (): boolean => mount.ended;
    watchCrashPoints(plan.point, ended, () => mount.kill());
    const opened = await this.#open(store, mount, plan);
    if (opened) {
      const clients = new StoreClients({
        ...{ store, clock, ended },
        model: this.model,
        random: this.#random.fork(),
        resume: this.#resume,
      });
      const steps = 20 + this.#random.integer(150);
      for (let step = 0; step < steps && !ended(); step++) await clients.step();
      await clients.settle();
      if (!ended()) await mount.whileAlive(this.#recovers(store, plan, ended));
      clients.checkWatchers(!ended());
      this.#resume = clients.positions;
      if (!ended() && plan.ending === "stop")
        await mount.whileAlive(
          store.stop().catch((error: unknown) => {
            if (!(error instanceof StoreError) && !isSystemError(error))
              this.model.breaks(`the stop failed: ${String(error)}`);
          }),
        );
    }
    const { ending } = plan;
    if (ending === "stop") this.faults.add("clean stop");
    else if (ending === "kill at a crash point")
      this.faults.add(
        ended() ? `kill at ${plan.point!.name}` : "kill of an idle store",
      );
    else this.faults.add(ended() ? ending : `${ending} of an idle store`);
    mount.kill();
    if (ending === "power loss") this.#root.losePower(this.#random.fork());
    this.#nowMs = clock.now();
    await turns(5);
    ignoreCrashPoints();
  }

  /** Opens under faults; false when the process ended or the store could not be opened. */
  async #open(store: Store, mount: Mount, plan: Plan): Promise<boolean> {
    let failure: unknown;
    let settled = false;
    store.start().then(
      () => (settled = true),
      (error: unknown) => {
        failure = error;
        settled = true;
      },
    );
    const untilMs = performance.now() + 20_000;
    while (!settled && !mount.ended) {
      await turns(1);
      if (performance.now() > untilMs) {
        this.model.breaks("the store never opens");
        return false;
      }
    }
    if (mount.ended) return false;
    if (failure) {
      if (!(failure instanceof StoreError) || failure.code === "corrupt")
        this.model.breaks(`the store does not open: ${String(failure)}`);
      plan.calm = true;
      return false;
    }
    const listed = await mount.whileAlive(store.list(""));
    if (!listed) return false;
    this.model.reopened(listed.revision, listed.values);
    return true;
  }

  /** When nothing fails any more the store writes again, and says that it is healthy. */
  async #recovers(
    store: Store,
    plan: Plan,
    ended: () => boolean,
  ): Promise<void> {
    plan.calm = true;
    const probe = async (): Promise<boolean> => {
      const key = `${expiringPrefix}probe`;
      let attempt: ReturnType<Model["began"]> | undefined;
      try {
        const result = await store.write({
          key,
          expectedRevision: undefined,
          encode: (revision) => {
            attempt = this.model.began(key, "probe", revision);
            return Buffer.from("probe");
          },
        });
        if (result.ok && attempt) this.model.answered(attempt, result);
        return true;
      } catch {
        if (attempt) this.model.rejected(attempt);
        return false;
      }
    };
    for (let tries = 0; tries < 3; tries++)
      if (await probe()) return store.healthy();
    if (!ended())
      this.model.breaks("the store rejects every write though nothing fails");
  }

  /** Opens without faults and compares. */
  async #verify(): Promise<void> {
    const { store, mount } = this.#process((call) => {
      if (call.name === "durableWrite") this.#lastAppendAt = call.position!;
      return works;
    });
    await store.start();
    const { revision, values } = await store.list("");
    this.model.reopened(revision, values);
    // A frame of its own at the end, so that it is known where the last one begins.
    const result = await store.write({
      key: "/k/last",
      expectedRevision: undefined,
      encode: (at) => {
        this.model.began("/k/last", "last", at);
        return Buffer.from("last");
      },
    });
    if (!result.ok) this.model.breaks("the last write is refused");
    await store.stop();
    mount.kill();
  }

  async #damage(): Promise<void> {
    const log = filesBelow(this.#root).get("store/log");
    if (!log) {
      this.model.breaks("there is no log after a stop");
      return;
    }
    const whole = log.seen;
    const damage = damaged(whole, this.#random);
    if (!damage) return;
    this.faults.add(`damage: ${damage.kind}`);
    log.seen = damage.content;
    log.sync();
    const { store, mount } = this.#process(() => works);
    const where = `damage of bytes ${damage.from} to ${damage.to} of ${whole.length} (${damage.kind})`;
    try {
      await store.start();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "corrupt")
        this.model.breaks(`${where} is answered ${String(error)}`);
      const now = filesBelow(this.#root).get("store/log")?.seen;
      if (!now?.equals(damage.content))
        this.model.breaks(`${where} was refused and the log changed`);
      mount.kill();
      return;
    }
    const { revision, values } = await store.list("");
    // With no sound frame behind it damage is like a torn tail: cut off, but only with its bytes kept.
    const inTheLast = damage.to >= this.#lastAppendAt;
    if (inTheLast && values.every(({ key }) => key !== "/k/last")) {
      const kept = [...filesBelow(this.#root)].some(
        ([name, { seen }]) =>
          name.startsWith("store/log.torn-") &&
          damage.content.subarray(-seen.length).equals(seen) &&
          seen.length >= whole.length - damage.from,
      );
      if (!kept) this.model.breaks(`${where} was cut off and not kept`);
    } else {
      const before = this.model.broken.length;
      this.model.reopened(revision, values);
      if (this.model.broken.length > before)
        this.model.breaks(`${where} went unnoticed`);
    }
    await store.stop();
    mount.kill();
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "string";
}
