// APIServices: this server's own, what is refused, the condition of those that other servers answer for, and how discovery
// and requests see them.
import { createEach, each, plain, updateEach } from "../cases.ts";
import type { Scenario, Server } from "../scenario.ts";

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const merge = {
  headers: { "content-type": "application/merge-patch+json" },
  lean: true,
};
const condition = (body: { status?: { conditions?: unknown[] } }): unknown =>
  body.status?.conditions;

/** Asks until the condition has this reason. */
async function waitFor(
  { call }: Server,
  name: string,
  reason: string,
): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { body } = await call("wait", "GET", `${apiServices}/${name}`, {
      silent: true,
    });
    const [first] = (body?.status?.conditions ?? []) as { reason?: string }[];
    if (first?.reason === reason) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} never has the condition ${reason}`);
}

const local = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  metadata: { name: "v1.registered.example.com" },
  spec: {
    group: "registered.example.com",
    version: "v1",
    groupPriorityMinimum: 900,
    versionPriority: 10,
  },
};
const remote = {
  ...local,
  spec: {
    ...local.spec,
    service: { namespace: "ref-api-services", name: "extension" },
  },
};

export const apiServiceKinds: Scenario = {
  name: "api-services",
  async run(server) {
    const { namespace, call } = server;
    await call("own", "GET", apiServices, {
      lean: true,
      keep: (body) =>
        body.items.map(({ metadata, spec, status }: typeof body) => [
          metadata.name,
          metadata.labels,
          spec,
          status.conditions[0].reason,
          status.conditions[0].message,
        ]),
    });
    await call("own deleted", "DELETE", `${apiServices}/v1.policy`, plain);
    await call("own served all the same", "GET", "/apis/policy/v1", {
      lean: true,
      keep: (body) => body.kind,
    });
    await call("own group without it", "GET", "/apis/policy", plain);
    await call("own put back", "POST", apiServices, {
      body: {
        metadata: { name: "v1.policy" },
        spec: {
          group: "policy",
          version: "v1",
          groupPriorityMinimum: 17100,
          versionPriority: 15,
        },
      },
      ...plain,
    });
    await createEach(server, "local", apiServices, local, [
      {},
      ...each("metadata.name", [
        "v1.other",
        "v1",
        "a/b",
        "V1.registered.example.com",
      ]),
      ...each("spec.groupPriorityMinimum", [0, -1, 20000, 20001, undefined]),
      ...each("spec.versionPriority", [0, 1000, 1001, undefined]),
      ...each("spec.caBundle", ["YWJj", "not base64"]),
      { "spec.insecureSkipTLSVerify": true },
      { "metadata.name": "v2.", "spec.group": "", "spec.version": "v2" },
      { "metadata.name": "v1.A_b", "spec.group": "A_b" },
      { "metadata.name": "1.registered.example.com", "spec.version": "1" },
      { "metadata.name": ".registered.example.com", "spec.version": undefined },
      { spec: {} },
      { spec: undefined },
    ]);
    await createEach(server, "remote", apiServices, remote, [
      {},
      { "spec.service": {} },
      ...each("spec.service.port", [0, 1, 65536, -1]),
      { "spec.caBundle": "YWJj", "spec.insecureSkipTLSVerify": true },
      { "spec.caBundle": "YWJj" },
      { "spec.insecureSkipTLSVerify": true },
    ]);
    await updateEach(server, "updated", apiServices, local, [
      {},
      { "spec.versionPriority": 11 },
      { "spec.group": "other" },
      { "spec.service": { namespace: "default", name: "x" } },
      { "metadata.labels": { a: "b" } },
    ]);

    const state = {
      ...remote,
      metadata: { name: "v1.elsewhere.example.com" },
      spec: { ...remote.spec, group: "elsewhere.example.com" },
    };
    const name = "v1.elsewhere.example.com";
    const path = `${apiServices}/${name}`;
    await call("create", "POST", apiServices, { body: state, ...plain });
    await waitFor(server, name, "ServiceNotFound");
    await call("no service", "GET", path, { lean: true, keep: condition });
    await call(
      "unavailable",
      "GET",
      "/apis/elsewhere.example.com/v1/things",
      {},
    );
    await call("unavailable list", "GET", "/apis/elsewhere.example.com/v1", {});
    await call("in its group", "GET", "/apis/elsewhere.example.com", plain);
    await call("in the groups", "GET", "/apis", {
      lean: true,
      keep: (body) => body.groups.map((group: { name: string }) => group.name),
    });
    await call("other version", "GET", "/apis/elsewhere.example.com/v2", plain);
    await call("as a row", "GET", path, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      lean: true,
      keep: (body) => body.rows[0].cells.slice(0, 3) as unknown,
    });
    const services = `/api/v1/namespaces/${namespace}/services`;
    const endpoints = `/api/v1/namespaces/${namespace}/endpoints`;
    await call("service", "POST", services, {
      body: {
        metadata: { name: "extension" },
        spec: { ports: [{ name: "a", port: 80 }] },
      },
      silent: true,
    });
    await waitFor(server, name, "ServicePortError");
    await call("no port", "GET", path, { lean: true, keep: condition });
    await call("service port", "PATCH", `${services}/extension`, {
      body: { spec: { ports: [{ name: "b", port: 443 }] } },
      ...merge,
      silent: true,
    });
    await waitFor(server, name, "EndpointsNotFound");
    await call("no endpoints", "GET", path, { lean: true, keep: condition });
    await call("endpoints", "POST", endpoints, {
      body: { metadata: { name: "extension" }, subsets: [] },
      silent: true,
    });
    await waitFor(server, name, "MissingEndpoints");
    await call("empty endpoints", "GET", path, {
      lean: true,
      keep: condition,
    });
    await call("status", "PATCH", `${path}/status`, {
      body: {
        metadata: { labels: { a: "b" } },
        spec: { versionPriority: 1 },
        status: { conditions: [{ type: "Own", status: "Maybe" }] },
      },
      ...merge,
    });
    await call("status and metadata", "PATCH", `${path}/status`, {
      body: {
        metadata: { labels: { a: "b" }, annotations: { a: "b" } },
        spec: { versionPriority: 1 },
      },
      ...merge,
      keep: ({ metadata, spec }) => [
        metadata.labels ?? null,
        metadata.annotations ?? null,
        spec.versionPriority,
      ],
    });
    await call("turned local", "PATCH", path, {
      body: { spec: { service: null } },
      ...merge,
      silent: true,
    });
    await waitFor(server, name, "Local");
    await call("local now", "GET", path, { lean: true, keep: condition });
    await call("nothing there", "GET", "/apis/elsewhere.example.com/v1", plain);
    await call("delete", "DELETE", path, plain);
    await call("gone group", "GET", "/apis/elsewhere.example.com", plain);
    await call("clean", "DELETE", `${apiServices}/v1.registered.example.com`, {
      silent: true,
    });
  },
};
