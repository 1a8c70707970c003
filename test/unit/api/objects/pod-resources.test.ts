// Everybody who counts what pods ask for, against one table.
import type { AnyObject } from "../../../../api/object.ts";
import {
  podLimits,
  podQuantities,
  podRequests,
  reportsOtherResources,
  resourceAmount,
} from "../../../../api/objects/pod-resources.ts";
import { qosClass } from "../../../../api/objects/pod-qos.ts";
import { isInQuotaScope } from "../../../../api/objects/quota/scope.ts";
import { usageOf } from "../../../../api/objects/quota/usage.ts";
import type { Pod, ResourceQuota } from "../../../../api/types/core-v1.ts";
import {
  oomScoreAdj,
  podResources,
} from "../../../../agent/resources/linux-resources.ts";
import { limitRanger } from "../../../../apiserver-lite/admission/plugins/limit-ranger.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { defaultPodFeatures } from "../../../../apiserver-lite/resources/core/pod/pod-disabled-fields.ts";
import { createPodStrategy } from "../../../../apiserver-lite/resources/core/pod/pod.ts";
import { strategyContext } from "../../apiserver-lite/resources/strategy-context.ts";
import { storageExcess } from "../../../../eviction/local-storage.ts";
import { PodViews } from "../../../../scheduler/pod-view.ts";
import { podShapes, shownAmounts } from "../../../support/pod-shapes.ts";
import { firstRound } from "../../../support/admission-attributes.ts";

const podStrategy = createPodStrategy({
  ...defaultPodFeatures,
  podResources: true,
});

const podOf = (spec: Pod["spec"]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns" },
  spec,
});
const shown = (sum: ReadonlyMap<string, number>): string =>
  shownAmounts(sum.get("cpu"), sum.get("memory"));
const shownTexts = (sum: Readonly<Record<string, string>>): string =>
  shownAmounts(
    sum["cpu"] === undefined ? undefined : resourceAmount("cpu", sum["cpu"]),
    sum["memory"] === undefined
      ? undefined
      : resourceAmount("memory", sum["memory"]),
  );

/** "": 0, where nothing and zero are the same. */
const orZero = (amounts: string): string =>
  amounts === "" ? "0/0" : amounts.replace(/^\//, "0/").replace(/\/$/, "/0");

describe.each(podShapes)("$what", ({ spec, requests, limits, qos, ranged }) => {
  const pod = podOf(spec);
  const [rangedRequests, rangedLimits] = ranged ?? [requests, limits];

  test("is summed", () => {
    expect([shown(podRequests(spec)), shown(podLimits(spec))]).toEqual([
      requests,
      limits,
    ]);
    expect(
      (["requests", "limits"] as const).map((part) =>
        shownTexts(podQuantities(spec, part)),
      ),
    ).toEqual([requests, limits]);
  });

  test("by quota", () => {
    const usage = usageOf("", "pods", pod as unknown as AnyObject, 0);
    const of = (part: string): Record<string, string> =>
      Object.fromEntries(
        Object.entries(usage).flatMap(([name, value]) =>
          name.startsWith(part) ? [[name.slice(part.length), value]] : [],
        ),
      );
    expect([
      shownTexts(of("requests.")),
      shownTexts(of("limits.")),
      shownTexts({
        ...(usage["cpu"] === undefined ? {} : { cpu: usage["cpu"] }),
        ...(usage["memory"] === undefined ? {} : { memory: usage["memory"] }),
      }),
    ]).toEqual([requests, limits, requests]);
  });

  test("by the scheduler", () => {
    expect(shown(new PodViews().of(pod).requests)).toBe(requests);
  });

  test("by the node agent", () => {
    const sum = podResources(pod);
    expect(shownAmounts(sum.cpuLimitMillis, sum.memoryLimitBytes)).toBe(
      orZero(limits),
    );
    // It asks for its limit where it says no request, as the API server's defaults have it.
    const isDefaulted = [
      ...spec.containers,
      ...(spec.initContainers ?? []),
    ].every(({ resources }) =>
      Object.keys(resources?.limits ?? {}).every(
        (name) => resources?.requests?.[name] !== undefined,
      ),
    );
    if (isDefaulted)
      expect(shownAmounts(sum.cpuRequestMillis, sum.memoryRequestBytes)).toBe(
        orZero(requests),
      );
  });

  test("by limit ranges", () => {
    const refusal = (item: object): string => {
      const range = { spec: { limits: [{ type: "Pod", ...item }] } };
      try {
        void limitRanger.validate!(
          {
            operation: "CREATE",
            resource: { group: "", version: "v1", resource: "pods" },
            kind: { group: "", version: "v1", kind: "Pod" },
            subresource: "",
            namespace: "ns",
            name: "p",
            user: { name: "ann", groups: [], extra: {} },
            dryRun: false,
            options: {},
            object: pod as unknown as AnyObject,
            oldObject: undefined,
            ...firstRound(),
          },
          { list: () => [range] } as unknown as StrategyContext,
        );
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    };
    const amount = (item: object, what: string): number | undefined => {
      const [name] = Object.keys(Object.values(item)[0] as object);
      const found = new RegExp(`but ${what} is ([^,\\]]+)`).exec(refusal(item));
      return found ? resourceAmount(name!, found[1]!) : undefined;
    };
    expect(
      shownAmounts(
        amount({ min: { cpu: "1M" } }, "request"),
        amount({ min: { memory: "1E" } }, "request"),
      ),
    ).toBe(rangedRequests);
    expect(
      shownAmounts(
        amount({ max: { cpu: "0" } }, "limit"),
        amount({ max: { memory: "0" } }, "limit"),
      ),
    ).toBe(rangedLimits);
  });

  test("has its quality of service", async () => {
    expect(qosClass(pod)).toBe(qos);
    const created = structuredClone(pod);
    await podStrategy.prepareForCreate!(
      created as unknown as AnyObject,
      strategyContext(),
    );
    expect(created.status?.qosClass).toBe(qos);
    const scoped = { spec: { scopes: ["BestEffort"] } } as ResourceQuota;
    expect(isInQuotaScope(scoped, "pods", pod as unknown as AnyObject)).toBe(
      qos === "BestEffort",
    );
    const score = oomScoreAdj(pod, spec.containers[0]!, 2 ** 40);
    expect(
      score === 1000
        ? "BestEffort"
        : score === -997
          ? "Guaranteed"
          : "Burstable",
    ).toBe(qos);
  });

  test("by eviction", () => {
    // The same shape with disk for memory.
    const disk = JSON.parse(
      JSON.stringify(spec).replaceAll('"memory"', '"ephemeral-storage"'),
    ) as Pod["spec"];
    // What a pod says as a whole is of cpu and memory alone.
    delete disk.resources;
    const limit = podLimits(disk).get("ephemeral-storage");
    if (!spec.resources) expect(limit).toBe(podLimits(spec).get("memory"));
    const excess = (bytes: number): string | undefined =>
      storageExcess(
        podOf(disk),
        {
          containers: [],
          emptyDirs: new Map([["v", { bytes, inodes: 1 }]]),
          agentFiles: { bytes: 0, inodes: 0 },
          processes: 0,
        },
        false,
      )?.message;
    if (limit === undefined) return expect(excess(1e15)).toBeUndefined();
    expect(excess(limit)).toBeUndefined();
    expect(excess(limit + 1)).toMatch(/exceeds the total limit/);
  });
});

describe("a pod whose resources change in place", () => {
  const amounts = (cpu: string, memory: string): Record<string, string> => ({
    cpu,
    memory,
  });
  const resizing = (resize?: string): Pod => ({
    ...podOf({
      containers: [
        {
          name: "a",
          resources: {
            requests: amounts("100m", "300Mi"),
            limits: { cpu: "1" },
          },
        },
        { name: "b", resources: { requests: amounts("50m", "10Mi") } },
      ],
    }),
    status: {
      ...(resize ? { resize } : {}),
      containerStatuses: [
        {
          name: "a",
          resources: {
            requests: amounts("200m", "100Mi"),
            limits: { cpu: "500m", memory: "1Gi" },
          },
        },
        { name: "gone", resources: { requests: amounts("9", "9Gi") } },
      ] as NonNullable<Pod["status"]>["containerStatuses"],
    },
  });
  const usage = (pod: Pod): unknown => {
    const all = usageOf("", "pods", pod as unknown as AnyObject, 0);
    return [
      "requests.cpu",
      "requests.memory",
      "limits.cpu",
      "limits.memory",
    ].map((name) => all[name]);
  };

  test.each([
    ["counts what is more", "InProgress", ["250m", "310Mi", "1", "1Gi"]],
    [
      "has what it had where it can't be",
      "Infeasible",
      ["250m", "110Mi", "500m", "1Gi"],
    ],
    [
      "counts it without a resize too",
      undefined,
      ["250m", "310Mi", "1", "1Gi"],
    ],
  ])("%s", (_, resize, expected) => {
    const pod = resizing(resize);
    expect(usage(pod)).toEqual(expected);
    const { requests } = new PodViews().of(pod);
    expect([requests.get("cpu"), requests.get("memory")]).toEqual([
      resourceAmount("cpu", expected[0]!),
      resourceAmount("memory", expected[1]!),
    ]);
  });

  test("reports are other ones when resources or feasibility differ", () => {
    const { status } = resizing("InProgress");
    expect(reportsOtherResources(status, { ...status, phase: "Running" })).toBe(
      false,
    );
    expect(reportsOtherResources(status, resizing("Infeasible").status)).toBe(
      true,
    );
    expect(reportsOtherResources(status, undefined)).toBe(true);
    expect(reportsOtherResources({ phase: "Running" }, undefined)).toBe(false);
  });
});
