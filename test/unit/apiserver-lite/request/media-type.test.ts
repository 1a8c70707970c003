import { mediaType } from "../../../../apiserver-lite/request/media-type.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

test.each([
  [undefined, ""],
  ["", ""],
  ["application/json", "application/json"],
  [" Application/JSON ", "application/json"],
  ["application/json; charset=utf-8", "application/json"],
  ["application/json;charset=utf-8;", "application/json"],
  ['application/json ; a = b ; c="d;\\"e" ', "application/json"],
  ["application/json;", "application/json"],
  ["application/json; ; a=b", "malformed"],
  ["application/json; a", "malformed"],
  ["application/json; a=", "malformed"],
  ["application/json; =b", "malformed"],
  ['application/json; a="b', "malformed"],
  ["application/json, text/plain", "malformed"],
  ["application/json text", "malformed"],
  [";a=b", "malformed"],
  [" ", "malformed"],
  [`application/json; a=${"b".repeat(1000)}`, "application/json"],
  [`application/json; a=${"b".repeat(1024)}`, "malformed"],
])("%p is %p", (header, type) => {
  expect(mediaType(header)).toBe(type);
});

test.each([
  `a${" ".repeat(1_000_000)},`,
  `a;${"b=c;".repeat(250_000)}!`,
  `a; b="${"\\".repeat(1_000_000)}`,
])("a header of a megabyte costs nothing", (header) => {
  expect(cpuMsOf(() => mediaType(header))).toBeLessThan(50);
});
