// `orbit doctor` at a running API server: what it finds there, what it may not read, and a server that is gone.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import {
  apiServices,
  pods,
  startCluster,
  type Cluster,
} from "../../../index.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import { clusterFindings } from "../../../cli/doctor/cluster/cluster-checks.ts";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { clientOfKubeconfig } from "../../../cli/parts/connect.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const logger = pino({ level: "silent" });
const clients: Client[] = [];
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({
    args: ["--disable-admission-plugins=ServiceAccount"],
  });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await cluster?.stop();
});

async function look(kubeconfig = cluster.kubeconfig): Promise<Finding[]> {
  const file = join(directories(), "kubeconfig");
  writeFileSync(file, kubeconfig);
  const client = await clientOfKubeconfig(file, "kubeconfig", logger);
  clients.push(client);
  return await clusterFindings({
    client,
    server: cluster.url,
    domain: "cluster.local",
    clock: systemClock,
  });
}
const of = (findings: readonly Finding[], name: string): Finding | undefined =>
  findings.find((each) => each.name === name);

test("a cluster without nodes, with a dead APIService and a stuck pod", async () => {
  await cluster.client.resource(apiServices).create({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.dead.example.com" },
    spec: {
      ...{ group: "dead.example.com", version: "v1" },
      ...{ groupPriorityMinimum: 100, versionPriority: 100 },
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "nothing" },
    },
  });
  await cluster.client.resource(pods).create({
    metadata: { name: "p", namespace: "default" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  await cluster.client.resource(pods).updateStatus({
    ...(await cluster.client.resource(pods).get("p", "default")),
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          ...{ name: "c", image: "i", imageID: "" },
          ...{ ready: false, restartCount: 0 },
          state: { waiting: { reason: "ErrImagePull", message: "no such" } },
        },
      ],
    },
  });
  await eventually(async () => {
    const findings = await look();
    expect(of(findings, "API server")).toMatchObject({ state: "ok" });
    expect(of(findings, "nodes")).toMatchObject({ state: "failed" });
    expect(of(findings, "clocks")).toMatchObject({ state: "ok" });
    expect(of(findings, "pod default/p")).toMatchObject({
      state: "warning",
      found: "container c: ErrImagePull: no such",
    });
    expect(of(findings, "APIService v1.dead.example.com")).toMatchObject({
      state: "failed",
      found: expect.stringMatching(/^ServiceNotFound: /) as string,
    });
    expect(of(findings, "webhooks of admission")).toMatchObject({
      state: "ok",
    });
    expect(of(findings, "not looked at")).toBeUndefined();
    return true;
  });
});

test("what the user may not read is said", async () => {
  const nobody = cluster.kubeconfig.replace(
    /client-(?:certificate|key)-data: .*/g,
    "",
  );
  const findings = await look(nobody);
  const unread = findings.filter(({ name }) => name === "not looked at");
  expect(unread.length).toBeGreaterThan(5);
  expect(unread.every(({ state }) => state === "warning")).toBe(true);
  expect(of(findings, "nodes")).toBeUndefined();
});

test("a server that is not there is one finding", async () => {
  const gone = cluster.kubeconfig.replace(
    /server: .*/,
    "server: https://127.0.0.1:1",
  );
  expect(await look(gone)).toEqual([
    expect.objectContaining({ name: "API server", state: "failed" }),
  ]);
});
