// Tables: the columns of every kind, and the rows of objects in many states.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** `name:type/format+priority`, and whether there is a description. */
function columns(body: Json): Json {
  return body.columnDefinitions?.map(
    ({ name, type, format, priority, description }: Json) =>
      `${name}:${type}/${format}+${priority}${description ? "" : " without description"}`,
  ) as unknown;
}

export const tables: Scenario = {
  name: "tables",
  async run({ call }) {
    const { body } = await call("", "GET", "/apis", { silent: true });
    const versions = [
      "/api/v1",
      ...body.groups.flatMap((group: Json) =>
        group.versions.map((one: Json) => `/apis/${one.groupVersion}`),
      ),
    ];
    for (const version of versions) {
      const list = await call("", "GET", version, { silent: true });
      for (const { name, verbs } of list.body.resources)
        if (verbs.includes("list"))
          await call(
            `columns of ${version} ${name}`,
            "GET",
            `${version}/${name}?limit=1`,
            {
              headers: { accept },
              keep: columns,
            },
          );
    }
  },
};
