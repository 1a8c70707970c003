// A whole cluster with built-in APIs switched off: the controllers of the others work on.
import { pino } from "pino";
import { deployments, jobs, pods, startCluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";

test("controllers start without the APIs that --runtime-config took away", async () => {
  let log = "";
  const cluster = await startCluster({
    args: [
      "--runtime-config=batch/v1=false,policy/v1=false",
      "--runtime-config=storage.k8s.io/v1=false,apps/v1/daemonsets=false",
    ],
    logger: pino(
      { level: "error" },
      { write: (line: string) => void (log += line) },
    ),
  });
  try {
    await cluster.client.resource(deployments).create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d", namespace: "default" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: { containers: [{ name: "c", image: "i" }] },
        },
      },
    });
    await eventually(
      async () =>
        (await cluster.client.resource(pods).list({ namespace: "default" }))
          .items.length === 2,
      { what: "the deployment's pods" },
    );
    await expect(cluster.client.resource(jobs).list()).rejects.toMatchObject({
      code: 404,
    });
    expect(log).toBe("");
  } finally {
    await cluster.stop();
  }
});
