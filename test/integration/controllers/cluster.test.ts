// Controllers and scheduler on the real API server (memory store): the whole way from a Deployment to bound pods, over
// the in-process transport and over HTTP.
import type { Deployment } from "../../../api/types/apps-v1.ts";
import type { Event, Namespace, Pod } from "../../../api/types/core-v1.ts";
import { systemClock } from "../../../api/clock.ts";
import { createApiServer, superuser } from "../../../apiserver-lite/server.ts";
import type { ApiServer } from "../../../apiserver-lite/server.ts";
import { createClient } from "../../../client/create-client.ts";
import type { Client } from "../../../client/client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import {
  configMaps,
  deployments,
  endpointSlices,
  events,
  namespaces,
  nodes,
  pods,
  replicaSets,
  serviceAccounts,
  services,
} from "../../../client/resources.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import type { ControllerManager } from "../../../controllers/manager.ts";
import { createScheduler } from "../../../scheduler/scheduler.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import {
  passes,
  runPods,
  silent,
  testNode,
} from "../../support/control-plane.ts";

const clock = systemClock;
const logger = silent;

describe.each(["in process", "over HTTP"])("%s", (transport) => {
  let server: ApiServer;
  let client: Client;
  let manager: ControllerManager;
  let scheduler: Scheduler;

  beforeEach(async () => {
    server = createApiServer({ store: createMemoryStore(), logger });
    await server.start();
    client = createClient(
      transport === "in process"
        ? server.transport(superuser)
        : createHttpTransport({ server: `http://127.0.0.1:${server.port}` }),
      { clock, logger },
    );
    manager = createControllerManager({
      client,
      clock,
      logger,
      options: { rootCa: "CA" },
    });
    scheduler = createScheduler({ client, clock, logger });
    await manager.start();
    await scheduler.start();
  });

  afterEach(async () => {
    await scheduler.stop();
    await manager.stop();
    await client.close();
    await server.stop();
  });

  const ensureNamespace = async (name: string) => {
    await client
      .resource(namespaces)
      .create({ metadata: { name }, spec: {} } as Namespace)
      .catch(() => undefined);
    await passes(async () => {
      await client.resource(serviceAccounts).get("default", name);
      await client.resource(configMaps).get("kube-root-ca.crt", name);
    });
  };
  const web = (replicas: number, image = "a"): Deployment => ({
    metadata: { name: "web", namespace: "test" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [
            { name: "c", image, resources: { requests: { cpu: "10m" } } },
          ],
        },
      },
    },
  });

  test("a Deployment of 20 is bound and ready, rolls out, and goes with its namespace", async () => {
    await ensureNamespace("test");
    await client.resource(nodes).create(testNode("n1"));
    // Controllers write it as well: no version is asked for.
    await client
      .resource(nodes)
      .patch(
        "n1",
        undefined,
        { type: "merge", body: { status: testNode("n1").status } },
        { subresource: "status" },
      );
    await passes(async () =>
      expect(
        (await client.resource(nodes).get("n1")).spec.taints ?? [],
      ).toEqual([]),
    );
    runPods(client, clock);
    await client.resource(services).create({
      metadata: { name: "web", namespace: "test" },
      spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
    });
    await client.resource(deployments).create(web(20));
    const ready = async () => {
      const { status } = await client.resource(deployments).get("web", "test");
      expect(status?.readyReplicas).toBe(20);
      expect(status?.updatedReplicas).toBe(20);
      expect(status?.replicas).toBe(20);
    };
    await passes(ready);
    await passes(async () => {
      const { items } = await client.resource(pods).list({ namespace: "test" });
      expect(items.filter((pod: Pod) => pod.spec.nodeName)).toHaveLength(20);
      const slices = await client
        .resource(endpointSlices)
        .list({ namespace: "test" });
      expect(
        slices.items.flatMap((slice) => slice.endpoints ?? []),
      ).toHaveLength(20);
    });
    await passes(async () => {
      const recorded = await client
        .resource(events)
        .list({ namespace: "test" });
      const reasons = new Set(
        recorded.items.map((event: Event) => event.reason),
      );
      expect([...reasons]).toEqual(
        expect.arrayContaining([
          "ScalingReplicaSet",
          "SuccessfulCreate",
          "Scheduled",
        ]),
      );
    });
    await client.resource(deployments).patch("web", "test", {
      type: "strategic",
      body: {
        spec: {
          template: { spec: { containers: [{ name: "c", image: "b" }] } },
        },
      },
    });
    await passes(async () => {
      await ready();
      const { items } = await client
        .resource(replicaSets)
        .list({ namespace: "test" });
      expect(items).toHaveLength(2);
      expect(items.map((set) => set.status?.readyReplicas ?? 0).sort()).toEqual(
        [0, 20],
      );
    });
    await client.resource(namespaces).delete("test");
    await passes(async () => {
      const { items } = await client.resource(namespaces).list();
      expect(items.map(({ metadata }) => metadata.name)).not.toContain("test");
    });
  });

  test("deletion policies", async () => {
    await ensureNamespace("test");
    await client.resource(deployments).create(web(2));
    const count = async (expected: [sets: number, pods: number]) =>
      passes(async () => {
        const sets = await client.resource(replicaSets).list();
        const all = await client.resource(pods).list();
        expect([sets.items.length, all.items.length]).toEqual(expected);
      });
    await count([1, 2]);
    await client
      .resource(deployments)
      .delete("web", "test", { propagationPolicy: "Orphan" });
    await passes(async () =>
      expect((await client.resource(deployments).list()).items).toHaveLength(0),
    );
    await count([1, 2]);
    const [set] = (await client.resource(replicaSets).list()).items;
    expect(set!.metadata.ownerReferences ?? []).toHaveLength(0);
    await client
      .resource(replicaSets)
      .delete(set!.metadata.name, "test", { propagationPolicy: "Foreground" });
    await count([0, 0]);
  });
});
