// A cluster in this process whose scheduler follows a --config file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { startCluster } from "../../../index.ts";
import { events, nodes, pods } from "../../../client/resources.ts";
import { passes, testNode, testPod } from "../../support/control-plane.ts";

const directory = mkdtempSync(path.join(os.tmpdir(), "scheduler-config-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function argumentsWith(profiles: string): string[] {
  const file = path.join(directory, "config.yaml");
  writeFileSync(
    file,
    `apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n${profiles}`,
  );
  return [`--scheduler-arg=config=${file}`];
}

test("pods choose between the profiles of one scheduler", async () => {
  const cluster = await startCluster({
    args: argumentsWith(`profiles:
- schedulerName: default-scheduler
- schedulerName: careless
  plugins:
    multiPoint:
      disabled: [{name: TaintToleration}]
`),
  });
  try {
    const { client } = cluster;
    const taints = [{ key: "k", value: "v", effect: "NoSchedule" }];
    await client.resource(nodes).create(testNode("n1", { spec: { taints } }));
    for (const schedulerName of ["default-scheduler", "careless", "nobody"])
      await client
        .resource(pods)
        .create(testPod(schedulerName, { schedulerName }));
    const read = (name: string) => client.resource(pods).get(name, "default");
    await passes(async () =>
      expect((await read("careless")).spec.nodeName).toBe("n1"),
    );
    await passes(async () =>
      expect((await read("default-scheduler")).status?.conditions).toEqual([
        expect.objectContaining({
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
        }),
      ]),
    );
    expect((await read("nobody")).status?.conditions ?? []).toEqual([]);
    await passes(async () => {
      const { items } = await client.resource(events).list();
      expect(
        items.map(({ involvedObject, source, reason }) => [
          involvedObject.name,
          source?.component,
          reason,
        ]),
      ).toEqual(
        expect.arrayContaining([
          ["careless", "careless", "Scheduled"],
          ["default-scheduler", "default-scheduler", "FailedScheduling"],
        ]),
      );
    });
  } finally {
    await cluster.stop();
  }
});

test("a file with a problem keeps the cluster from starting", async () => {
  await expect(
    startCluster({ args: argumentsWith("profiles: [{schedulerName: 5}]\n") }),
  ).rejects.toThrow(/config\.yaml:3: profiles\[0\]\.schedulerName: must be/);
});
