// Under which labels requests are recorded, whether they are found by their key or from what is known of their resource.
import { RequestMetrics } from "../../../../apiserver-lite/metrics/request-metrics.ts";
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";

const infoOf = (method: string, target: string) => {
  const [path, query] = target.split("?");
  return parseRequest(method, path!, new URLSearchParams(query));
};
/** How many requests were recorded under which labels. */
function recorded(metrics: RequestMetrics): Record<string, number> {
  const [requests] = metrics.families();
  const names = ["verb", "group", "version", "resource", "subresource"];
  const found: Record<string, number> = {};
  for (const { labels, value } of requests!.samples())
    found[[...names, "scope", "code"].map((name) => labels[name]).join(" ")] =
      value;
  return found;
}

test("requests that differ in one label are recorded apart", () => {
  const metrics = new RequestMetrics();
  const pod = "/api/v1/namespaces/a/pods/x";
  const requests = [
    ["GET", pod, "GET  v1 pods  resource"],
    ["PUT", pod, "PUT  v1 pods  resource"],
    ["DELETE", pod, "DELETE  v1 pods  resource"],
    ["GET", `${pod}/status`, "GET  v1 pods status resource"],
    ["GET", "/api/v1/namespaces/a/pods", "LIST  v1 pods  namespace"],
    ["GET", "/api/v1/pods", "LIST  v1 pods  cluster"],
    ["GET", "/apis/g.io/v1/pods", "LIST g.io v1 pods  cluster"],
    ["GET", "/apis/g.io/v2/pods", "LIST g.io v2 pods  cluster"],
    ["GET", "/healthz/ping", "GET    /healthz "],
  ] as const;
  const wanted: Record<string, number> = {};
  for (let round = 0; round < 3; round++)
    for (const [method, target, labels] of requests) {
      metrics.finished(infoOf(method, target), 200, performance.now());
      wanted[`${labels} 200`] = round + 1;
    }
  metrics.finished(infoOf("GET", pod), 404, performance.now());
  wanted["GET  v1 pods  resource 404"] = 1;
  expect(recorded(metrics)).toEqual(wanted);
});

test("a resource with many subresources is counted by each, up to the bound of all", () => {
  const metrics = new RequestMetrics();
  for (let round = 0; round < 2; round++)
    for (let at = 0; at < 6000; at++)
      metrics.finished(
        infoOf("GET", `/api/v1/namespaces/a/pods/x/s${at}`),
        404,
        performance.now(),
      );
  const counts = Object.values(recorded(metrics));
  expect(counts).toHaveLength(5000);
  expect(new Set(counts)).toEqual(new Set([2]));
});
