// Which cgroup a cleanup removes: never the machine's own root.
import { clusterCgroup } from "../../../cli/cleanup.ts";

test.each([
  ["/", ""],
  ["//", ""],
  ["/orbit", "/orbit"],
  ["/a/b", "/a/b"],
  ["nope", "nope"],
])("the root %s is given on as %j", (root, given) => {
  expect(clusterCgroup(root)).toBe(given);
});
