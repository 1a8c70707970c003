// An agent that is a stranger to the API server: over HTTPS, with no more than its node's identity, it runs pods with
// all that they refer to, shows its static pods, and reports. The Node authorizer and NodeRestriction are on.
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { eventually } from "../../support/eventually.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";
import {
  patchHeader,
  startTester,
  type Json,
  type Tester,
} from "../conformance/support.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";

let directory: string;
let node: NodeFixture;
let tester: Tester;
let client: Client;

beforeAll(async () => {
  directory = makeTempDirectory("orbit-identity-");
  const tokens = path.join(directory, "tokens.csv");
  fs.writeFileSync(
    tokens,
    'node-token,system:node:test-node,uid-1,"system:nodes"\n',
    { mode: 0o600 },
  );
  tester = await startTester([`--token-auth-file=${tokens}`]);
  await tester.namespace("id");
  node = await startNode();
  client = createClient(
    createHttpTransport({
      server: tester.cluster.url,
      tls: { ca: tester.cluster.certificateAuthority },
      token: "node-token",
      clock: systemClock,
      logger: node.logger,
    }),
    { clock: systemClock, logger: node.logger },
  );
  await node.writePod("shown.json", busyboxPod("shown", "sleep 1000"));
  await node.agent({ client }).start();
});
afterAll(async () => {
  await node?.close();
  await client?.close();
  await tester?.stop();
  removeTempDirectory(directory);
});

const core = "/api/v1/namespaces/id";

test("registers its Node and renews its lease", async () => {
  await eventually(async () => {
    const lease = await tester.call(
      "GET",
      "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/test-node",
    );
    return lease.status === 200;
  });
  await eventually(
    async () =>
      (await tester.ok("GET", "/api/v1/nodes/test-node")).status?.capacity
        ?.pods === "110",
  );
});

test("shows its static pod", async () => {
  const mirror = await eventually(async () => {
    const { body } = await tester.call(
      "GET",
      "/api/v1/namespaces/default/pods/shown-test-node",
    );
    return body.status?.phase === "Running" ? (body as Json) : undefined;
  });
  expect(mirror!.metadata.ownerReferences).toMatchObject([
    { kind: "Node", name: "test-node", controller: true },
  ]);
});

test("runs a pod with what it refers to, and lets it go", async () => {
  await tester.ok("POST", `${core}/secrets`, {
    metadata: { name: "s" },
    stringData: { word: "whispered" },
  });
  await tester.ok("POST", `${core}/configmaps`, {
    metadata: { name: "m" },
    data: { word: "said" },
  });
  const shared = path.join(directory, "shared");
  fs.mkdirSync(shared, { mode: 0o777 });
  await tester.ok("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "v" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: shared },
      claimRef: { namespace: "id", name: "c" },
    },
  });
  await tester.ok("POST", `${core}/persistentvolumeclaims`, {
    metadata: { name: "c" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      storageClassName: "",
      volumeName: "v",
    },
  });
  await eventually(
    async () =>
      (await tester.ok("GET", `${core}/persistentvolumeclaims/c`)).status
        .phase === "Bound",
  );
  const pod = busyboxPod(
    "p",
    'echo "$WORD $(cat /m/word) $(wc -c < /var/run/secrets/kubernetes.io/serviceaccount/token)" > /c/out; sleep 1000',
  ) as unknown as Pod & Json;
  pod.metadata = { name: "p" };
  pod.spec.nodeName = "test-node";
  Object.assign(pod.spec.containers[0]!, {
    env: [
      {
        name: "WORD",
        valueFrom: { secretKeyRef: { name: "s", key: "word" } },
      },
    ],
    volumeMounts: [
      { name: "m", mountPath: "/m" },
      { name: "c", mountPath: "/c" },
    ],
  });
  pod.spec.volumes = [
    { name: "m", configMap: { name: "m" } },
    { name: "c", persistentVolumeClaim: { claimName: "c" } },
  ] as never;
  await tester.ok("POST", `${core}/pods`, pod);
  const said = await eventually(() => {
    const file = path.join(shared, "out");
    return fs.existsSync(file) && fs.readFileSync(file, "utf8");
  });
  expect(said).toMatch(/^whispered said [1-9]\d{2,}\n$/);
  await eventually(
    async () =>
      (await tester.ok("GET", `${core}/pods/p`)).status.phase === "Running",
  );
  await tester.ok("DELETE", `${core}/pods/p?gracePeriodSeconds=1`);
  await eventually(
    async () => (await tester.call("GET", `${core}/pods/p`)).status === 404,
  );
});

test("what volumes are made of reaches a running pod within a second", async () => {
  await tester.ok("POST", `${core}/configmaps`, {
    metadata: { name: "changing" },
    data: { word: "old" },
  });
  await tester.ok("POST", `${core}/secrets`, {
    metadata: { name: "changing" },
    stringData: { word: "old" },
  });
  const pod = busyboxPod("follows", "sleep 1000") as unknown as Pod & Json;
  pod.metadata = { name: "follows", annotations: { word: "old" } };
  pod.spec.nodeName = "test-node";
  pod.spec.volumes = [
    { name: "m", configMap: { name: "changing" } },
    { name: "s", secret: { secretName: "changing" } },
    {
      name: "d",
      downwardAPI: {
        items: [
          { path: "word", fieldRef: { fieldPath: "metadata.annotations" } },
        ],
      },
    },
    {
      name: "all",
      projected: {
        sources: [
          { configMap: { name: "later", optional: true } },
          { secret: { name: "changing" } },
        ],
      },
    },
  ] as never;
  await tester.ok("POST", `${core}/pods`, pod);
  const found = await eventually(async () => {
    const { body } = await tester.call("GET", `${core}/pods/follows`);
    return body.status?.phase === "Running" ? (body as Json) : undefined;
  });
  const uid = found!.metadata.uid as string;
  const read = (directory: string, file: string): string => {
    const at = path.join(node.directory, "agent", directory, file);
    return fs.existsSync(at) ? fs.readFileSync(at, "utf8") : "";
  };
  const disk = (file: string): string => read(`pods/${uid}/volumes`, file);
  const memory = (file: string): string => read(`memory/${uid}`, file);
  expect(disk("kubernetes.io~configmap/m/word")).toBe("old");
  const patch = (of: string, body: Json) =>
    tester.ok("PATCH", `${core}/${of}`, body, patchHeader("merge"));
  const change = (word: string) =>
    Promise.all([
      patch("configmaps/changing", { data: { word } }),
      patch("secrets/changing", { stringData: { word } }),
      patch("pods/follows", { metadata: { annotations: { word } } }),
    ]);
  const arrived = async (word: string): Promise<void> => {
    await eventually(
      () =>
        disk("kubernetes.io~configmap/m/word") === word &&
        memory("kubernetes.io~secret/s/word") === word &&
        memory("kubernetes.io~downward-api/d/word").includes(`"${word}"`) &&
        memory("kubernetes.io~projected/all/word") === word,
      // Before the 20 s are over after which all is compared.
      { timeoutMs: 18_000, what: word },
    );
  };
  await change("new");
  await arrived("new");
  await tester.ok("POST", `${core}/configmaps`, {
    metadata: { name: "later" },
    data: { more: "there" },
  });
  await eventually(
    () => memory("kubernetes.io~projected/all/more") === "there",
    { timeoutMs: 18_000, what: "an object that was optional" },
  );
  await tester.ok("DELETE", `${core}/pods/follows?gracePeriodSeconds=1`);
});
