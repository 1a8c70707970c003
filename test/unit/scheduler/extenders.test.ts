// The scheduler with extenders that are real HTTPS servers.
import { systemClock } from "../../../api/clock.ts";
import type { Event, Node, Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { events, nodes, pods } from "../../../client/resources.ts";
import type { ExtenderConfiguration } from "../../../scheduler/configuration/configuration-types.ts";
import { completeConfiguration } from "../../../scheduler/configuration/defaults.ts";
import { createScheduler } from "../../../scheduler/scheduler.ts";
import {
  passes,
  silent,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import { startHttpsServer } from "../../support/https-server.ts";
import { MemoryApi } from "../../support/memory-api.ts";

interface Asked {
  readonly Pod: Pod;
  readonly Nodes: { readonly items: readonly Node[] } | null;
  readonly NodeNames: readonly string[] | null;
  readonly NodeNameToVictims: Readonly<
    Record<string, { Pods: readonly Pod[]; NumPDBViolations: number }>
  > | null;
  readonly NodeNameToMetaVictims: Readonly<
    Record<string, { Pods: readonly { UID: string }[] }>
  > | null;
  readonly PodName: string;
  readonly PodNamespace: string;
  readonly PodUID: string;
  readonly Node: string;
}
/** undefined: there is no answer. */
type Reply = (verb: string, asked: Asked) => unknown;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(reply: Reply) {
  const calls: { verb: string; asked: Asked; path: string }[] = [];
  const server = await startHttpsServer((body, request) => {
    const asked = JSON.parse(body) as Asked;
    const verb = request.url!.split("/").at(-1)!;
    calls.push({ verb, asked, path: request.url! });
    return reply(verb, asked);
  });
  cleanups.push(() => server.close());
  const extender = (
    more: Partial<ExtenderConfiguration>,
  ): ExtenderConfiguration => ({
    urlPrefix: `${server.url}/scheduler/`,
    enableHTTPS: true,
    tlsConfig: { caData: server.caBundle },
    ...more,
  });
  return {
    calls,
    extender,
    asked: (verb: string) =>
      calls.filter((call) => call.verb === verb).map(({ asked }) => asked),
  };
}

async function schedule(...extenders: ExtenderConfiguration[]) {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: silent,
    configuration: completeConfiguration({ extenders }),
  });
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await scheduler.stop();
    await client.close();
  };
  cleanups.push(stop);
  await scheduler.start();
  const podNamed = (name: string) =>
    api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    await passes(() => expect(find()).toBeTruthy());
    return find()!;
  };
  return {
    api,
    client,
    stop,
    podNamed,
    addNodes: async (...names: string[]): Promise<void> => {
      for (const name of names)
        await client.resource(nodes).create(testNode(name));
    },
    placed: async (pod: Pod): Promise<string> => {
      await client.resource(pods).create(pod);
      return until(() => podNamed(pod.metadata.name)?.spec.nodeName);
    },
    refused: async (pod: Pod): Promise<string> => {
      await client.resource(pods).create(pod);
      return until(
        () =>
          podNamed(pod.metadata.name)?.status?.conditions?.find(
            ({ type }) => type === "PodScheduled",
          )?.message,
      );
    },
  };
}

const asking = (
  name: string,
  requests: Record<string, string>,
  extra: Partial<Pod["spec"]> = {},
) =>
  testPod(name, {
    containers: [{ name: "c", image: "x", resources: { requests } }],
    ...extra,
  });
const namesOf = ({ Nodes, NodeNames }: Asked): string[] => [
  ...(NodeNames ?? Nodes?.items.map(({ metadata }) => metadata.name) ?? []),
];

describe("filter", () => {
  test("whole nodes are shown, and those that come back are left", async () => {
    const server = await serve((_, { Nodes }) => ({
      Nodes: {
        items: Nodes!.items.filter(({ metadata }) => metadata.name === "n2"),
      },
      FailedNodes: { n1: "not today" },
    }));
    const env = await schedule(server.extender({ filterVerb: "filter" }));
    await env.addNodes("n1", "n2");
    for (const name of ["a", "b", "c"])
      expect(await env.placed(testPod(name))).toBe("n2");
    const [first] = server.calls;
    expect(first!.path).toBe("/scheduler/filter");
    expect(namesOf(first!.asked).sort()).toEqual(["n1", "n2"]);
    expect(first!.asked.NodeNames).toBeNull();
    expect(first!.asked.Pod.metadata.name).toBe("a");
  });

  test("names are enough for one that has a cache, whatever the case of the answer's fields", async () => {
    const server = await serve((_, { NodeNames }) => ({
      nodenames: NodeNames!.filter((name) => name === "n1"),
    }));
    const env = await schedule(
      server.extender({ filterVerb: "filter", nodeCacheCapable: true }),
    );
    await env.addNodes("n1", "n2");
    expect(await env.placed(testPod("a"))).toBe("n1");
    expect(server.calls[0]!.asked.Nodes).toBeNull();
  });

  test("its reasons are reported, and any event is worth another try", async () => {
    let open = false;
    const server = await serve((_, { NodeNames }) =>
      open
        ? { NodeNames }
        : {
            NodeNames: [],
            FailedNodes: { n1: "no licence", n2: "no licence" },
            FailedAndUnresolvableNodes: { n2: "no cable" },
          },
    );
    const env = await schedule(
      server.extender({ filterVerb: "filter", nodeCacheCapable: true }),
    );
    await env.addNodes("n1", "n2");
    expect(await env.refused(testPod("a"))).toBe(
      "0/2 nodes are available: 1 no cable, 1 no licence. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
    );
    open = true;
    await env.client.resource(nodes).patch("n1", undefined, {
      type: "merge",
      body: { metadata: { labels: { licence: "yes" } } },
    });
    await passes(() => expect(env.podNamed("a")?.spec.nodeName).toBeTruthy());
  });

  test("one is asked about its own resources alone, which the scheduler leaves to it", async () => {
    const server = await serve((_, { NodeNames }) => ({ NodeNames }));
    const env = await schedule(
      server.extender({
        filterVerb: "filter",
        nodeCacheCapable: true,
        managedResources: [
          { name: "example.com/fpga", ignoredByScheduler: true },
        ],
      }),
    );
    await env.addNodes("n1");
    await env.placed(testPod("a"));
    expect(server.calls).toEqual([]);
    await env.placed(asking("b", { "example.com/fpga": "1" }));
    expect(server.calls).toHaveLength(1);
  });

  test("each sees what the one before left, ignorable ones last", async () => {
    const order: string[] = [];
    const keeping = (label: string, left: string) =>
      serve((_, asked) => {
        order.push(`${label} ${namesOf(asked).sort().join()}`);
        return { NodeNames: namesOf(asked).filter((name) => name !== left) };
      });
    const [first, second] = [
      await keeping("first", "n1"),
      await keeping("second", "n2"),
    ];
    const common = { filterVerb: "filter", nodeCacheCapable: true };
    const env = await schedule(
      first.extender({ ...common, ignorable: true }),
      second.extender(common),
    );
    await env.addNodes("n1", "n2", "n3");
    expect(await env.placed(testPod("a"))).toBe("n3");
    expect(order).toEqual(["second n1,n2,n3", "first n1,n3"]);
  });
});

describe("one that fails", () => {
  const failures: [string, Reply, RegExp][] = [
    ["says so", () => ({ Error: "out of order" }), /^out of order$/],
    [
      "names a node that it was not shown",
      () => ({ NodeNames: ["n9"] }),
      /claims a filtered node "n9" which is not found in the input node list/,
    ],
    [
      "answers another type",
      () => ({ NodeNames: { n1: true } }),
      /NodeNames must be a list/,
    ],
    ["never answers", () => undefined, /context deadline exceeded/],
  ];
  test.each(failures)(
    "%s: the pod waits, or is placed without it where that is allowed",
    async (_, reply, message) => {
      const server = await serve(reply);
      const common = {
        filterVerb: "filter",
        nodeCacheCapable: true,
        httpTimeout: "200ms",
      };
      const strict = await schedule(server.extender(common));
      await strict.addNodes("n1");
      expect(await strict.refused(testPod("a"))).toMatch(message);
      expect(strict.podNamed("a")?.spec.nodeName).toBeUndefined();
      const lenient = await schedule(
        server.extender({ ...common, ignorable: true }),
      );
      await lenient.addNodes("n1");
      expect(await lenient.placed(testPod("a"))).toBe("n1");
    },
  );

  test("is not trusted with another authority's certificate", async () => {
    const [server, other] = [
      await serve((_, { NodeNames }) => ({ NodeNames })),
      await serve(() => ({})),
    ];
    const common = { filterVerb: "filter", nodeCacheCapable: true };
    const { tlsConfig } = other.extender({});
    const env = await schedule(
      server.extender({ ...common, tlsConfig: tlsConfig! }),
    );
    await env.addNodes("n1");
    expect(await env.refused(testPod("a"))).toMatch(/certificate/);
    expect(server.calls).toEqual([]);
  });

  test("does not keep the scheduler from stopping while it does not answer", async () => {
    const server = await serve(() => undefined);
    const env = await schedule(
      server.extender({
        filterVerb: "filter",
        httpTimeout: "1h",
        managedResources: [{ name: "example.com/fpga" }],
      }),
    );
    await env.addNodes("n1");
    await env.placed(testPod("a"));
    await env.client
      .resource(pods)
      .create(asking("b", { "example.com/fpga": "0" }));
    await passes(() => expect(server.calls).toHaveLength(1));
    await env.stop();
    expect(env.podNamed("b")?.spec.nodeName).toBeUndefined();
  });
});

test("its points decide, with its weight", async () => {
  const server = await serve((_, asked) =>
    namesOf(asked).map((name) => ({
      Host: name,
      Score: name === "n2" ? 10 : 0,
    })),
  );
  const env = await schedule(
    server.extender({ prioritizeVerb: "prioritize", weight: 20 }),
  );
  await env.addNodes("n1", "n2", "n3");
  for (const name of ["a", "b", "c"])
    expect(await env.placed(asking(name, { cpu: "1" }))).toBe("n2");
});

test("without its points the plug-ins decide alone", async () => {
  const server = await serve(() => ({ not: "a list" }));
  const env = await schedule(
    server.extender({ prioritizeVerb: "prioritize", weight: 1 }),
  );
  await env.addNodes("n1", "n2");
  await env.placed(testPod("a"));
  expect(server.calls).toHaveLength(1);
});

test("one that binds is the one to bind, and the event is the scheduler's", async () => {
  const bound: Asked[] = [];
  const server = await serve((_, asked) => {
    bound.push(asked);
    return asked.PodName === "b" ? { Error: "no room in the rack" } : {};
  });
  const env = await schedule(server.extender({ bindVerb: "bind" }));
  await env.addNodes("n1");
  const { metadata } = await env.client.resource(pods).create(testPod("a"));
  await passes(() =>
    expect(
      env.api
        .all<Event>(events)
        .map(({ reason, involvedObject }) => [reason, involvedObject.name]),
    ).toEqual([["Scheduled", "a"]]),
  );
  expect(bound).toEqual([
    {
      PodName: "a",
      PodNamespace: "default",
      PodUID: metadata.uid,
      Node: "n1",
    },
  ]);
  // The scheduler itself bound nothing.
  expect(env.podNamed("a")?.spec.nodeName).toBeUndefined();
  expect(await env.refused(testPod("b"))).toBe(
    "running Bind: no room in the rack",
  );
});

describe("preemption", () => {
  const victimsOf = ({ NodeNameToVictims }: Asked) =>
    Object.fromEntries(
      Object.entries(NodeNameToVictims!).map(([name, { Pods }]) => [
        name,
        {
          Pods: Pods.map(({ metadata }) => ({ UID: metadata.uid })),
          NumPDBViolations: 0,
        },
      ]),
    );
  const full = async (reply: Reply) => {
    const server = await serve(reply);
    const env = await schedule(server.extender({ preemptVerb: "preempt" }));
    await env.addNodes("n1", "n2");
    for (const name of ["x", "y"]) await env.placed(asking(name, { cpu: "4" }));
    return { server, env };
  };
  const important = asking("high", { cpu: "4" }, { priority: 1000 });

  test("it says on which of the nodes room is made", async () => {
    const { server, env } = await full((_, asked) => {
      const { n2 } = victimsOf(asked);
      return { NodeNameToMetaVictims: { n2 } };
    });
    await env.client.resource(pods).create(important);
    await passes(() =>
      expect(env.podNamed("high")?.status?.nominatedNodeName).toBe("n2"),
    );
    const [asked] = server.asked("preempt");
    expect(Object.keys(asked!.NodeNameToVictims!).sort()).toEqual(["n1", "n2"]);
    expect(asked!.NodeNameToMetaVictims).toBeNull();
  });

  test("it may leave none, and then no pod ends", async () => {
    const { env } = await full(() => ({ NodeNameToMetaVictims: {} }));
    expect(await env.refused(important)).toMatch(
      /preemption: no candidate node for preemption$/,
    );
    expect(["x", "y"].map((name) => env.podNamed(name) !== undefined)).toEqual([
      true,
      true,
    ]);
  });

  test("it can't end pods that are not on the node", async () => {
    const { env } = await full(() => ({
      NodeNameToMetaVictims: { n1: { Pods: [{ UID: "other" }] } },
    }));
    expect(await env.refused(important)).toMatch(
      /claims to preempt pod \(UID: other\) on node: n1, but the pod is not found on that node/,
    );
  });
});
