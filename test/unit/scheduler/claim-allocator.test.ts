// Which devices claims get: pools, order, giving back, constraints, and searches that would never end.
import type { Node } from "../../../api/types/core-v1.ts";
import type {
  Device,
  DeviceClaim,
  DeviceClass,
  ResourceClaim,
  ResourceSlice,
} from "../../../api/types/resource-v1beta1.ts";
import { allocateClaims } from "../../../scheduler/claims/claim-allocator.ts";
import {
  DeviceMatcher,
  selectorBudget,
} from "../../../scheduler/claims/device-matcher.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const node: Node = { metadata: { name: "n", labels: { zone: "z" } }, spec: {} };
let matcher: DeviceMatcher;
beforeAll(async () => {
  matcher = await DeviceMatcher.open();
});

const device = (name: string, size = 1, group?: string): Device => ({
  name,
  basic: {
    attributes: {
      size: { int: size },
      ...(group ? { group: { string: group } } : {}),
    },
  },
});

function slice(
  devices: Device[],
  over: Partial<ResourceSlice["spec"]> = {},
  pool: Partial<ResourceSlice["spec"]["pool"]> = {},
): ResourceSlice {
  return {
    metadata: { name: "s" },
    spec: {
      driver: "d",
      ...(over.allNodes || over.nodeSelector ? {} : { nodeName: "n" }),
      pool: { name: "p", generation: 1, resourceSliceCount: 1, ...pool },
      devices,
      ...over,
    },
  };
}

const claim = (devices: DeviceClaim, name = "c"): ResourceClaim => ({
  metadata: { name, namespace: "x" },
  spec: { devices },
});

const request = (
  name: string,
  expression?: string,
): NonNullable<DeviceClaim["requests"]>[number] => ({
  name,
  deviceClassName: "any",
  ...(expression ? { selectors: [{ cel: { expression } }] } : {}),
});

const anyClass: DeviceClass = { metadata: { name: "any" }, spec: {} };

function allocate(
  claims: readonly ResourceClaim[],
  slices: readonly ResourceSlice[],
  over: Partial<Parameters<typeof allocateClaims>[2]> = {},
): string[][] | undefined {
  return allocateClaims(claims, node, {
    slices,
    deviceClass: (name) => (name === "any" ? anyClass : undefined),
    allocated: new Set(),
    matcher,
    budget: selectorBudget(),
    adminAccess: false,
    ...over,
  })?.map(({ devices }) =>
    (devices?.results ?? []).map((each) => `${each.request}=${each.device}`),
  );
}

const large = `device.attributes["d"].size > 10`;

test("a device is given back when the rest does not fit with it", () => {
  const two = claim({ requests: [request("any"), request("large", large)] });
  expect(allocate([two], [slice([device("a", 80), device("b", 1)])])).toEqual([
    ["any=b", "large=a"],
  ]);
  expect(
    allocate(
      [
        claim({ requests: [request("any")] }),
        claim({ requests: [request("large", large)] }, "e"),
      ],
      [slice([device("a", 80), device("b", 1)])],
    ),
  ).toEqual([["any=b"], ["large=a"]]);
  expect(allocate([two], [slice([device("a", 80)])])).toBeUndefined();
});

test("devices that others have are left alone, but for administrators", () => {
  const allocated = new Set(["d/p/a"]);
  const slices = [slice([device("a")])];
  const wanted = claim({ requests: [request("r")] });
  expect(allocate([wanted], slices, { allocated })).toBeUndefined();
  const admin = claim({ requests: [{ ...request("r"), adminAccess: true }] });
  expect(allocate([admin], slices, { allocated, adminAccess: true })).toEqual([
    ["r=a"],
  ]);
  expect(() => allocate([admin], slices)).toThrow(
    "claim x/c, request r: admin access is requested, but the feature is disabled",
  );
});

test("a constraint holds for the requests that it names", () => {
  const slices = [
    slice([device("a", 1, "x"), device("b", 1, "y"), device("c", 1, "y")]),
  ];
  const requests = [request("r"), request("s")];
  const together = { matchAttribute: "d/group" };
  expect(
    allocate([claim({ requests, constraints: [together] })], slices),
  ).toEqual([["r=b", "s=c"]]);
  expect(
    allocate(
      [claim({ requests, constraints: [{ ...together, requests: ["r"] }] })],
      slices,
    ),
  ).toEqual([["r=a", "s=b"]]);
});

test("only the newest generation of a pool counts, on nodes that reach it", () => {
  const wanted = [claim({ requests: [request("r")] })];
  const older = slice([device("old")]);
  const newer = slice([device("new")], {}, { generation: 2 });
  expect(allocate(wanted, [older, newer])).toEqual([["r=new"]]);
  expect(allocate(wanted, [newer, older])).toEqual([["r=new"]]);
  expect(
    allocate(wanted, [slice([device("a")], { nodeName: "other" })]),
  ).toBeUndefined();
  const term = (values: string[]): ResourceSlice =>
    slice([device("a")], {
      nodeSelector: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: "zone", operator: "In", values }] },
        ],
      },
    });
  expect(allocate(wanted, [term(["z"])])).toEqual([["r=a"]]);
  expect(allocate(wanted, [term(["y"])])).toBeUndefined();
});

test("all devices: of whole pools, and free ones only", () => {
  const all = [
    claim({ requests: [{ ...request("r"), allocationMode: "All" }] }),
  ];
  const slices = [slice([device("a"), device("b")])];
  expect(allocate(all, slices)).toEqual([["r=a", "r=b"]]);
  expect(
    allocate(all, slices, { allocated: new Set(["d/p/b"]) }),
  ).toBeUndefined();
  expect(() =>
    allocate(all, [slice([device("a")], {}, { resourceSliceCount: 2 })]),
  ).toThrow("resource pool d/p is currently being updated");
  expect(() => allocate(all, [slice([device("a"), device("a")])])).toThrow(
    "resource pool d/p is currently invalid",
  );
  expect(() =>
    allocate(all, [
      slice(Array.from({ length: 33 }, (_, index) => device(`d${index}`))),
    ]),
  ).toThrow(
    "claim x/c: number of requested devices 33 exceeds the claim limit of 32",
  );
});

test.each([
  [`device.attributes["d"].nothing == 1`, /no such key: nothing$/],
  [`device.driver`, /the result is not a bool/],
  [`device.`, /selector #0: CEL compile error/],
  [
    `[1,2,3,4,5,6,7,8,9].all(a,[1,2,3,4,5,6,7,8,9].all(b,[1,2,3,4,5,6,7,8,9].all(c,[1,2,3,4,5,6,7,8,9].all(d,[1,2,3,4,5,6,7,8,9].all(e,[1,2,3,4,5,6,7,8,9].all(f,a+b+c+d+e+f > 0))))))`,
    /cost limit/,
  ],
])("a selector that fails ends the search: %s", (expression, text) => {
  expect(() =>
    allocate(
      [claim({ requests: [request("r", expression)] })],
      [slice([device("a")])],
    ),
  ).toThrow(text);
});

test.each([
  [`device.attributes["other"].size == 1 || true`, false],
  [`!has(device.attributes["other"].size)`, true],
  [`cel.bind(own, device.attributes["d"], own.size == 1)`, true],
  [`device.driver == "d" && !("x" in device.capacity["d"])`, true],
  [`isSemver("1.2.3-rc.1+b") && !isSemver("1.2") && !isSemver("01.2.3")`, true],
  [`semver("1.2.3").isGreaterThan(semver("1.2.3-rc.1"))`, true],
  [`semver("1.0.0-alpha.1").compareTo(semver("1.0.0-alpha.beta")) == -1`, true],
  [`semver("1.0.0+a") == semver("1.0.0+b")`, true],
])("what selectors can say: %s", (expression, matches) => {
  const found = (): string[][] | undefined =>
    allocate(
      [claim({ requests: [request("r", expression)] })],
      [slice([device("a")])],
    );
  if (expression.includes("|| true")) expect(found()).toEqual([["r=a"]]);
  else expect(found() !== undefined).toBe(matches);
});

test("expensive selectors end the attempt, not the scheduler", () => {
  const nine = "[1,2,3,4,5,6,7,8,9]";
  const expensive = `${nine}.all(a,${nine}.all(b,${nine}.all(c,${nine}.all(d,${nine}.all(e,a+b+c+d+e > 0)))))`;
  expect(() =>
    allocate(
      [claim({ requests: [{ ...request("r", expensive), count: 20 }] })],
      [slice(Array.from({ length: 20 }, (_, index) => device(`d${index}`)))],
    ),
  ).toThrow(/selectors cost more than one attempt may/);
});

test("a search without end is given up", () => {
  const devices = Array.from({ length: 60 }, (_, index) =>
    device(`d${index}`, 1, String(index % 20)),
  );
  const hopeless = claim({
    requests: [{ ...request("r"), count: 31 }, request("s", large)],
  });
  const cpuMs = cpuMsOf(() =>
    expect(() => allocate([hopeless], [slice(devices)])).toThrow(
      /no allocation was found after trying 50000 devices/,
    ),
  );
  expect(cpuMs).toBeLessThan(2000);
});
