// What orbitctl's cp and port-forward take for places and ports.
import type { Pod } from "../../../api/types/core-v1.ts";
import { parsePlace } from "../../../cli/ctl/streams/copy.ts";
import { parsePorts } from "../../../cli/ctl/streams/port-forward.ts";

test.each([
  ["file", { path: "file" }],
  ["./a:b", { path: "./a:b" }],
  ["/a:b", { path: "/a:b" }],
  ["web:/x", { pod: { name: "web" }, path: "/x" }],
  ["ns/web:x y", { pod: { namespace: "ns", name: "web" }, path: "x y" }],
])("%s is a place", (text, place) => {
  expect(parsePlace(text)).toEqual(place);
});

test.each(["web:", "/:x".slice(1), "a/b/c:/x", "a/:x"])(
  "%s is no place",
  (text) => {
    expect(() => parsePlace(text)).toThrow(/filespec/);
  },
);

const pod = {
  metadata: { name: "p" },
  spec: {
    containers: [{ name: "c", ports: [{ name: "http", containerPort: 8080 }] }],
  },
} as Pod;

test.each([
  ["80", { local: 80, remote: 80 }],
  ["8000:80", { local: 8000, remote: 80 }],
  [":http", { local: 0, remote: 8080 }],
  ["http", { local: 8080, remote: 8080 }],
])("%s is a pair of ports", (text, pair) => {
  expect(parsePorts(text, pod)).toEqual(pair);
});

test.each(["0", "65536", "none", "1:2:3", "80:", "x:80"])(
  "%s is no pair of ports",
  (text) => {
    expect(() => parsePorts(text, pod)).toThrow(/port/);
  },
);
