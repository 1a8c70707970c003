// A cluster in this process whose scheduler follows a --config file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { startCluster } from "../../../index.ts";
import { events, nodes, pods } from "../../../client/resources.ts";
import { passes, testNode, testPod } from "../../support/control-plane.ts";
import { startHttpsServer } from "../../support/https-server.ts";

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

test("an extender filters and binds, by the API itself", async () => {
  let bind: (pod: string, node: string) => Promise<unknown> = async () => {};
  const extender = await startHttpsServer(async (body, request) => {
    const asked = JSON.parse(body) as {
      NodeNames: string[];
      PodName: string;
      Node: string;
    };
    if (request.url === "/bind") {
      await bind(asked.PodName, asked.Node);
      return {};
    }
    return { NodeNames: asked.NodeNames.filter((name) => name === "n2") };
  });
  const cluster = await startCluster({
    args: argumentsWith(`extenders:
- urlPrefix: ${extender.url}
  filterVerb: filter
  bindVerb: bind
  nodeCacheCapable: true
  enableHTTPS: true
  tlsConfig: {caData: ${extender.caBundle}}
`),
  });
  try {
    const { client } = cluster;
    const bound: string[] = [];
    bind = (name, node) => {
      bound.push(name);
      return client
        .resource(pods)
        .createSubresource(name, "default", "binding", {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name, namespace: "default" },
          target: { kind: "Node", name: node },
        });
    };
    for (const name of ["n1", "n2", "n3"])
      await client.resource(nodes).create(testNode(name));
    const names = ["a", "b", "c"];
    // What keeps new nodes from pods without a node agent.
    const tolerations = [{ operator: "Exists" }];
    for (const name of names)
      await client.resource(pods).create(testPod(name, { tolerations }));
    await passes(async () => {
      const { items } = await client.resource(pods).list();
      expect(items.map(({ spec }) => spec.nodeName)).toEqual([
        "n2",
        "n2",
        "n2",
      ]);
    });
    expect(bound.sort()).toEqual(names);
  } finally {
    await cluster.stop();
    await extender.close();
  }
});

test("a file with a problem keeps the cluster from starting", async () => {
  await expect(
    startCluster({ args: argumentsWith("profiles: [{schedulerName: 5}]\n") }),
  ).rejects.toThrow(/config\.yaml:3: profiles\[0\]\.schedulerName: must be/);
});
