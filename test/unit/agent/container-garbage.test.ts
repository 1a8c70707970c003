// Which ended containers are removed: beyond the node's maximum the oldest, and all of pods that are over when the disk is
// short; and what stays whatever is asked.
import pino from "pino";
import { ContainerGarbage } from "../../../agent/pods/clean/container-garbage.ts";
import type { RuntimePod } from "../../../agent/pods/runtime/runtime-pods.ts";
import type { ContainerStatus } from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** Newest first: `name@created` with `+` when it runs. */
function pod(uid: string, ...containers: string[]): RuntimePod {
  return {
    uid,
    name: uid,
    namespace: "ns",
    sandboxes: [],
    containers: containers.map((text) => {
      const [name = "", created] = text.replace("+", "").split("@");
      return {
        id: `${uid}/${name}@${created}`,
        name,
        state: text.endsWith("+") ? "running" : "exited",
        createdAtMs: Number(created) * 1000,
      } as ContainerStatus;
    }),
  };
}

async function removed(
  pods: RuntimePod[],
  options: {
    maximum?: number;
    minimumAgeMs?: number;
    over?: string[];
    evicted?: string[];
    those?: "evicted" | "over";
    fails?: string;
  },
): Promise<string[]> {
  const ids: string[] = [];
  const unlinked: string[] = [];
  const garbage = new ContainerGarbage({
    runtime: {
      removeContainer(id) {
        if (id === options.fails) return Promise.reject(new Error("busy"));
        ids.push(id);
        return Promise.resolve();
      },
    },
    pods: () => pods,
    isOver: (uid) => options.over?.includes(uid) ?? false,
    isEvicted: (uid) => options.evicted?.includes(uid) ?? false,
    files: {
      unlinkContainerLog(_pod, _namespace, _name, id) {
        unlinked.push(id);
        return Promise.resolve();
      },
    },
    forgetRemoved: () => undefined,
    maximum: options.maximum ?? -1,
    minimumAgeMs: options.minimumAgeMs ?? 0,
    clock: new FakeClock(100_000),
    logger: pino({ level: "silent" }),
  });
  const [first, second] = await Promise.all([
    garbage.collect(options.those),
    garbage.collect(options.those),
  ]);
  expect(first).toBe(second);
  expect(first).toBe(ids.length);
  expect(unlinked).toEqual(ids);
  return ids;
}

const live = pod("live", "a@50+", "a@40", "a@10", "b@30", "b@20");
const over = pod("over", "c@60", "c@5");

test("without a maximum nothing is removed while there is room", async () => {
  expect(await removed([live, over], { over: ["over"] })).toEqual([]);
});

test("beyond the maximum the oldest go, but the newest of each name stays", async () => {
  expect(await removed([live, over], { over: ["over"], maximum: 2 })).toEqual([
    "over/c@5",
    "live/a@10",
    "live/b@20",
  ]);
  expect(await removed([live, over], { over: ["over"], maximum: 0 })).toEqual([
    "over/c@5",
    "live/a@10",
    "live/b@20",
    "live/a@40",
    "over/c@60",
  ]);
});

test("when the disk is short all of pods that are over go, and nothing of others", async () => {
  expect(
    await removed([live, over], { over: ["over"], those: "over" }),
  ).toEqual(["over/c@60", "over/c@5"]);
});

test("young ones stay, and one that can't be removed holds up nothing", async () => {
  expect(
    await removed([live, over], {
      over: ["over"],
      maximum: 0,
      minimumAgeMs: 75_000,
    }),
  ).toEqual(["over/c@5", "live/a@10", "live/b@20"]);
  expect(
    await removed([over], {
      over: ["over"],
      those: "over",
      fails: "over/c@60",
    }),
  ).toEqual(["over/c@5"]);
});

test("one from before the clock was set back is old enough", async () => {
  const pods = [pod("over", "c@60", "c@9999", "d@90")];
  expect(
    await removed(pods, {
      over: ["over"],
      those: "over",
      minimumAgeMs: 30_000,
    }),
  ).toEqual(["over/c@60", "over/c@9999"]);
});

test("when images alone are short those of evicted pods go, which hold theirs", async () => {
  const evicted = pod("evicted", "d@70");
  const ending = pod("ending", "e@80");
  expect(
    await removed([live, over, evicted, ending], {
      over: ["over", "evicted"],
      evicted: ["evicted", "ending"],
      those: "evicted",
    }),
  ).toEqual(["evicted/d@70"]);
});
