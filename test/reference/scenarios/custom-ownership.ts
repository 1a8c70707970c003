// Who owns what of a custom resource with several versions, of which one alone has defaults; and what a deprecated version
// warns of where it has no such place.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const group = "own.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };

const schema = (defaults: boolean): Json => ({
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        ...(defaults ? { default: {} } : {}),
        properties: {
          x: { type: "integer", ...(defaults ? { default: 1 } : {}) },
          y: { type: "integer" },
        },
      },
    },
  },
});

const definition: Json = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `owns.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "owns", kind: "Own" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        subresources: { status: {} },
        schema: schema(true),
      },
      {
        ...{ name: "v1beta1", served: true, storage: false, deprecated: true },
        subresources: { status: {} },
        schema: schema(false),
      },
    ],
  },
};

async function served(server: Server, path: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const { status } = await server.call("until", "GET", path, {
      silent: true,
    });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} is not served`);
}

export const customOwnership: Scenario = {
  name: "custom-ownership",
  async run(server) {
    const { call, namespace } = server;
    await call("define", "POST", definitions, { ...plain, body: definition });
    const at = (version: string): string =>
      `/apis/${group}/${version}/namespaces/${namespace}/owns`;
    const own = (version: string, name: string, spec?: Json): Json => ({
      apiVersion: `${group}/${version}`,
      kind: "Own",
      metadata: { name },
      ...(spec ? { spec } : {}),
    });
    const old = at("v1beta1");
    await served(server, at("v1"));
    await served(server, old);
    for (const [name, spec] of [
      ["one", { y: 2 }],
      ["two", { x: 3, y: 2 }],
      ["three", undefined],
    ] as const) {
      await call(`create ${name} by the older version`, "POST", old, {
        body: own("v1beta1", name, spec),
      });
      await call(`get ${name}`, "GET", `${at("v1")}/${name}`, plain);
    }
    const { body: live } = await call("get to put", "GET", `${old}/one`, {
      silent: true,
    });
    await call("put without it", "PUT", `${old}/one`, {
      body: { ...live, spec: { y: 5 } },
    });
    await call("put with it", "PUT", `${old}/two`, {
      body: own("v1beta1", "two", { x: 7 }),
    });
    await call("merge patch", "PATCH", `${old}/one`, {
      body: { spec: { y: 3 } },
      headers: merge,
    });
    await call("apply", "PATCH", `${old}/four?fieldManager=me`, {
      body: own("v1beta1", "four", { y: 1 }),
      headers: apply,
    });
    await call("apply again", "PATCH", `${old}/four?fieldManager=me`, {
      body: own("v1beta1", "four"),
      headers: apply,
    });
    await call("create by the stored version", "POST", at("v1"), {
      body: own("v1", "five", { y: 2 }),
    });
    const me = "fieldManager=me&fieldValidation=Ignore";
    for (const name of ["five", "six"])
      for (const time of ["once", "twice"])
        await call(
          `apply what is dropped to ${name} ${time}`,
          "PATCH",
          `${at("v1")}/${name}?${me}`,
          {
            body: own("v1", name, { none: 2 }),
            headers: apply,
          },
        );
    await call("status of none", "GET", `${old}/none/status`);
    await call("no such subresource", "GET", `${old}/one/scale`);
    await call("no such method", "DELETE", `${old}/one/status`);
    await call("gone", "DELETE", `${definitions}/owns.${group}`, {
      silent: true,
    });
  },
};
