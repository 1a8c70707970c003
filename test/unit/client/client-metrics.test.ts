// What a client asked is counted by code, method and host: over HTTP each try, within the process each call.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errors } from "../../../api/errors.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { ClientMetrics } from "../../../client/metrics/client-metrics.ts";
import { countedTransport } from "../../../client/metrics/counted-transport.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import type { ApiRequest, Transport } from "../../../client/transport.ts";

const resource = { group: "", version: "v1", resource: "pods" };
const get: ApiRequest = { verb: "get", resource, namespace: "a", name: "p" };

test("over HTTP each try counts, and one that gets no answer", async () => {
  const codes = [429, 200, 404];
  const server = createServer((_, response) => {
    const code = codes.shift() ?? 200;
    response.writeHead(code, {
      "content-type": "application/json",
      ...(code === 429 ? { "retry-after": "0" } : {}),
    });
    response.end("{}");
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve()),
  );
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const metrics = new ClientMetrics();
  const transport = createHttpTransport({
    server: `http://${host}`,
    metrics,
    rateLimit: { qps: 100, burst: 100 },
  });
  await transport.request(get);
  await expect(transport.request(get)).rejects.toThrow();
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const gone = createHttpTransport({ server: `http://${host}`, metrics });
  await expect(gone.request({ ...get, verb: "delete" })).rejects.toThrow();
  await gone.close();
  const text = metricsText(metrics.families());
  for (const line of [
    `rest_client_requests_total{code="429",host="${host}",method="GET"} 1`,
    `rest_client_requests_total{code="200",host="${host}",method="GET"} 1`,
    `rest_client_requests_total{code="404",host="${host}",method="GET"} 1`,
    `rest_client_requests_total{code="<error>",host="${host}",method="DELETE"} 1`,
    `rest_client_request_duration_seconds_count{host="${host}",verb="GET"} 3`,
    // Each try: the first waits for its turn, what is sent again does not.
    `rest_client_rate_limiter_duration_seconds_count{host="${host}",verb="GET"} 2`,
    `rest_client_request_retries_total{code="429",host="${host}",verb="GET"} 1`,
    `rest_client_request_size_bytes_sum{host="${host}",verb="GET"} 0`,
    `rest_client_response_size_bytes_sum{host="${host}",verb="GET"} 6`,
  ])
    expect(text).toContain(`${line}\n`);
});

test("within the process each call counts, with the code that HTTP would have", async () => {
  const metrics = new ClientMetrics();
  const inner: Transport = {
    request: ({ verb }) =>
      verb === "delete"
        ? Promise.reject(errors.notFound({ group: "", resource: "pods" }, "p"))
        : Promise.resolve({ metadata: { name: "p" } }),
    watch: () => {
      throw new Error("is not counted here");
    },
    raw: () => Promise.resolve({ status: 503, body: "" }),
    close: () => Promise.resolve(),
  };
  const transport = countedTransport(inner, metrics);
  expect(transport.cache).toBeUndefined();
  await transport.request(get);
  await transport.request({ ...get, verb: "create" });
  await expect(
    transport.request({ ...get, verb: "delete" }),
  ).rejects.toMatchObject({ code: 404 });
  await transport.raw("get", "/readyz");
  const text = metricsText(metrics.families());
  for (const line of [
    'rest_client_requests_total{code="200",host="in-process",method="GET"} 1',
    'rest_client_requests_total{code="201",host="in-process",method="POST"} 1',
    'rest_client_requests_total{code="404",host="in-process",method="DELETE"} 1',
    'rest_client_requests_total{code="503",host="in-process",method="GET"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});
