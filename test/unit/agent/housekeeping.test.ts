// What pods left behind is removed pod by pod: one whose volumes can't be unmounted keeps the rests of no other.
import pino from "pino";
import { Housekeeping } from "../../../agent/housekeeping.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { turns } from "../../robustness/mount.ts";

test("a pod whose volumes stay mounted holds up no other, and both are counted", async () => {
  const left = new Set(["stuck", "gone"]);
  let isMounted = true;
  const clock = new FakeClock();
  const housekeeping = new Housekeeping({
    images: {
      collect: () => Promise.resolve(0),
      observe: () => Promise.resolve(),
    },
    containers: { collect: () => Promise.resolve() },
    cgroups: { removePod: () => Promise.resolve() },
    resources: { releaseOthers: () => undefined },
    claims: { unprepareOthers: () => undefined },
    hostFiles: {
      uids: () => Promise.resolve([...left]),
      removeLogs: () => Promise.resolve(),
      removePodDirectory: (uid) => {
        left.delete(uid);
        return Promise.resolve();
      },
    },
    volumes: {
      uids: () => Promise.resolve([]),
      releaseOthers: () => Promise.resolve(),
      unmount: (uid) =>
        uid === "stuck" && isMounted
          ? Promise.reject(new Error("/x is still mounted"))
          : Promise.resolve(),
    },
    isKnown: () => false,
    clock,
    logger: pino({ level: "silent" }),
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
