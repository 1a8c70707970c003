// Whom a request speaks for, and what finding out costs.
import type { AccessAttributes, UserInfo } from "../../../../api/contracts.ts";
import { Http2Exchange } from "../../../../http-kit/exchange.ts";
import {
  asksToImpersonate,
  impersonate,
} from "../../../../apiserver-lite/front/filters/impersonation.ts";

const root: UserInfo = { name: "root", groups: [], extra: {} };

/** The headers as HTTP/2 gives them: the pairs in a row, and joined by name. */
function exchangeOf(...pairs: [string, string][]): Http2Exchange {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs)
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  return new Http2Exchange({} as never, headers, pairs.flat(), {} as never);
}

function authorizer(refuse: (attributes: AccessAttributes) => boolean) {
  const asked: string[] = [];
  return {
    asked,
    authorize(attributes: AccessAttributes) {
      const { resource, subresource, namespace, name } = attributes;
      asked.push(
        [resource, subresource, namespace, name].filter(Boolean).join("/"),
      );
      const decision = refuse(attributes) ? "no-opinion" : "allow";
      return { decision, reason: "" } as const;
    },
  };
}
const everybody = () => authorizer(() => false);

it.each<[[string, string][], boolean]>([
  [[["impersonate-user", "a"]], true],
  [[["impersonate-group", "a"]], true],
  [[["impersonate-uid", "a"]], true],
  [[["impersonate-extra-scopes", "a"]], true],
  [[["accept", "a"]], false],
  [[["impersonate-other", "a"]], false],
])("%j asks to impersonate: %s", (pairs, asks) => {
  expect(asksToImpersonate(exchangeOf(...pairs).headers)).toBe(asks);
});

it.each([
  ["impersonate-extra-scopes"],
  ["impersonate-group"],
  ["impersonate-uid"],
])("%s without a user is refused, not run as the sender", async (header) => {
  await expect(
    impersonate(root, exchangeOf([header, "a"]), everybody()),
  ).rejects.toMatchObject({
    status: {
      code: 400,
      message: "requested impersonation without impersonating a user",
    },
  });
});

const sent = (text: string): string => Buffer.from(text).toString("latin1");

it("reads names as UTF-8", async () => {
  const asks = everybody();
  const exchange = exchangeOf(
    ["impersonate-user", sent("jürgen")],
    ["impersonate-group", sent("größe")],
    ["impersonate-extra-note", sent("ñ")],
  );
  expect(await impersonate(root, exchange, asks)).toMatchObject({
    name: "jürgen",
    groups: ["größe", "system:authenticated"],
    extra: { note: ["ñ"] },
  });
  expect(asks.asked).toContain("users/jürgen");
});

it.each([
  ["impersonate-user"],
  ["impersonate-group"],
  ["impersonate-uid"],
  ["impersonate-extra-note"],
])("%s of other bytes is refused, not taken for another name", async (name) => {
  const exchange = exchangeOf(["impersonate-user", "a"], [name, "\xfc"]);
  await expect(impersonate(root, exchange, everybody())).rejects.toMatchObject({
    status: { code: 400 },
  });
});

it("takes keys as they came when they can't be decoded", async () => {
  const asks = everybody();
  const user = await impersonate(
    root,
    exchangeOf(
      ["impersonate-user", "a"],
      ["impersonate-extra-%zz", "1"],
      ["impersonate-extra-%ff", "2"],
      ["impersonate-extra-a%2fb", "3"],
      ["impersonate-extra-a/b", "4"],
      ["impersonate-extra-__proto__", "5"],
    ),
    asks,
  );
  expect(Object.entries(user.extra)).toEqual([
    ["%zz", ["1"]],
    ["%ff", ["2"]],
    ["a/b", ["3", "4"]],
    ["__proto__", ["5"]],
  ]);
  expect(asks.asked).toEqual([
    "users/a",
    "userextras/%zz/1",
    "userextras/%ff/2",
    "userextras/a/b/3",
    "userextras/a/b/4",
    "userextras/__proto__/5",
  ]);
});

it.each<[string, string[], string[]]>([
  ["ann", [], ["system:authenticated"]],
  ["ann", ["g"], ["g", "system:authenticated"]],
  ["ann", ["system:unauthenticated"], ["system:unauthenticated"]],
  ["system:anonymous", [], ["system:unauthenticated"]],
  [
    "system:serviceaccount:ns:sa",
    [],
    [
      "system:serviceaccounts",
      "system:serviceaccounts:ns",
      "system:authenticated",
    ],
  ],
  ["system:serviceaccount:ns:sa", ["g"], ["g", "system:authenticated"]],
])("%s with groups %j is in %j", async (name, groups, expected) => {
  const user = await impersonate(
    root,
    exchangeOf(
      ["impersonate-user", name],
      ...groups.map((group): [string, string] => ["impersonate-group", group]),
    ),
    everybody(),
  );
  expect(user.groups).toEqual(expected);
});

it("each part is asked for, the user first", async () => {
  const wish = exchangeOf(
    ["impersonate-uid", "u"],
    ["impersonate-extra-scopes", "s"],
    ["impersonate-group", "g"],
    ["impersonate-user", "system:serviceaccount:ns:sa"],
  );
  const parts = [
    "serviceaccounts/ns/sa",
    "groups/g",
    "userextras/scopes/s",
    "uids/u",
  ];
  for (const [index, part] of parts.entries()) {
    const asks = authorizer(({ resource }) => part.startsWith(resource));
    await expect(impersonate(root, wish, asks)).rejects.toMatchObject({
      status: { code: 403 },
    });
    expect(asks.asked).toEqual(parts.slice(0, index + 1));
  }
});

it("refuses more than 256 values before it asks", async () => {
  const extras = (count: number) =>
    exchangeOf(
      ["impersonate-user", "a"],
      ...Array.from({ length: count }, (_, index): [string, string] => [
        `impersonate-extra-${index}`,
        "v",
      ]),
    );
  const asks = everybody();
  await expect(impersonate(root, extras(257), asks)).rejects.toMatchObject({
    status: { code: 400 },
  });
  expect(asks.asked).toEqual([]);
  await impersonate(root, extras(256), asks);
  expect(asks.asked).toHaveLength(257);
});

it("costs time in proportion to the headers", async () => {
  const pairs = Array.from({ length: 50_000 }, (_, index): [string, string] => [
    `impersonate-extra-${index}`,
    "v",
  ]);
  const exchange = exchangeOf(["impersonate-user", "a"], ...pairs);
  const before = process.cpuUsage();
  await expect(impersonate(root, exchange, everybody())).rejects.toMatchObject({
    status: { code: 400 },
  });
  const { user } = process.cpuUsage(before);
  // Of one pass over them for each, this would be minutes.
  expect(user / 1000).toBeLessThan(1000);
});
