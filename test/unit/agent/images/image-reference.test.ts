// Names of images, as the reference's library takes and refuses them (1,155 names were given to both).
import { normalizeReference } from "../../../../agent/images/image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["busybox", "busybox:latest"],
  ["busybox:1.2-a_b", "busybox:1.2-a_b"],
  ["a.b/c__d--e.f:_x", "a.b/c__d--e.f:_x"],
  ["localhost:5000/x", "localhost:5000/x:latest"],
  ["Registry/x", "Registry/x:latest"],
  ["1.2.3.4:5000/x/y/z", "1.2.3.4:5000/x/y/z:latest"],
  ["[::1]:5000/x:1", "[::1]:5000/x:1"],
  ["[fd00::2]/x", "[fd00::2]/x:latest"],
  ["foo_bar.com/x", "foo_bar.com/x:latest"],
  [`x@${digest}`, `x@${digest}`],
  [`x:1@${digest}`, `x:1@${digest}`],
  [`x@sha512:${"a".repeat(128)}`, `x@sha512:${"a".repeat(128)}`],
])("%s", (given, full) => {
  expect(normalizeReference(given)).toBe(full);
});

const format = "invalid reference format";

test.each([
  ["", format],
  ["  busybox", format],
  ["x\n", format],
  ["https://foo.com/x", format],
  ["foo.com:/x", format],
  ["foo.com./x", format],
  ["-foo.com/x", format],
  ["[::1:5000/x", format],
  ["a..b", format],
  ["a/", format],
  ["/a", format],
  ["a:", format],
  [`a:${"t".repeat(129)}`, format],
  ["a@", format],
  [`a@${digest}:1`, format],
  ["Busybox", `${format}: repository name (library/Busybox) must be lowercase`],
  ["foo.com/a/B:1", `${format}: repository name (a/B) must be lowercase`],
  [
    "a".repeat(64),
    `invalid repository name (${"a".repeat(64)}), cannot specify 64-byte hexadecimal strings`,
  ],
  ["b".repeat(256), "repository name must not be more than 255 characters"],
  [`a@${digest.slice(0, -1)}`, "invalid checksum digest length"],
  [`a@sha256:${"A".repeat(64)}`, "invalid checksum digest format"],
  [`a@md5:${"a".repeat(32)}`, "unsupported digest algorithm"],
])("%j is refused", (given, message) => {
  expect(() => normalizeReference(given)).toThrow(new Error(message));
});
