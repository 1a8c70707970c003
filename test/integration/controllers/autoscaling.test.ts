// Autoscalers on the real API server, in process and over HTTP: its scale subresource, its metrics API, its statuses.
import { systemClock as clock } from "../../../api/clock.ts";
import type { Deployment } from "../../../api/types/apps-v1.ts";
import type { HorizontalPodAutoscaler } from "../../../api/types/autoscaling-v2.ts";
import {
  createApiServer,
  superuser,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import {
  deployments,
  horizontalPodAutoscalers,
  namespaces,
} from "../../../client/resources.ts";
import {
  createControllerManager,
  type ControllerManager,
} from "../../../controllers/manager.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { passes, silent as logger } from "../../support/control-plane.ts";

describe.each(["in process", "over HTTP"])("%s", (transport) => {
  let server: ApiServer;
  let client: Client;
  let manager: ControllerManager;

  beforeAll(async () => {
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
      options: {
        controllers: ["horizontal-pod-autoscaler-controller"],
        horizontalPodAutoscalerSyncPeriodMs: 100,
      },
    });
    await manager.start();
  });
  afterAll(async () => {
    await manager.stop();
    await client.close();
    await server.stop();
  });

  test("the target comes into the range; metrics that are not there are reported", async () => {
    await client
      .resource(namespaces)
      .create({ metadata: { name: "scaled" }, spec: {} })
      .catch(() => undefined);
    await client.resource(deployments).create({
      metadata: { name: "d", namespace: "scaled" },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: "a" } },
        template: {
          metadata: { labels: { app: "a" } },
          spec: { containers: [{ name: "c", image: "i" }] },
        },
      },
    } as Deployment);
    await client.resource(horizontalPodAutoscalers).create({
      metadata: { name: "h", namespace: "scaled" },
      spec: {
        minReplicas: 3,
        maxReplicas: 5,
        scaleTargetRef: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          name: "d",
        },
        metrics: [
          {
            type: "Resource",
            resource: {
              name: "cpu",
              target: { type: "Utilization", averageUtilization: 50 },
            },
          },
        ],
      },
    } as HorizontalPodAutoscaler);
    await passes(async () => {
      const found = await client.resource(deployments).get("d", "scaled");
      expect(found.spec!.replicas).toBe(3);
    });
    await passes(async () => {
      const { status } = await client
        .resource(horizontalPodAutoscalers)
        .get("h", "scaled");
      expect(status).toMatchObject({
        currentReplicas: 3,
        desiredReplicas: 3,
        lastScaleTime: expect.any(String) as string,
      });
      expect(
        status!.conditions!.map(({ type, reason }) => [type, reason]),
      ).toEqual([
        ["AbleToScale", "SucceededGetScale"],
        ["ScalingActive", "FailedGetResourceMetric"],
      ]);
      // This server has no nodes, and so no metrics API.
      expect(status!.conditions![1]!.message).toBe(
        "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: 404 page not found",
      );
    });
  });
});
