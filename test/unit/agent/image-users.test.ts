// runAsNonRoot against the users that images name, which nobody has checked before.
import { containerSecurity } from "../../../agent/pods/start/security-context.ts";
import type { Container } from "../../../api/types/core-v1.ts";
import { testPod } from "./runtime-objects.ts";

const container: Container = { name: "c", image: "x" };
const pod = testPod({
  containers: [container],
  securityContext: { runAsNonRoot: true },
});
const securityOf = (
  image: { uid?: number; username?: string },
  given = pod,
): ReturnType<typeof containerSecurity> =>
  containerSecurity(given, container, image, {
    byDefault: false,
    profileDirectory: "/none",
  });

test.each([1, 65534, 2 ** 31 - 1])("user %d is not root", (uid) => {
  expect(securityOf({ uid }).runAsUser).toBe(uid);
});

test.each([
  [0, "image will run as root"],
  // Cut to 32 bits these are root.
  [2 ** 32, "is no user id, cannot verify user is non-root"],
  [-(2 ** 32), "is no user id"],
  [2 ** 31, "is no user id"],
  [-1, "is no user id"],
  [Number.NaN, "is no user id"],
])("user %d is refused", (uid, text) => {
  expect(() => securityOf({ uid })).toThrow(text);
});

test("a name may be root's", () => {
  expect(() => securityOf({ username: "toor" })).toThrow(
    "image has non-numeric user (toor), cannot verify user is non-root",
  );
});

test("what may be root may be any user", () => {
  const free = testPod({ containers: [container] });
  expect(securityOf({ uid: 2 ** 32 }, free).runAsUser).toBe(2 ** 32);
});
