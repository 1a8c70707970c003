// Watches: where they start, sendInitialEvents, bookmarks, what is refused, the time they end, objects that enter and
// leave a selector, single objects and the old /watch/ paths.
import { createBrief } from "../brief.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

export const watching: Scenario = {
  name: "watching",
  async run({ namespace, call }) {
    const brief = createBrief();
    // Bookmarks come when the time is right; only the one after the initial state can be waited for.
    const keep = (body: Json): unknown => {
      const kept = brief.keep(body);
      return Array.isArray(kept)
        ? kept.filter((frame) => !/^BOOKMARK \S+ @\S+$/.test(String(frame)))
        : kept;
    };
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    const write = async (
      method: string,
      name: string,
      l: string,
    ): Promise<string> => {
      const answer = await call(
        "",
        method,
        method === "POST" ? all : `${all}/${name}`,
        { silent: true, body: { metadata: { name, labels: { l } } } },
      );
      return answer.body.metadata.resourceVersion as string;
    };
    const first = await write("POST", "a", "x");
    brief.name(first, "first");
    brief.name(await write("POST", "b", "y"), "second");
    brief.name(await write("PUT", "a", "y"), "third");
    const present = await write("PUT", "b", "x");
    brief.name(present, "present");
    const future = String(Number(present) + 1_000_000);
    brief.name(future, "future");

    const query = (parts: Record<string, string | undefined>): string =>
      Object.entries(parts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `&${name}=${value}`)
        .join("");
    // All cells at once: most of them last a second.
    const cells: Promise<unknown>[] = [];
    const ask = (label: string, parts: Record<string, string | undefined>) =>
      cells.push(
        call(label, "GET", `${all}?watch=1&timeoutSeconds=1${query(parts)}`, {
          keep,
          frames: 20,
        }),
      );
    for (const [label, resourceVersion] of Object.entries({
      unset: undefined,
      empty: "",
      zero: "0",
      first,
      present,
      future,
      bad: "abc",
    }))
      for (const sendInitialEvents of [undefined, "true", "false"])
        for (const resourceVersionMatch of [undefined, "NotOlderThan", "Exact"])
          for (const allowWatchBookmarks of [undefined, "true"]) {
            // A refusal does not depend on bookmarks.
            if (allowWatchBookmarks && resourceVersionMatch === "Exact")
              continue;
            if (
              label === "future" &&
              sendInitialEvents === undefined &&
              allowWatchBookmarks
            )
              continue;
            const fails =
              label === "bad" &&
              (resourceVersionMatch === "NotOlderThan") ===
                (sendInitialEvents !== undefined) &&
              (sendInitialEvents !== undefined || !resourceVersionMatch);
            ask(
              `${fails ? "500: " : ""}${label}, ${resourceVersionMatch}, sendInitialEvents ${sendInitialEvents}, bookmarks ${allowWatchBookmarks}`,
              {
                resourceVersion,
                sendInitialEvents,
                resourceVersionMatch,
                allowWatchBookmarks,
              },
            );
          }
    await Promise.all(cells.splice(0));
    for (const value of [
      "",
      "0",
      "1",
      "2",
      "t",
      "T",
      "TRUE",
      "True",
      "False",
      "false",
      "no",
      "yes",
    ]) {
      ask(`allowWatchBookmarks=${value}`, {
        allowWatchBookmarks: value,
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
      });
      ask(`sendInitialEvents=${value}`, {
        allowWatchBookmarks: "true",
        sendInitialEvents: value,
        resourceVersionMatch: "NotOlderThan",
      });
      cells.push(
        call(
          `watch=${value}`,
          "GET",
          `${all}?watch=${value}&timeoutSeconds=1`,
          {
            keep: (body) =>
              Array.isArray(body) && body[0]?.kind ? "a list" : keep(body),
            frames: 20,
          },
        ),
      );
    }
    for (const limit of ["1", "0", "x"]) ask(`limit ${limit}`, { limit });
    for (const token of ["x", ""])
      ask(`continue ${token}`, { continue: token });
    for (const [label, selector] of Object.entries({
      "label selector": "labelSelector=l%3Dx",
      "field selector": "fieldSelector=metadata.name%3Da",
      "unknown field": "fieldSelector=spec.x%3Da",
      "bad label selector": "labelSelector=!!",
      "bad field selector": "fieldSelector=a",
    }))
      cells.push(
        call(
          `from state: ${label}`,
          "GET",
          `${all}?watch=1&timeoutSeconds=1&${selector}`,
          { keep, frames: 20 },
        ),
        call(
          `from history: ${label}`,
          "GET",
          `${all}?watch=1&timeoutSeconds=1&resourceVersion=${first}&${selector}`,
          { keep, frames: 20 },
        ),
      );
    for (const [label, path] of Object.entries({
      "one object's path": `${all}/a?watch=1`,
      "one object's path, none": `${all}/none?watch=1`,
      "one object's path with the selector": `${all}/a?watch=1&fieldSelector=metadata.name%3Da`,
      "one object's path with another selector": `${all}/a?watch=1&fieldSelector=metadata.name%3Db`,
      "old path of a namespace": `/api/v1/watch/namespaces/${namespace}/configmaps?`,
      "old path of one": `/api/v1/watch/namespaces/${namespace}/configmaps/a?`,
      "old path of one with the selector": `/api/v1/watch/namespaces/${namespace}/configmaps/a?fieldSelector=metadata.name%3Da`,
      "old path of one with another": `/api/v1/watch/namespaces/${namespace}/configmaps/a?fieldSelector=metadata.name%3Db`,
      "old path of all": `/api/v1/watch/configmaps?fieldSelector=metadata.namespace%3D${namespace}`,
      "old path with watch=0": `/api/v1/watch/namespaces/${namespace}/configmaps?watch=0`,
      "old path of a group": `/apis/apps/v1/watch/namespaces/${namespace}/deployments?`,
      "old path of a group's one": `/apis/apps/v1/watch/namespaces/${namespace}/deployments/a?`,
      "old path of a cluster kind": `/api/v1/watch/persistentvolumes?labelSelector=none`,
      "old path of one namespace": `/api/v1/watch/namespaces/${namespace}?`,
      "old path of nothing": `/api/v1/watch/nothings?`,
      "a subresource": `/api/v1/namespaces/${namespace}/status?watch=1`,
      "a namespace that is not there": `/api/v1/namespaces/none/configmaps?watch=1`,
      "empty collection": `/api/v1/namespaces/${namespace}/secrets?watch=1`,
    }))
      cells.push(
        call(`path: ${label}`, "GET", `${path}&timeoutSeconds=1`, {
          keep,
          frames: 20,
        }),
      );
    for (const timeoutSeconds of ["", "x", "1.5", "0", "9223372036854775808"])
      cells.push(
        call(
          `timeoutSeconds ${timeoutSeconds}`,
          "GET",
          `${all}?watch=1&timeoutSeconds=${timeoutSeconds}`,
          { keep, frames: 2 },
        ),
      );
    await Promise.all(cells.splice(0));

    // Entering, leaving, changing inside and outside of a selector.
    await call(
      "in and out",
      "GET",
      `${all}?watch=1&resourceVersion=${present}&labelSelector=l%3Dx`,
      {
        keep: (frames) =>
          frames.map(
            ({
              type,
              object,
            }: {
              type: string;
              object: { metadata: { name: string; labels: unknown } };
            }) => [type, object.metadata.name, object.metadata.labels],
          ),
        frames: 6,
        meanwhile: async () => {
          await write("PUT", "a", "z");
          await write("PUT", "a", "x");
          await call("", "PATCH", `${all}/a`, {
            silent: true,
            headers: { "content-type": "application/merge-patch+json" },
            body: { data: { k: "v" } },
          });
          await write("PUT", "a", "y");
          await call("", "DELETE", `${all}/a`, { silent: true });
          await call("", "DELETE", `${all}/b`, { silent: true });
          await write("POST", "c", "x");
          await write("PUT", "c", "x2");
        },
      },
    );
    await call(
      "as tables",
      "GET",
      `${all}?watch=1&resourceVersion=${present}`,
      {
        headers: { accept: table },
        frames: 3,
        keep: (frames) =>
          frames.map(
            ({
              type,
              object,
            }: {
              type: string;
              object: {
                columnDefinitions?: unknown[];
                rows: { cells: unknown[] }[];
              };
            }) => [
              type,
              object.columnDefinitions?.length,
              object.rows.map(({ cells: [name, data] }) => [name, data]),
            ],
          ),
      },
    );
    await call(
      "deleted frame's object",
      "GET",
      `${all}?watch=1&resourceVersion=${present}&fieldSelector=metadata.name%3Db`,
      {
        frames: 1,
        keep: ([{ type, object }]: Json) => [
          type,
          object.kind,
          object.apiVersion,
          Object.keys(object.metadata as object).sort(),
        ],
      },
    );
  },
};
