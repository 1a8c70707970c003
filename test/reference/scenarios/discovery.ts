// What a server says it serves: groups, versions, resources in every form of discovery, and paths that are none.
import { createHash } from "node:crypto";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const aggregated = (version: string): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

function digest(body: Json): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("hex");
}

export const discovery: Scenario = {
  name: "discovery",
  async run({ call }) {
    const address = (body: Json): Json => {
      delete body.serverAddressByClientCIDRs?.[0]?.serverAddress;
      return body as unknown;
    };
    await call("/api", "GET", "/api", { keep: address });
    const groups = await call("/apis", "GET", "/apis");
    await call("/api/v1", "GET", "/api/v1");
    for (const { name, versions } of groups.body.groups) {
      await call(`/apis/${name}`, "GET", `/apis/${name}`);
      for (const { groupVersion } of versions)
        await call(`/apis/${groupVersion}`, "GET", `/apis/${groupVersion}`);
    }
    for (const root of ["/api", "/apis"])
      for (const version of ["v2", "v2beta1"]) {
        const headers = { accept: aggregated(version) };
        const first = await call(`${root} in ${version}`, "GET", root, {
          headers,
          // The older form differs in its version only.
          ...(version === "v2" ? {} : { keep: digest }),
        });
        await call(`${root} in ${version} again`, "GET", root, {
          headers: {
            ...headers,
            "if-none-match": String(first.headers["etag"]),
          },
        });
        await call(`${root} in ${version} with another tag`, "GET", root, {
          headers: { ...headers, "if-none-match": '"x"' },
          keep: (body) => body.kind,
        });
      }
    for (const accept of [
      `${aggregated("v2")},${aggregated("v2beta1")},application/json`,
      `${aggregated("v2beta1")},${aggregated("v2")},application/json`,
      `application/json,${aggregated("v2")}`,
      `application/json;q=0.9,${aggregated("v2")};q=0.8`,
      `${aggregated("v1")},application/json`,
      aggregated("v1"),
      "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
      "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscovery",
      "application/vnd.kubernetes.protobuf",
      "text/html",
    ])
      await call(`/apis for ${accept}`, "GET", "/apis", {
        headers: { accept },
        keep: (body) =>
          body.base64
            ? "binary"
            : typeof body === "string"
              ? body.split("\n", 3)
              : [body.kind, body.apiVersion, body.message ?? ""],
      });
    for (const path of [
      "/api/",
      "/api/v1/",
      "/api/v2",
      "/apis/",
      "/apis/apps/",
      "/apis/apps/v1/",
      "/apis/none.example",
      "/apis/none.example/v1",
      "/apis/apps/v9",
      "/apis/apps/v1/nothings",
      "/api/v1/nothings",
      "/apis/apps//v1",
      "/openapi/v2/",
      "/.well-known/openid-configuration",
      "/openid/v1/jwks",
    ])
      await call(`GET ${path}`, "GET", path, {
        keep: (body) =>
          body.keys
            ? Object.keys(body.keys[0]).sort()
            : typeof body === "string"
              ? body
              : [body.kind ?? "", body.message ?? Object.keys(body)],
      });
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
      for (const path of [
        "/api",
        "/apis",
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/version",
      ])
        await call(`${method} ${path}`, method, path);
  },
};
