// What pods left behind is removed pod by pod: one whose volumes can't be unmounted keeps the rests of no other.
import pino from "pino";
import { Housekeeping } from "../../../agent/housekeeping.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { turns } from "../../robustness/mount.ts";

/** Nothing is left of any pod, and nothing fails. */
const quiet = {
  images: {
    collect: () => Promise.resolve(0),
    observe: () => Promise.resolve(),
  },
  containers: { collect: () => Promise.resolve() },
  cgroups: { removePod: () => Promise.resolve() },
  resources: { releaseOthers: () => undefined },
  claims: { unprepareOthers: () => undefined },
  hostFiles: {
    uids: () => Promise.resolve<string[]>([]),
    removeLogs: () => Promise.resolve(),
    removePodDirectory: () => Promise.resolve(),
  },
  volumes: {
    uids: () => Promise.resolve<string[]>([]),
    releaseOthers: () => Promise.resolve(),
    unmount: () => Promise.resolve(),
  },
  events: { node: () => undefined },
  isKnown: () => false,
  logger: pino({ level: "silent" }),
};

test("a pod whose volumes stay mounted holds up no other, and both are counted", async () => {
  const left = new Set(["stuck", "gone"]);
  let isMounted = true;
  const clock = new FakeClock();
  const housekeeping = new Housekeeping({
    ...quiet,
    hostFiles: {
      ...quiet.hostFiles,
      uids: () => Promise.resolve([...left]),
      removePodDirectory: (uid: string) => {
        left.delete(uid);
        return Promise.resolve();
      },
    },
    volumes: {
      ...quiet.volumes,
      unmount: (uid: string) =>
        uid === "stuck" && isMounted
          ? Promise.reject(new Error("/x is still mounted"))
          : Promise.resolve(),
    },
    clock,
  });
  const counted = (): string =>
    housekeeping
      .families()
      .flatMap((family) => [...family.text()])
      .join("");

  housekeeping.sweep();
  await turns(15);
  expect([...left]).toEqual(["stuck"]);
  expect(counted()).toContain("kubelet_orphan_pod_cleaned_volumes 1\n");
  expect(counted()).toContain("kubelet_orphan_pod_cleaned_volumes_errors 1\n");

  isMounted = false;
  housekeeping.sweep();
  await turns(15);
  expect([...left]).toEqual([]);
  expect(counted()).toContain("kubelet_orphan_pod_cleaned_volumes_errors 0\n");
});

test("images that can't be collected twice in a row are an event of the node", async () => {
  const clock = new FakeClock();
  const said: string[] = [];
  let error: string | undefined = "no";
  const housekeeping = new Housekeeping({
    ...quiet,
    images: {
      ...quiet.images,
      collect: () =>
        error === undefined
          ? Promise.resolve(0)
          : Promise.reject(new Error(error)),
    },
    events: { node: (...event) => said.push(event.join(" ")) },
    clock,
  });
  housekeeping.start();
  const round = async (): Promise<void> => {
    await turns(15);
    clock.advance(300_000);
    await turns(15);
  };
  await round();
  expect(said).toEqual([]);
  error = undefined;
  await round();
  error = "once more";
  await round();
  expect(said).toEqual([]);
  await round();
  expect(said).toEqual(["Warning ImageGCFailed once more"]);
  housekeeping.stop();
});
