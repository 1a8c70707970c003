// Every cell of the resourceVersion tables: get, list and deletecollection with versions old, present, future and bad,
// with each resourceVersionMatch, limit and continue.
import { createBrief } from "../brief.ts";
import type { Scenario } from "../scenario.ts";

const matches = [undefined, "", "Exact", "NotOlderThan", "exact"];

export const readVersions: Scenario = {
  name: "read-versions",
  async run({ namespace, call }) {
    const brief = createBrief();
    const { keep } = brief;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    const make = async (name: string): Promise<string> => {
      const made = await call("", "POST", all, {
        silent: true,
        body: { metadata: { name, labels: { l: name } } },
      });
      return made.body.metadata.resourceVersion as string;
    };
    const first = await make("a");
    brief.name(first, "first");
    const second = await make("b");
    brief.name(second, "second");
    const third = await make("c");
    brief.name(third, "third");
    const changed = await call("", "PUT", `${all}/a`, {
      silent: true,
      body: { metadata: { name: "a", labels: { l: "changed" } } },
    });
    const present = changed.body.metadata.resourceVersion as string;
    brief.name(present, "present");
    const future = String(Number(present) + 1_000_000);
    brief.name(future, "future");
    const page = await call("first page", "GET", `${all}?limit=1`, { keep });
    const token = page.body.metadata.continue as string;

    const versions: Record<string, string | undefined> = {
      unset: undefined,
      empty: "",
      zero: "0",
      first,
      second,
      present,
      "-1": "-1",
      abc: "abc",
      "00": "00",
      "2^63": "9223372036854775808",
      "2^64": "18446744073709551616",
    };
    const query = (parts: Record<string, string | undefined>): string =>
      Object.entries(parts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${value}`)
        .join("&");

    // Some cells the reference answers with 500; Orbit's deviations are told by these labels.
    const fails = (bad: boolean): string => (bad ? "500: " : "");
    for (const [label, resourceVersion] of Object.entries(versions)) {
      const bad =
        resourceVersion !== undefined && !/^\d{0,19}$/.test(resourceVersion);
      // Above the largest version an answer takes three seconds: asked once, below.
      if (label === "2^63") continue;
      await call(
        `${fails(bad)}get ${label}`,
        "GET",
        `${all}/a?${query({ resourceVersion })}`,
        { keep },
      );
      await call(
        `${fails(bad)}get none ${label}`,
        "GET",
        `${all}/none?${query({ resourceVersion })}`,
        { keep },
      );
      // One bad version is asked for in every cell, the others in the main ones.
      const some = bad && label !== "abc";
      for (const resourceVersionMatch of matches.slice(0, some ? 1 : undefined))
        for (const [paging, parts] of Object.entries({
          plain: {},
          "limit 1": { limit: "1" },
          "limit 10": { limit: "10" },
          "continue and limit 1": { continue: token, limit: "1" },
          continue: { continue: token },
        }))
          await call(
            `${fails(bad && (resourceVersionMatch === "NotOlderThan" ? !("continue" in parts) : !resourceVersionMatch && paging === "plain"))}list ${label}, ${resourceVersionMatch}, ${paging}`,
            "GET",
            `${all}?${query({ resourceVersion, resourceVersionMatch, ...parts })}`,
            { keep },
          );
      for (const resourceVersionMatch of matches.slice(0, some ? 1 : undefined))
        await call(
          `${fails(bad && resourceVersionMatch === "NotOlderThan")}deletecollection ${label}, ${resourceVersionMatch}`,
          "DELETE",
          `${all}?${query({ resourceVersion, resourceVersionMatch, labelSelector: "l=none" })}`,
          { keep },
        );
    }
    for (const limit of [
      "",
      "0",
      "-1",
      "abc",
      "9223372036854775807",
      "9223372036854775808",
      "-9223372036854775809",
    ])
      for (const [label, resourceVersion] of Object.entries({
        unset: undefined,
        zero: "0",
        second,
      }))
        await call(
          `limit ${limit} at ${label}`,
          "GET",
          `${all}?${query({ limit, resourceVersion })}`,
          { keep },
        );
    await Promise.all([
      call("get future", "GET", `${all}/a?resourceVersion=${future}`, { keep }),
      call("get none future", "GET", `${all}/none?resourceVersion=${future}`, {
        keep,
      }),
      call("get 2^63", "GET", `${all}/a?resourceVersion=9223372036854775808`, {
        keep,
      }),
      call("list 2^63", "GET", `${all}?resourceVersion=9223372036854775808`, {
        keep,
      }),
      ...matches.flatMap((resourceVersionMatch) => [
        ...[undefined, "1"].map((limit) =>
          call(
            `${fails(resourceVersionMatch === "Exact" || (!resourceVersionMatch && limit !== undefined))}list future, ${resourceVersionMatch}, limit ${limit}`,
            "GET",
            `${all}?${query({ resourceVersion: future, resourceVersionMatch, limit })}`,
            { keep },
          ),
        ),
        call(
          `${fails(resourceVersionMatch === "Exact")}list one by name at future, ${resourceVersionMatch}`,
          "GET",
          `${all}?${query({ resourceVersion: future, resourceVersionMatch, fieldSelector: "metadata.name=a" })}`,
          { keep },
        ),
        call(
          `${fails(!resourceVersionMatch || resourceVersionMatch === "Exact")}deletecollection future, ${resourceVersionMatch}`,
          "DELETE",
          `${all}?${query({ resourceVersion: future, resourceVersionMatch, labelSelector: "l=none" })}`,
          { keep },
        ),
      ]),
    ]);
  },
};
