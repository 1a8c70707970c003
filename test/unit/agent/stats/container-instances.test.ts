// A restarted container is shown once, by what runs; one that has ended is not shown.
import { runningInstances } from "../../../../agent/stats/container-instances.ts";
import type { ContainerStats } from "../../../../cri/usage.ts";

const nowMs = 1_700_000_000_000;
const stats = (
  name: string,
  id: string,
  timestampMs: number,
  cpuUsageNanoseconds?: number,
): ContainerStats =>
  ({
    ...{ id, name, timestampMs, cpuUsageNanoseconds },
    labels: { "io.kubernetes.container.name": name },
  }) as unknown as ContainerStats;

test.each([
  [0, 1],
  [1, 0],
])("the instance of before a restart is not shown", (first, second) => {
  const found = [
    stats("a", "before", 0),
    stats("a", "running", nowMs - 1000, 7),
  ];
  const shown = runningInstances([found[first]!, found[second]!]);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({
    id: "running",
    timestampMs: nowMs - 1000,
    cpuUsageNanoseconds: 7,
  });
});

test("a container that has only ended is not shown", () => {
  const shown = runningInstances([
    stats("a", "1", 0),
    stats("a", "2", 0),
    stats("b", "3", 5, 1),
  ]);
  expect(shown.map(({ id }) => id)).toEqual(["3"]);
});
