// The life of a ConfigMap: what is answered to each verb, friendly and hostile.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

export const configMaps: Scenario = {
  name: "config-maps",
  async run({ namespace, call }) {
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("create", "POST", all, {
      body: { metadata: { name: "a" }, data: { k: "v" } },
    });
    await call("create again", "POST", all, {
      body: { metadata: { name: "a" } },
    });
    await call("create without a name", "POST", all, { body: {} });
    await call("create with a bad name and key", "POST", all, {
      body: { metadata: { name: "A_" }, data: { "a/b": "v" } },
    });
    await call("get", "GET", `${all}/a`);
    await call("get what is not there", "GET", `${all}/none`);
    await call("list", "GET", all);
    await call("list as a table", "GET", all, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      // The last cell is the age.
      keep: ({ rows, ...rest }: Json) => ({
        ...rest,
        rows: rows.map(({ cells, ...row }: Json) => ({
          ...row,
          cells: cells.slice(0, -1),
        })),
      }),
    });
    await call("watch", "GET", `${all}?watch=1&resourceVersion=0`, {
      frames: 2,
      meanwhile: async () => {
        await call("update", "PUT", `${all}/a`, {
          body: { metadata: { name: "a" }, data: { k: "w" } },
        });
      },
    });
    await call("stale update", "PUT", `${all}/a`, {
      body: { metadata: { name: "a", resourceVersion: "1" } },
    });
    await call("generated name", "POST", all, {
      body: { metadata: { generateName: "g-" } },
    });
    await call("delete", "DELETE", `${all}/a`);
    await call("delete again", "DELETE", `${all}/a`);
  },
};
