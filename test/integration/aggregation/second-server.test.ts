// A whole Orbit API server behind another one: it trusts the other's client certificate, knows users by its headers, and
// serves what the other does not.
import * as fs from "node:fs";
import * as path from "node:path";
import { startCluster, type Cluster } from "../../../index.ts";
import type { RequestAuthenticator } from "../../../http-kit/authentication/authenticator.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import type { TestServer } from "../apiserver/support.ts";
import {
  apiServices,
  condition,
  createService,
  proxyIdentity,
  startAggregator,
} from "./support.ts";

const directory = useTempDirectories();
let front: TestServer;
let behind: Cluster;

const authenticator: RequestAuthenticator = {
  authenticate({ headers }) {
    const name = headers["x-test-user"];
    if (typeof name !== "string") return undefined;
    const groups =
      name === "root" ? ["system:masters"] : ["system:authenticated", "some"];
    return { user: { name, groups, extra: { "example.com/why": ["test"] } } };
  },
};

async function takeOver(name: string): Promise<void> {
  const port = Number(new URL(behind.url).port);
  await front.call(
    "PATCH",
    `${apiServices}/${name}`,
    {
      spec: {
        insecureSkipTLSVerify: true,
        service: { namespace: "default", name: "extension", port },
      },
    },
    { "content-type": "application/merge-patch+json" },
  );
  await eventually(
    async () => (await condition(front, name))?.reason === "Passed",
    { what: `${name} available` },
  );
}

beforeAll(async () => {
  const authority = path.join(directory(), "front-proxy-ca.crt");
  fs.writeFileSync(authority, proxyIdentity.authority);
  [front, behind] = await Promise.all([
    startAggregator({ parts: () => ({ authenticators: [authenticator] }) }),
    startCluster({
      controllers: false,
      scheduler: false,
      args: [
        `--requestheader-client-ca-file=${authority}`,
        "--requestheader-allowed-names=front-proxy-client",
      ],
    }),
  ]);
  await createService(front);
  await takeOver("v1.batch");
  await takeOver("v1.authentication.k8s.io");
});
afterAll(async () => {
  await front.stop();
  await behind.stop();
});

test("it knows who asks", async () => {
  const { status, body } = await front.call(
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" },
    { "x-test-user": "ann" },
  );
  expect(status).toBe(201);
  const { username, groups, extra } = body.status.userInfo;
  expect([username, [...groups].sort(), extra]).toEqual([
    "ann",
    ["some", "system:authenticated"],
    { "example.com/why": ["test"] },
  ]);
});

test("it decides what they may", async () => {
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const job = {
    metadata: { name: "there" },
    spec: {
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "c", image: "x" }],
        },
      },
    },
  };
  const refused = await front.call("POST", jobs, job, { "x-test-user": "ann" });
  expect([refused.status, refused.body.message]).toEqual([
    403,
    expect.stringContaining('User "ann" cannot create resource "jobs"'),
  ]);
  const made = await front.call("POST", jobs, job, { "x-test-user": "root" });
  expect(made.status).toBe(201);
  const { body } = await behind.client.raw("GET", `${jobs}/there`);
  expect(body).toMatchObject({ metadata: { uid: made.body.metadata.uid } });
});
