// What an aggregated server is sent about who asks, as bytes on the wire.
import { identityHeaders } from "../../../../apiserver-lite/aggregation/identity-headers.ts";

test("name, groups and extra; the UID only where asked for", () => {
  const user = {
    name: "ann",
    uid: "u1",
    groups: ["a", "b"],
    extra: { "example.com/Key 100%": ["x", "y"], none: [] },
  };
  const headers = {
    "x-remote-user": "ann",
    "x-remote-group": ["a", "b"],
    "x-remote-extra-example.com%2fkey%20100%25": ["x", "y"],
  };
  expect(identityHeaders(user, false)).toEqual(headers);
  expect(identityHeaders(user, true)).toEqual({
    ...headers,
    "x-remote-uid": "u1",
  });
});

test("nobody in no group", () => {
  expect(identityHeaders({ name: "", groups: [], extra: {} }, true)).toEqual({
    "x-remote-user": "",
  });
});

test("other characters go out as UTF-8, and keys of one name together", () => {
  const headers = identityHeaders(
    { name: "ü✓", groups: [], extra: { ü: ["1"], A: ["2"], a: ["3"] } },
    false,
  );
  expect(
    Buffer.from(headers["x-remote-user"] as string, "latin1").toString(),
  ).toBe("ü✓");
  expect(headers["x-remote-extra-%c3%bc"]).toEqual(["1"]);
  expect(headers["x-remote-extra-a"]).toEqual(["2", "3"]);
});
