// What orbitctl finds by a word among what a server says it serves.
import type { CtlHttp } from "../../../cli/ctl/http.ts";
import { ResourceNames } from "../../../cli/ctl/resource-names.ts";

const named = (...names: string[]): object => ({
  resources: names.map((name) => ({
    ...{ name, kind: name.toUpperCase(), namespaced: true },
    verbs: ["get"],
  })),
});

test("a resource that only another version than the preferred one has is found", async () => {
  const v1 = { groupVersion: "shop.test/v1" };
  const v1alpha1 = { groupVersion: "shop.test/v1alpha1" };
  const bodies: Record<string, object> = {
    "/apis": {
      groups: [{ versions: [v1alpha1, v1], preferredVersion: v1 }],
    },
    "/api/v1": named(),
    "/apis/shop.test/v1": named("orders"),
    "/apis/shop.test/v1alpha1": named("orders", "carts"),
  };
  const names = new ResourceNames({
    json: ({ path }: { path: string }) => Promise.resolve(bodies[path]),
  } as unknown as CtlHttp);
  expect(await names.byWord("carts")).toMatchObject({ version: "v1alpha1" });
  expect(await names.byWord("orders")).toMatchObject({ version: "v1" });
  expect(await names.discovered()).toHaveLength(2);
});
