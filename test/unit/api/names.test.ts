import * as names from "../../../api/names.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const long = "a".repeat(300);

test.each([
  [names.dnsLabelProblems, "abc-1", 0],
  [names.dnsLabelProblems, "Abc", 1],
  [names.dnsLabelProblems, "a.b", 1],
  [names.dnsLabelProblems, "", 1],
  [names.dnsLabelProblems, long, 1],
  [names.dnsSubdomainProblems, "a.b-c.d", 0],
  [names.dnsSubdomainProblems, "a..b", 1],
  [names.dnsSubdomainProblems, `${long}-`, 2],
  [names.dns1035Problems, "a1", 0],
  [names.dns1035Problems, "1a", 1],
  [names.labelKeyProblems, "example.com/My.Name_1", 0],
  [names.labelKeyProblems, "/x", 1],
  [names.labelKeyProblems, "a/b/c", 1],
  [names.labelKeyProblems, "a/", 2],
  [names.labelValueProblems, "", 0],
  [names.labelValueProblems, "a b", 1],
  [names.portNameProblems, "http", 0],
  [names.portNameProblems, "-a--b-", 2],
  [names.portNameProblems, "123", 1],
  [names.portNameProblems, "", 2],
  [names.dataKeyProblems, "a.b_C-1", 0],
  [names.dataKeyProblems, "..", 1],
  [names.dataKeyProblems, "..x", 1],
  [names.dataKeyProblems, "a/b", 1],
  [names.envNameProblems, "MY VAR.x", 0],
  [names.envNameProblems, "a=b", 1],
  [names.envNameProblems, "", 1],
  [names.ipProblems, "10.0.0.1", 0],
  [names.ipProblems, "::1", 0],
  [names.ipProblems, "10.0.0.256", 1],
  [names.ipProblems, "fe80::1%eth0", 1],
  [names.cidrProblems, "10.0.0.0/8", 0],
  [names.cidrProblems, "10.0.0.0/33", 1],
  [names.cidrProblems, "fd00::/64", 0],
  [names.cidrProblems, "10.0.0.0", 1],
  [names.pathSegmentProblems, "system:node", 0],
  [names.pathSegmentProblems, "a/b%", 2],
])("%p of %p: %d problems", (check, text, count) =>
  expect(check(text)).toHaveLength(count),
);

test("texts are the reference's", () => {
  expect(names.dnsLabelProblems("A")).toEqual([
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ]);
  expect(names.labelKeyProblems("")).toEqual([
    "name part must be non-empty",
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ]);
});

test("no pattern takes long on a hostile text", () => {
  const hostile = `${"a.".repeat(100_000)}!`;
  const cpuMs = cpuMsOf(() => {
    for (const check of [
      names.dnsSubdomainProblems,
      names.labelKeyProblems,
      names.labelValueProblems,
      names.dataKeyProblems,
    ]) {
      expect(check(hostile)).not.toHaveLength(0);
      expect(check(`${"a-".repeat(2000)}!`)).not.toHaveLength(0);
    }
  });
  expect(cpuMs).toBeLessThan(1000);
});

test("a generateName prefix may end in a dash", () => {
  const rule = names.nameRule(names.dnsLabelProblems);
  expect(rule("web-", true)).toEqual([]);
  expect(rule("web-", false)).toHaveLength(1);
});

test("field error texts", () => {
  expect(fieldErrors.invalid("a.b", "x", "bad").detail).toBe(
    'Invalid value: "x": bad',
  );
  expect(fieldErrors.invalid("a.b", 5, "bad").detail).toBe(
    "Invalid value: 5: bad",
  );
  expect(fieldErrors.invalid("a.b", null, "bad").detail).toBe(
    'Invalid value: "null": bad',
  );
  expect(fieldErrors.required("a").detail).toBe("Required value");
  expect(fieldErrors.required("a", "why").detail).toBe("Required value: why");
  expect(fieldErrors.notSupported("a", "z", ["x", "y"]).detail).toBe(
    'Unsupported value: "z": supported values: "x", "y"',
  );
  expect(fieldErrors.tooLong("", 5).detail).toBe(
    "Too long: may not be more than 5 bytes",
  );
});
