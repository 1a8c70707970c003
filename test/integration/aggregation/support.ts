// An Orbit API server with an aggregated server behind it, which it reaches by a service of an external name.
import {
  startTestServer,
  type TestServer,
  type Json,
} from "../apiserver/support.ts";
import type { ApiServerOptions } from "../../../apiserver-lite/server-options.ts";
import { eventually } from "../../support/eventually.ts";
import {
  frontProxy,
  startExtensionServer,
  type ExtensionTestServer,
} from "../../support/extension-server.ts";

export const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
export const proxyIdentity = frontProxy();

export function startAggregator(
  options: Partial<ApiServerOptions> = {},
): Promise<TestServer> {
  return startTestServer({
    ...options,
    aggregation: {
      proxyCertificate: proxyIdentity.client,
      ...options.aggregation,
    },
  });
}

export function startExtension(group: string): Promise<ExtensionTestServer> {
  return startExtensionServer({
    frontProxyAuthority: proxyIdentity.authority,
    group,
    service: "extension.default",
  });
}

export function apiService(
  group: string,
  port: number,
  spec: object = {},
  version = "v1",
): object {
  return {
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { namespace: "default", name: "extension", port },
      ...spec,
    },
  };
}

/** The service that all extensions of a test are behind. */
export async function createService({ call }: TestServer): Promise<void> {
  const { status } = await call("POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "extension" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  expect(status).toBe(201);
}

export async function condition(
  { call }: TestServer,
  name: string,
): Promise<Json> {
  const { body } = await call("GET", `${apiServices}/${name}`);
  return body.status?.conditions?.[0];
}

/** Registers, and waits until the extension is available. */
export async function register(
  server: TestServer,
  extension: ExtensionTestServer,
  group: string,
): Promise<void> {
  const caBundle = Buffer.from(extension.authority).toString("base64");
  const created = await server.call(
    "POST",
    apiServices,
    apiService(group, extension.port, { caBundle }),
  );
  expect(created.status).toBe(201);
  await eventually(
    async () => (await condition(server, `v1.${group}`))?.status === "True",
    { what: `v1.${group} available` },
  );
}
