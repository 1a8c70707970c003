// Paths and methods beside the resources: health, version, metrics, what is not there, and odd ways to write them.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

export const paths: Scenario = {
  name: "paths",
  async run({ namespace, call }) {
    await call("", "POST", `/api/v1/namespaces/${namespace}/configmaps`, {
      body: { metadata: { name: "a" } },
      silent: true,
    });
    const brief = (body: Json): Json => {
      if (typeof body === "string") return body.slice(0, 300);
      // What checks there are is each server's own matter, and so is how it calls itself.
      if (body?.paths)
        return {
          paths: body.paths.filter(
            (path: string) => !/^\/(healthz|livez|readyz|debug)/.test(path),
          ),
        };
      if (body?.gitVersion) return Object.keys(body as object);
      if (body?.metadata?.managedFields) return { kind: body.kind };
      if (body?.items) return { ...body, items: body.items.length };
      return body as unknown;
    };
    for (const path of [
      "/",
      "/nothing",
      "/nothing/",
      "/apiz",
      "/index.html",
      "/favicon.ico",
      "/healthz",
      "/livez",
      "/readyz",
      "/healthz/",
      "/livez/",
      "/readyz/",
      "/healthz/ping",
      "/livez/ping",
      "/readyz/ping",
      "/healthz/ping/",
      "/healthz/etcd",
      "/livez/etcd",
      "/readyz/shutdown",
      "/livez/shutdown",
      "/readyz/informer-sync",
      "/healthz/log",
      "/healthz/nothing",
      "/healthz/poststarthook",
      "/healthz/poststarthook/rbac/bootstrap-roles",
      "/healthz/ping?verbose",
      "/healthz/ping?exclude=ping",
      "/healthz?exclude=ping",
      "/healthz?exclude=nothing",
      "/healthz?exclude=nothing&exclude=more",
      "/version/",
      "/version?pretty=1",
      "//",
      "//healthz",
      "/healthz//ping",
      "/./healthz",
      "/x/../healthz",
      "/%68ealthz",
      "/healthz%2fping",
      "/healthz?x=%zz",
      "/api/v1/namespaces/%zz",
      `//api/v1/namespaces/${namespace}/configmaps/a`,
      `/api//v1/namespaces/${namespace}/configmaps/a`,
      `/api/v1//namespaces/${namespace}/configmaps/a`,
      `/api/v1/namespaces//${namespace}/configmaps/a`,
      `/api/v1/namespaces/${namespace}//configmaps/a`,
      `/api/v1/namespaces/${namespace}/configmaps//a`,
      `/api/v1/namespaces/${namespace}/configmaps/a/`,
      `/api/v1/namespaces/${namespace}/configmaps/`,
      `/api/v1/namespaces/${namespace}/`,
      `/api/v1/namespaces/${namespace}/configmaps/../configmaps/a`,
      `/api/v1/namespaces/${namespace}/configmaps/./a`,
      `/api/v1/namespaces/${namespace}/configmaps/..`,
      `/api/v1/namespaces/${namespace}/configmaps/%2e%2e`,
      `/api/v1/namespaces/${namespace}/configmaps/a%2fb`,
      `/api/v1/namespaces/${namespace}/configmaps/%61`,
      `/api/v1/namespaces/${namespace}/configmaps/a%20b`,
      `/api/v1/namespaces/${namespace}/configmaps/a/status`,
      `/api/v1/namespaces/${namespace}/configmaps/a/b/c`,
      `/api/v1/namespaces/${namespace}/configmaps?x=%zz`,
      `/api/v1/namespaces/${namespace}/configmaps?limit=%zz`,
      `/api/v1/namespaces/${namespace}/configmaps/a?a;b`,
      `/api/v1/configmaps/a`,
      `/api/v1/nodes/none/`,
      `/api/v1/namespaces/${namespace}/nodes`,
      `/api/v1/namespaces/${namespace}/nodes/a`,
      "/metrics/",
      "/metrics/nothing",
      "/logs",
      "/logs/",
      "/debug/pprof",
      "/configz",
      "/statusz",
      "/flagz",
      "/swagger.json",
      "/swagger-ui/",
      "/openapi",
      "/openapi/",
      "/openapi/v1",
      "/openapi/v3/",
      "/openapi/v3/nothing",
      "/openapi/v3/apis/none.example/v1",
      "/.well-known/",
      "/.well-known/nothing",
      "/openid",
      "/openid/v1",
      "/ui",
      "/.",
      "/..",
    ])
      await call(`GET ${path}`, "GET", path, { keep: brief });
    const object = `/api/v1/namespaces/${namespace}/configmaps/a`;
    for (const method of [
      "HEAD",
      "OPTIONS",
      "TRACE",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "PROPFIND",
      "LOCK",
    ])
      for (const path of [
        "/",
        "/nothing",
        "/healthz",
        "/livez/ping",
        "/version",
        // DELETE resets the metrics.
        ...(method === "DELETE" ? [] : ["/metrics"]),
        "/openapi/v2",
        "/openapi/v3",
        "/.well-known/openid-configuration",
        ...(method === "DELETE" || method === "PATCH" || method === "PUT"
          ? []
          : [
              object,
              `/api/v1/namespaces/${namespace}/configmaps`,
              "/api/v1/nothings",
              "/api/v1/nodes/none",
            ]),
      ])
        await call(`${method} ${path}`, method, path, {
          keep: (body) =>
            path === "/metrics" || path.startsWith("/openapi")
              ? undefined
              : brief(body),
        });
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
      for (const path of [
        "/api/v1/componentstatuses",
        "/api/v1/namespaces/ref-paths/pods/none/log",
        "/api/v1/namespaces/ref-paths/pods/none/status",
        "/api/v1/namespaces/ref-paths/bindings",
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        "/api/v1/namespaces",
        "/apis/apps/v1/deployments",
        "/api/v1/namespaces/ref-paths/configmaps/",
      ])
        await call(`${method} ${path}`, method, path, {
          body: "{}",
          headers: { "content-type": "application/json" },
        });
  },
};
