import type { IncomingMessage } from "node:http";
import { refusalOf } from "../../../http-kit/request-head.ts";

function refused(
  fields: readonly [string, string][],
  version: readonly [number, number] = [1, 1],
): number | undefined {
  const headers: Record<string, string> = {};
  for (const [name, value] of fields) headers[name.toLowerCase()] ??= value;
  const request = {
    headers,
    rawHeaders: fields.flat(),
    httpVersionMajor: version[0],
    httpVersionMinor: version[1],
  } as unknown as IncomingMessage;
  return refusalOf(request)?.[0];
}

const named: [string, string] = ["Host", "a.test"];

it.each([
  "a.test",
  "a.test:6443",
  "127.0.0.1:80",
  "[::1]:6443",
  "[fe80::1%25eth0]",
  "under_score",
  "",
])("host %j is served", (host) => {
  expect(refused([["Host", host]])).toBeUndefined();
});

it.each([
  "a b",
  "a/b",
  "user@a.test",
  "a\\b",
  "a?b",
  "a#b",
  "é",
  "a\tb",
  '"a"',
])("host %j is refused", (host) => expect(refused([["Host", host]])).toBe(400));

it.each<[string, number | undefined, [string, string][], [number, number]]>([
  ["no host", 400, [], [1, 1]],
  ["no host in HTTP/1.0", undefined, [], [1, 0]],
  ["two hosts", 400, [named, ["hOST", "b"]], [1, 1]],
  ["another version", 505, [named], [2, 0]],
  ["an ancient version", 505, [named], [0, 9]],
  ["chunks", undefined, [named, ["Transfer-Encoding", "Chunked"]], [1, 1]],
  ["chunks in HTTP/1.0", 400, [["Transfer-Encoding", "chunked"]], [1, 0]],
  ["an empty coding", 501, [named, ["Transfer-Encoding", ""]], [1, 1]],
  [
    "a coding below the chunks",
    501,
    [named, ["Transfer-Encoding", "gzip, chunked"]],
    [1, 1],
  ],
  [
    "too many fields",
    431,
    Array.from({ length: 8193 }, () => ["X-A", "b"] as [string, string]),
    [1, 1],
  ],
])("%s: %s", (_, status, fields, version) => {
  expect(refused(fields, version)).toBe(status);
});
