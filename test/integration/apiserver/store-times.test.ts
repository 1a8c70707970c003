// What /metrics says of writes into the store.
import { StoreError } from "../../../storage/store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

let server: TestServer;
let broken = false;
beforeAll(async () => {
  const store = createMemoryStore();
  const write = store.write.bind(store);
  store.write = (op) =>
    broken
      ? Promise.reject(new StoreError("full", "no space left on device"))
      : write(op);
  server = await startTestServer({ store });
});
afterAll(() => server.stop());

test("writes by operation and resource, and those that the store could not make", async () => {
  await server.call("POST", configMaps, configMap("a"));
  // It finds what is there, and writes nothing.
  await server.call("POST", configMaps, configMap("a"));
  const merge = { "content-type": "application/merge-patch+json" };
  const change = { data: { a: "changed" } };
  await server.call("PATCH", `${configMaps}/a`, change, merge);
  await server.call("DELETE", `${configMaps}/a`);
  broken = true;
  expect(
    (await server.call("POST", configMaps, configMap("b"))).status,
  ).toBeGreaterThanOrEqual(500);
  broken = false;
  await server.call(
    "POST",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    { metadata: { name: "a" }, spec: {} },
  );
  const text = await (await fetch(`${server.url}/metrics`)).text();
  for (const line of [
    'etcd_requests_total{operation="update",type="configmaps"} 1',
    'etcd_requests_total{operation="delete",type="configmaps"} 1',
    'etcd_requests_total{operation="create",type="leases.coordination.k8s.io"} 1',
    'etcd_request_errors_total{operation="create",type="configmaps"} 1',
    'etcd_request_duration_seconds_count{operation="delete",type="configmaps"} 1',
  ])
    expect(text).toContain(`${line}\n`);
  expect(text).not.toContain('etcd_request_errors_total{operation="update"');
});
