import { NodeInfo } from "../../../scheduler/node-info.ts";
import { PodViews, type PodView } from "../../../scheduler/pod-view.ts";
import { testPod } from "../../support/control-plane.ts";

const views = new PodViews();
const isLeaving = ({ pod }: PodView): boolean =>
  pod.metadata.deletionTimestamp !== undefined;

test("counts are remembered until a pod comes, changes or goes", () => {
  const node = new NodeInfo("n1");
  let looks = 0;
  const present = (): number =>
    node.count("present", (view) => {
      looks++;
      return !isLeaving(view);
    });
  const [a, b] = [testPod("a"), testPod("b")];
  node.add(views.of(a));
  node.add(views.of(b));
  expect([present(), present()]).toEqual([2, 2]);
  expect(looks).toBe(2);
  const leaving = {
    ...b,
    metadata: { ...b.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  node.add(views.of(leaving));
  expect(present()).toBe(1);
  expect(node.count("leaving", isLeaving)).toBe(1);
  // A copy for a trial has counts of its own.
  const copy = node.clone();
  copy.remove("default/a");
  expect(copy.count("present", (view) => !isLeaving(view))).toBe(0);
  expect(present()).toBe(1);
  node.remove("default/a");
  expect(present()).toBe(0);
});

test("what is counted under ever new names is bounded", () => {
  const node = new NodeInfo("n1");
  node.add(views.of(testPod("a")));
  let looks = 0;
  const count = (key: string): number => node.count(key, () => ++looks > 0);
  for (let index = 0; index < 1000; index++)
    expect(count(`key ${index}`)).toBe(1);
  count("key 0");
  expect(looks).toBe(1001);
});
