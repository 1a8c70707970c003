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

test("the series of a resource end with it, and with nothing else", () => {
  const metrics = new RequestMetrics();
  const finished = (target: string, status = 200): void =>
    metrics.finished(infoOf("GET", target), status, performance.now());
  const others = [
    "/apis/a.io/v2/things",
    "/apis/b.io/v1/things",
    "/api/v1/pods",
  ];
  for (const target of others) finished(target);
  // More than are found without their keys.
  for (let at = 0; at < 50; at++) finished(`/apis/a.io/v1/things/x/s${at}`);
  const over = metrics.began(infoOf("GET", "/apis/a.io/v1/things?watch=1"));
  metrics.forget("a.io", "v1", "things");
  expect(Object.keys(recorded(metrics))).toEqual([
    "LIST a.io v2 things  cluster 200",
    "LIST b.io v1 things  cluster 200",
    "LIST  v1 pods  cluster 200",
  ]);
  over!();
  finished("/apis/a.io/v1/things");
  expect(recorded(metrics)["LIST a.io v1 things  cluster 200"]).toBe(1);
  expect(recorded(metrics)["LIST a.io v2 things  cluster 200"]).toBe(1);
});

test("requests for what is not there leave no series", () => {
  const metrics = new RequestMetrics(({ resource }) => resource === "pods");
  for (let at = 0; at < 100; at++) {
    metrics.finished(infoOf("GET", `/api/v1/r${at}`), 404, performance.now());
    metrics.finished(infoOf("GET", `/path${at}`), 403, performance.now());
    expect(metrics.began(infoOf("GET", `/api/v1/r${at}?watch=1`))).toBe(
      undefined,
    );
  }
  metrics.finished(infoOf("GET", "/api/v1/pods"), 403, performance.now());
  metrics.finished(infoOf("GET", "/healthz"), 200, performance.now());
  metrics.finished(infoOf("GET", "/healthz"), 500, performance.now());
  expect(Object.keys(recorded(metrics))).toEqual([
    "LIST  v1 pods  cluster 403",
    "GET    /healthz  200",
    "GET    /healthz  500",
  ]);
});

test("the answers to reads are counted by their bytes, others are not", () => {
  const metrics = new RequestMetrics();
  const pod = "/api/v1/namespaces/a/pods/x";
  metrics.finished(infoOf("GET", pod), 200, performance.now(), 1500);
  metrics.finished(infoOf("PUT", pod), 200, performance.now(), 1500);
  // Within the process nothing is sent.
  metrics.finished(infoOf("GET", `${pod}/log`), 200, performance.now());
  const sizes = metrics
    .families()
    .find(({ name }) => name === "apiserver_response_sizes")!;
  const samples = [...sizes.samples()];
  expect(new Set(samples.map(({ labels }) => labels["verb"]))).toEqual(
    new Set(["GET"]),
  );
  expect(samples.find(({ suffix }) => suffix === "_sum")!.value).toBe(1500);
  expect(samples.filter(({ suffix }) => suffix === "_sum")).toHaveLength(1);
});

test("a deprecated version is shown once it was asked for", () => {
  const metrics = new RequestMetrics(
    () => true,
    ({ version }) => version === "v1beta1",
  );
  const shown = (): object[] =>
    metrics
      .families()
      .filter(({ name }) => name === "apiserver_requested_deprecated_apis")
      .flatMap((family) => [...family.samples()].map(({ labels }) => labels));
  metrics.finished(infoOf("GET", "/apis/g.io/v1/things"), 200, 0);
  expect(shown()).toEqual([]);
  for (const verb of ["GET", "POST"])
    metrics.finished(infoOf(verb, "/apis/g.io/v1beta1/things"), 200, 0);
  expect(shown()).toEqual([
    {
      group: "g.io",
      version: "v1beta1",
      resource: "things",
      subresource: "",
      removed_release: "",
    },
  ]);
});

test("requests that the server gives up are counted by their status", () => {
  const metrics = new RequestMetrics();
  const info = infoOf("GET", "/api/v1/pods");
  metrics.terminated(info, 429);
  metrics.terminated(info, 429);
  metrics.terminated(info, 504);
  const family = metrics
    .families()
    .find(({ name }) => name === "apiserver_request_terminations_total")!;
  expect(
    [...family.samples()].map(({ labels, value }) => [
      ...[labels["verb"], labels["resource"], labels["code"], value],
    ]),
  ).toEqual([
    ["LIST", "pods", "429", 2],
    ["LIST", "pods", "504", 1],
  ]);
});
