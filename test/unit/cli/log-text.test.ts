// What others say in the log: in one line, without what a terminal obeys, and with an end.
import { describedError, textLine } from "../../../cli/log-text.ts";

const line = (fields: object): string =>
  textLine(JSON.stringify({ level: 40, time: 0, part: "agent", ...fields }));
const start = "1970-01-01T00:00:00.000Z warn  agent: ";

test("a record", () => {
  expect(line({ msg: "pulled", image: "a", why: "so so", parts: [1] })).toBe(
    `${start}pulled image=a why="so so" parts=[1]\n`,
  );
});

test("an error of a warning is a field; of an error or a fault of the program the stack is shown", () => {
  const err = describedError(new Error("gone", { cause: new Error("why") }));
  expect(line({ msg: "failed", err })).toBe(
    `${start}failed error="gone: why"\n`,
  );
  const stackOf = (fields: object): string[] =>
    line({ msg: "failed", ...fields })
      .trimEnd()
      .split("\n")
      .slice(1);
  const lines = stackOf({ level: 50, err });
  expect(lines[0]).toBe("  Error: gone");
  expect(lines.filter((each) => each.includes("caused by"))).toEqual([
    "  caused by: Error: why",
  ]);
  const fault = describedError(new TypeError("x is undefined"));
  expect(stackOf({ err: fault })[0]).toBe("  TypeError: x is undefined");
});

test("a cause that says what the error says is not repeated", () => {
  const cause = new Error("2 UNKNOWN: no such image");
  const err = describedError(new Error("PullImage: no such image", { cause }));
  expect(err).toMatchObject({ message: "PullImage: no such image" });
  const endless = new Error("a");
  endless.cause = endless;
  expect(describedError(endless)).toMatchObject({ message: "a" });
});

const forged = "x\n1970-01-01T00:00:00.000Z info  agent: forged";

test.each([
  ["a message", { msg: forged }],
  ["a message with an old line end", { msg: forged.replace("\n", "\r") }],
  ["a field", { msg: "m", name: forged }],
  ["a list", { msg: "m", names: [forged] }],
  ["an error", { msg: "m", err: describedError(new Error(forged)) }],
  ["a stack", { level: 50, msg: "m", err: describedError(new Error(forged)) }],
  ["an error of no kind", { msg: "m", err: { message: forged } }],
])("%s begins no line of its own", (_what, fields) => {
  const lines = line(fields)
    .trimEnd()
    .split(/[\n\r]/);
  expect(lines[0]).toMatch(/^1970-01-01T00:00:00.000Z (warn |error) agent: /);
  for (const further of lines.slice(1)) expect(further).toMatch(/^ {2}/);
});

test.each(["msg", "image"])("a terminal obeys nothing in %s", (field) => {
  const text = line({ msg: "", [field]: "\u001b[2J\u009b31m\u0007\u202f" });
  expect(text).toContain("\\u001b[2J\\u009b31m\\u0007");
});

test("texts have an end", () => {
  const long = "x".repeat(1_000_000);
  expect(line({ msg: long }).length).toBeLessThan(5_000);
  expect(line({ msg: "", why: long }).length).toBeLessThan(5_000);
  expect(line({ msg: "", why: [long] }).length).toBeLessThan(5_000);
  const error = new Error("m", { cause: new Error(long) });
  const err = describedError(Object.assign(error, { json: { message: long } }));
  expect(JSON.stringify(err).length).toBeLessThan(40_000);
  expect(line({ msg: "", err }).length).toBeLessThan(40_000);
});
