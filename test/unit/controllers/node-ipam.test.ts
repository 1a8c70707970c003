// Ranges of pod addresses for nodes: the parts of a range, and the controller against an API server in memory.
import { ApiError } from "../../../api/errors.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { Event } from "../../../api/types/core-v1.ts";
import { events, nodes } from "../../../client/resources.ts";
import { NodeRangePool } from "../../../controllers/node-ipam/node-ranges.ts";

import {
  passes,
  startControlPlane,
  type ControlPlane,
} from "../../support/control-plane.ts";

describe("parts of a range", () => {
  test("each once, in order, then none", () => {
    const pool = new NodeRangePool("10.9.3.7/22", 24);
    expect([1, 2, 3, 4, 5].map(() => pool.take())).toEqual([
      "10.9.0.0/24",
      "10.9.1.0/24",
      "10.9.2.0/24",
      "10.9.3.0/24",
      undefined,
    ]);
    expect(pool.release("10.9.1.0/24")).toBe(true);
    expect(pool.take()).toBe("10.9.1.0/24");
    expect(pool.take()).toBeUndefined();
  });

  test("one that was given back is used last", () => {
    const pool = new NodeRangePool("10.9.0.0/22", 24);
    pool.take();
    pool.release("10.9.0.0/24");
    expect(pool.take()).toBe("10.9.1.0/24");
  });

  test.each([
    ["10.9.2.0/23", true, ["10.9.0.0/24", "10.9.1.0/24"]],
    ["10.9.1.128/25", true, ["10.9.0.0/24", "10.9.2.0/24", "10.9.3.0/24"]],
    ["10.9.0.0/22", true, []],
    ["10.0.0.0/8", true, []],
    ["10.9.4.0/23", false, ["10.9.0.0/24", "10.9.1.0/24"]],
    ["10.8.255.0/24", false, ["10.9.0.0/24", "10.9.1.0/24"]],
    ["fd00::/64", false, ["10.9.0.0/24", "10.9.1.0/24"]],
  ])("%s occupied (%s) leaves %j", (taken, inside, left) => {
    const pool = new NodeRangePool("10.9.0.0/22", 24);
    expect(pool.occupy(taken)).toBe(inside);
    const count = inside ? 4 : 2;
    const found = Array.from({ length: count }, () => pool.take());
    expect(found.filter((each) => each !== undefined)).toEqual(left);
  });

  test("IPv6", () => {
    const pool = new NodeRangePool("fd00:1::/62", 64);
    expect([1, 2, 3, 4, 5].map(() => pool.take())).toEqual([
      "fd00:1::/64",
      "fd00:1:0:1::/64",
      "fd00:1:0:2::/64",
      "fd00:1:0:3::/64",
      undefined,
    ]);
  });

  test("a range of 2^16 parts is given out without looking at all of it for each", () => {
    const pool = new NodeRangePool("10.0.0.0/8", 24);
    const seen = new Set<string>();
    for (let n = 0; n < 65_536; n++) seen.add(pool.take()!);
    expect(seen.size).toBe(65_536);
    expect(pool.take()).toBeUndefined();
  });
});

describe("the controller", () => {
  let plane: ControlPlane | undefined;
  afterEach(() => plane?.stop());

  const ranges = async (name: string): Promise<readonly string[] | undefined> =>
    (await plane!.client.resource(nodes).get(name)).spec?.podCIDRs;
  const make = (name: string, podCIDRs?: string[]) =>
    plane!.client.resource(nodes).create({
      metadata: { name },
      spec: podCIDRs ? { podCIDR: podCIDRs[0]!, podCIDRs } : {},
    });
  const start = async (
    clusterRanges: { cidr: string; nodeBits: number }[],
    serviceRanges: string[] = [],
  ): Promise<void> => {
    plane = await startControlPlane({
      controllers: {
        controllers: ["node-ipam-controller"],
        nodeIpam: { clusterRanges, serviceRanges },
      },
    });
  };

  test("each node gets one range of each family, and keeps what it has", async () => {
    await start([
      { cidr: "10.9.0.0/16", nodeBits: 24 },
      { cidr: "fd00:9::/48", nodeBits: 64 },
    ]);
    await make("first", ["10.9.0.0/24", "fd00:9::/64"]);
    await make("second");
    await passes(async () => {
      expect(await ranges("second")).toEqual([
        "10.9.1.0/24",
        "fd00:9:0:1::/64",
      ]);
      expect(await ranges("first")).toEqual(["10.9.0.0/24", "fd00:9::/64"]);
    });
    expect(
      (await plane!.client.resource(nodes).get("second")).spec?.podCIDR,
    ).toBe("10.9.1.0/24");
  });

  test("service ranges are nobody's; who gets nothing hears of it, and gets what is given back", async () => {
    await start([{ cidr: "10.9.0.0/23", nodeBits: 24 }], ["10.9.0.0/26"]);
    await make("one");
    await passes(async () =>
      expect(await ranges("one")).toEqual(["10.9.1.0/24"]),
    );
    await make("two");
    await passes(() =>
      expect(plane!.api.all<Event>(events)).toMatchObject([
        {
          reason: "CIDRNotAvailable",
          message: "Node two status is now: CIDRNotAvailable",
          involvedObject: { kind: "Node", name: "two", uid: "two" },
        },
      ]),
    );
    expect(await ranges("two")).toBeUndefined();
    await plane!.client.resource(nodes).delete("one");
    await passes(async () =>
      expect(await ranges("two")).toEqual(["10.9.1.0/24"]),
    );
  });

  test("a write that fails keeps the range for that node", async () => {
    await start([{ cidr: "10.9.0.0/22", nodeBits: 24 }]);
    let failures = 0;
    plane!.api.intercept = ({ verb, resource, name }) => {
      if (verb === "patch" && resource.resource === "nodes" && name === "a")
        if (failures++ < 2) throw new Error("the API is away");
    };
    await make("a");
    await passes(() => expect(failures).toBeGreaterThan(0));
    await make("b");
    await passes(async () => {
      expect(await ranges("a")).toEqual(["10.9.0.0/24"]);
      expect(await ranges("b")).toEqual(["10.9.1.0/24"]);
    });
  });

  test("others write the Node all the time: that costs it neither its range nor an event", async () => {
    await start([{ cidr: "10.9.0.0/22", nodeBits: 24 }]);
    plane!.api.intercept = ({ resource, patch }) => {
      const { metadata } = (patch?.body ?? {}) as Partial<KubeObject>;
      if (resource.resource === "nodes" && metadata?.resourceVersion)
        throw new ApiError({ code: 409, reason: "Conflict" });
    };
    await make("a");
    await passes(() => expect(plane!.api.writes).toContain("patch nodes a"));
    expect(await ranges("a")).toEqual(["10.9.0.0/24"]);
    expect(plane!.api.all<Event>(events)).toEqual([]);
  });
});
