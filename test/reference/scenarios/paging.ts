// Pages: their constant version, remainingItemCount, selectors, and tokens forged or used elsewhere.
import { createBrief } from "../brief.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

function token(parts: unknown): string {
  return Buffer.from(
    typeof parts === "string" ? parts : JSON.stringify(parts),
  ).toString("base64url");
}

export const paging: Scenario = {
  name: "paging",
  async run({ namespace, call }) {
    const brief = createBrief();
    const { keep } = brief;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    let last = "";
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) {
      const made = await call("", "POST", all, {
        silent: true,
        body: {
          metadata: { name, labels: { odd: String("aceg".includes(name)) } },
        },
      });
      last = made.body.metadata.resourceVersion as string;
    }
    const pages = async (label: string, query: string): Promise<void> => {
      let next: string | undefined;
      let at = "";
      for (let number = 1; number < 9; number++) {
        const page = await call(
          `${label} page ${number}`,
          "GET",
          `${all}?${query}${next ? `&continue=${next}` : ""}`,
          {
            keep: (body) => ({
              ...(keep(body) as object),
              sameVersion: at === "" || body.metadata?.resourceVersion === at,
              at: undefined,
              token: String((keep(body) as Json).token).replace(/ at .*/, ""),
            }),
          },
        );
        at ||= page.body.metadata?.resourceVersion as string;
        next = page.body.metadata?.continue as string | undefined;
        if (!next) break;
        // What is written between pages is not seen.
        if (number === 1) {
          await call("", "POST", all, {
            silent: true,
            body: { metadata: { name: "z" } },
          });
          await call("", "DELETE", `${all}/e`, { silent: true });
        }
      }
      await call("", "DELETE", `${all}/z`, { silent: true });
      await call("", "POST", all, {
        silent: true,
        body: { metadata: { name: "e", labels: { odd: "true" } } },
      });
    };
    await pages("three a page", "limit=3");
    await pages("exactly all", "limit=7");
    await pages("all but one", "limit=6");
    await pages("more than all", "limit=100");
    await pages("label selector", "limit=1&labelSelector=odd%3Dtrue");
    await pages("field selector", "limit=2&fieldSelector=metadata.name!%3Db");
    await pages("one by name", "limit=1&fieldSelector=metadata.name%3Db");
    await pages("none", "limit=1&labelSelector=x");
    await pages("from any version", "limit=3&resourceVersion=0");
    await pages("exact", `limit=3&resourceVersion=${last}`);

    const page = await call("", "GET", `${all}?limit=2`, { silent: true });
    const good = page.body.metadata.continue as string;
    const rv = Number(page.body.metadata.resourceVersion);
    brief.name(String(rv), "page");
    brief.name(String(rv + 1_000_000), "future");
    const start = "b\u0000";
    const v = "meta.k8s.io/v1";
    const forged: Record<string, string> = {
      "not base64": "@@@",
      "one character": "a",
      "padded base64": Buffer.from(
        JSON.stringify({ v, rv: 1, start }),
      ).toString("base64"),
      "no JSON": token("hello"),
      "JSON null": token("null"),
      "a JSON list": token("[]"),
      "a JSON string": token('"x"'),
      "cut JSON": token('{"v":"meta.k8s.io/v1"'),
      "empty object": token({}),
      "other version": token({ v: "meta.k8s.io/v2", rv, start }),
      "no version": token({ rv, start }),
      "numeric version": token({ v: 1, rv, start }),
      "no rv": token({ v, start }),
      "rv 0": token({ v, rv: 0, start }),
      "rv -1": token({ v, rv: -1, start }),
      "rv -2": token({ v, rv: -2, start }),
      "rv 1.5": token({ v, rv: 1.5, start }),
      "rv as a text": token({ v, rv: String(rv), start }),
      "rv in the future": token({ v, rv: rv + 1_000_000, start }),
      "rv too large": token(
        `{"v":"${v}","rv":9223372036854775808,"start":"b"}`,
      ),
      "no start": token({ v, rv }),
      "empty start": token({ v, rv, start: "" }),
      "absolute start": token({ v, rv, start: "/b" }),
      "start with dots": token({ v, rv, start: "../b" }),
      "start with dots within": token({ v, rv, start: "a/../../b" }),
      "start with a dot": token({ v, rv, start: "./b" }),
      "numeric start": token({ v, rv, start: 1 }),
      "start without NUL": token({ v, rv, start: "b" }),
      "start with double slash": token({ v, rv, start: "b//c" }),
      "start after all": token({ v, rv, start: "zzz" }),
      "start of a directory": token({ v, rv, start: "b/" }),
      "other fields": token({ v, rv, start, more: 1 }),
      "upper case fields": token({ V: v, RV: rv, START: start }),
      "trailing data": token(`{"v":"${v}","rv":${rv},"start":"b"}x`),
      "a long one": "A".repeat(6000),
    };
    for (const [label, text] of Object.entries(forged))
      await call(
        `${label === "rv in the future" ? "500: " : ""}forged: ${label}`,
        "GET",
        `${all}?limit=2&continue=${encodeURIComponent(text)}`,
        { keep },
      );
    for (const [label, path] of Object.entries({
      "other resource": `/api/v1/namespaces/${namespace}/secrets?limit=2`,
      "all namespaces": `/api/v1/configmaps?limit=1&labelSelector=odd`,
      "other namespace": `/api/v1/namespaces/none/configmaps?limit=2`,
      "other limit": `${all}?limit=4`,
      "no limit": `${all}?limit=0`,
      "other selector": `${all}?limit=2&labelSelector=odd%3Dtrue`,
      "by name": `${all}?limit=2&fieldSelector=metadata.name%3Dd`,
      "by the name before": `${all}?limit=2&fieldSelector=metadata.name%3Da`,
      "cluster kind": `/api/v1/persistentvolumes?limit=2`,
      watch: `${all}?watch=1&timeoutSeconds=1`,
      "version 0": `${all}?resourceVersion=0`,
      "version 1": `${all}?resourceVersion=1`,
    }))
      await call(`token with ${label}`, "GET", `${path}&continue=${good}`, {
        keep,
        ...(label === "watch" ? { frames: 1 } : {}),
      });
    for (const [label, query] of Object.entries({
      "with limit": "limit=2&labelSelector=odd%3Dtrue",
      "with continue": `continue=${good}&labelSelector=none`,
      "with limit and continue": `limit=1&continue=${good}`,
      "with a bad limit": "limit=x",
      "with a bad token": "continue=x",
      rest: "",
    }))
      await call(`deletecollection ${label}`, "DELETE", `${all}?${query}`, {
        keep: (body) => ({
          ...(keep(body) as Json),
          at: undefined,
          token: undefined,
        }),
      });
  },
};
