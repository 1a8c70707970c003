// APIServices: this server's own, those of definitions of custom resources, and the condition of those that other servers
// answer for.
import { eventually } from "../../support/eventually.ts";
import {
  startExtensionServer,
  type ExtensionTestServer,
} from "../../support/extension-server.ts";
import { freePort } from "../../support/free-port.ts";
import type { Json, TestServer } from "../apiserver/support.ts";
import {
  apiService,
  apiServices,
  condition,
  createService,
  proxyIdentity,
  register,
  startAggregator,
  startExtension,
} from "./support.ts";

const managed = "kube-aggregator.kubernetes.io/automanaged";

let server: TestServer;
beforeAll(async () => {
  server = await startAggregator();
});
afterAll(() => server.stop());

async function createDefinition(group: string, served = true): Promise<void> {
  const { status } = await server.call(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served,
            storage: true,
            schema: { openAPIV3Schema: { type: "object" } },
          },
        ],
      },
    },
  );
  expect(status).toBe(201);
}

test("each built-in group version has one from the start", async () => {
  const { body } = await server.call("GET", apiServices);
  const shown = Object.fromEntries(
    body.items.map(({ metadata, spec, status }: Json) => [
      metadata.name,
      [
        metadata.labels[managed],
        spec.groupPriorityMinimum,
        spec.versionPriority,
        status.conditions[0].reason,
      ],
    ]),
  ) as Record<string, unknown>;
  expect(shown).toMatchObject({
    "v1.": ["onstart", 18000, 1, "Local"],
    "v1.apps": ["onstart", 17800, 15, "Local"],
    "v2.autoscaling": ["onstart", 17500, 30, "Local"],
    "v1.apiextensions.k8s.io": ["onstart", 16700, 15, "Local"],
  });
  expect(shown).not.toHaveProperty(["v1.apiregistration.k8s.io"]);
  const groups = await server.call("GET", "/apis");
  const versions = groups.body.groups.flatMap(({ versions }: Json) =>
    versions.map(({ groupVersion }: Json) => groupVersion as string),
  ) as string[];
  expect(Object.keys(shown).sort()).toEqual(
    [
      "v1.",
      ...versions
        .filter((one) => !one.startsWith("apiregistration"))
        .map((one) => one.split("/").reverse().join(".")),
    ].sort(),
  );
});

test("those of custom resources come, come back and go", async () => {
  const name = "v1.custom.test";
  const there = async () =>
    (await server.call("GET", `${apiServices}/${name}`)).body as Json;
  await createDefinition("custom.test");
  await eventually(async () => (await there()).kind === "APIService");
  const { metadata, spec } = await there();
  expect([metadata.labels, spec]).toEqual([
    { [managed]: "true" },
    {
      group: "custom.test",
      version: "v1",
      groupPriorityMinimum: 1000,
      versionPriority: 100,
    },
  ]);
  await server.call("DELETE", `${apiServices}/${name}`);
  await eventually(async () => {
    const again = await there();
    return again.metadata?.uid && again.metadata.uid !== metadata.uid;
  });
  // A change is undone.
  await server.call(
    "PATCH",
    `${apiServices}/${name}`,
    { spec: { versionPriority: 7 } },
    { "content-type": "application/merge-patch+json" },
  );
  await eventually(async () => (await there()).spec.versionPriority === 100);
  await server.call(
    "DELETE",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.custom.test",
  );
  await eventually(async () => (await there()).code === 404);
});

test("a version that is not served has none, and what somebody registered stays", async () => {
  await server.call("POST", apiServices, {
    metadata: { name: "v1.own.test" },
    spec: {
      group: "own.test",
      version: "v1",
      groupPriorityMinimum: 5,
      versionPriority: 5,
    },
  });
  await createDefinition("own.test");
  await createDefinition("unserved.test", false);
  await createDefinition("served.test");
  await eventually(
    async () =>
      (await server.call("GET", `${apiServices}/v1.served.test`)).status ===
      200,
  );
  const own = await server.call("GET", `${apiServices}/v1.own.test`);
  expect(own.body.spec.versionPriority).toBe(5);
  const unserved = await server.call("GET", `${apiServices}/v1.unserved.test`);
  expect(unserved.status).toBe(404);
});

test("a local one is available at once", async () => {
  const { body } = await server.call("POST", apiServices, {
    metadata: { name: "v1.local.test" },
    spec: {
      group: "local.test",
      version: "v1",
      groupPriorityMinimum: 5,
      versionPriority: 5,
    },
  });
  expect(body.status.conditions).toMatchObject([
    { type: "Available", status: "True", reason: "Local" },
  ]);
});

describe("the condition of a remote one", () => {
  const services = "/api/v1/namespaces/default/services";
  const endpoints = "/api/v1/namespaces/default/endpoints";
  const finds = async (
    name: string,
    reason: string,
    message: string | RegExp,
  ): Promise<void> => {
    await eventually(
      async () => {
        const found = await condition(server, name);
        expect([found?.reason, found?.status, found?.message]).toEqual([
          reason,
          reason === "Passed" ? "True" : "False",
          expect.stringMatching(message),
        ]);
        return true;
      },
      { what: reason },
    );
  };

  test("follows service, port and endpoints", async () => {
    const name = "v1.steps.test";
    await server.call(
      "POST",
      apiServices,
      apiService("steps.test", 7443, {
        insecureSkipTLSVerify: true,
        service: { namespace: "default", name: "steps", port: 7443 },
      }),
    );
    const { text } = await server.call("GET", "/apis/steps.test/v1/things");
    expect(text).toBe("service unavailable\n");
    await finds(
      name,
      "ServiceNotFound",
      /^service\/steps in "default" is not present$/,
    );
    await server.call("POST", services, {
      metadata: { name: "steps" },
      spec: { ports: [{ name: "a", port: 443 }] },
    });
    await finds(
      name,
      "ServicePortError",
      /^service\/steps in "default" is not listening on port 7443$/,
    );
    await server.call(
      "PATCH",
      `${services}/steps`,
      { spec: { ports: [{ name: "b", port: 7443 }] } },
      { "content-type": "application/merge-patch+json" },
    );
    await finds(
      name,
      "EndpointsNotFound",
      /^cannot find endpoints for service\/steps in "default"$/,
    );
    await server.call("POST", endpoints, {
      metadata: { name: "steps" },
      subsets: [
        { addresses: [{ ip: "192.0.2.1" }], ports: [{ name: "a", port: 1 }] },
      ],
    });
    await finds(
      name,
      "MissingEndpoints",
      /^endpoints for service\/steps in "default" have no addresses with port name "b"$/,
    );
    const { body } = await server.call(
      "GET",
      `${apiServices}/${name}`,
      undefined,
      {
        accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
      },
    );
    expect(body.rows[0].cells.slice(0, 3)).toEqual([
      name,
      "default/steps",
      "False (MissingEndpoints)",
    ]);
    await server.call("DELETE", `${apiServices}/${name}`);
  });

  test("says why the server does not answer, and when it does again", async () => {
    await createService(server);
    const port = await freePort();
    const name = "v1.down.test";
    await server.call(
      "POST",
      apiServices,
      apiService("down.test", port, { insecureSkipTLSVerify: true }),
    );
    const url = `https://localhost:${port}/apis/down.test/v1`;
    await finds(
      name,
      "FailedDiscoveryCheck",
      `failing or missing response from ${url}: Get "${url}": dial tcp localhost:${port}: connect: connection refused`,
    );
    const scrape = await server.call("GET", "/metrics");
    expect(scrape.text).toContain(
      `aggregator_unavailable_apiservice{name="${name}"} 1`,
    );
    const back = await startExtensionServer({
      frontProxyAuthority: proxyIdentity.authority,
      group: "down.test",
      service: "extension.default",
      port,
    });
    await finds(name, "Passed", /^all checks passed$/);
    const seen = back.seen.find(({ url }) => url === "/apis/down.test/v1");
    expect([seen!.client, seen!.headers["x-remote-user"]]).toEqual([
      "front-proxy-client",
      "system:kube-aggregator",
    ]);
    back.answer = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    // Any change of its service is a reason to look.
    await server.call(
      "PATCH",
      `${services}/extension`,
      { metadata: { labels: { a: "b" } } },
      { "content-type": "application/merge-patch+json" },
    );
    await finds(
      name,
      "FailedDiscoveryCheck",
      `failing or missing response from ${url}: bad status from ${url}: 500`,
    );
    const { text } = await server.call("GET", "/metrics");
    expect(text).toContain(
      `aggregator_unavailable_apiservice_total{name="${name}",reason="FailedDiscoveryCheck"} 1`,
    );
    await server.call("DELETE", `${apiServices}/${name}`);
    await eventually(
      async () => !(await server.call("GET", "/metrics")).text.includes(name),
    );
    await back.stop();
  });
});

describe("another certificate of this server", () => {
  let extension: ExtensionTestServer;
  afterAll(() => extension?.stop());

  test("is shown from the next connection on", async () => {
    extension = await startExtension("renewed.test");
    await register(server, extension, "renewed.test");
    const path = "/apis/renewed.test/v1/namespaces/default/flunders";
    await server.call("GET", path);
    server.server.setProxyCertificate(undefined);
    await server.call("GET", path);
    server.server.setProxyCertificate(proxyIdentity.client);
    await server.call("GET", path);
    const clients = extension.seen
      .filter(({ url }) => url === path)
      .map(({ client }) => client);
    expect(clients).toEqual(["front-proxy-client", "", "front-proxy-client"]);
  });
});
