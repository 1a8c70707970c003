// shutdownGracePeriod and its like in a KubeletConfiguration: the periods they make, and what is refused.
import { agentOptions } from "../../../cli/options/agent.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { shutdownPeriods } from "../../../cli/parts/agent/shutdown-periods.ts";

async function periods(
  body: string,
  featureGates: Readonly<Record<string, boolean>> = {},
) {
  const fields = await configurationFields(
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${body}`,
    "k.yaml",
    agentOptions,
  );
  return shutdownPeriods(
    parseOptions(agentOptions, []).withFile(
      settingsOf(fields, agentOptions).values,
    ),
    featureGates,
  );
}

test("a period with a part for critical pods makes two", async () => {
  expect(
    await periods(
      "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n",
    ),
  ).toEqual([
    { priority: 0, graceSeconds: 20 },
    { priority: 2_000_000_000, graceSeconds: 10 },
  ]);
});

test("periods by priority are taken as they are", async () => {
  expect(
    await periods(
      "shutdownGracePeriodByPodPriority:\n- {priority: 100000, shutdownGracePeriodSeconds: 10}\n- {priority: -5, shutdownGracePeriodSeconds: 60}\n",
    ),
  ).toEqual([
    { priority: 100_000, graceSeconds: 10 },
    { priority: -5, graceSeconds: 60 },
  ]);
});

test("without any the shutdown is not held up", async () => {
  expect(await periods("")).toEqual([]);
});

test.each([
  ["shutdownGracePeriod: 500ms\n", /^shutdownGracePeriod: must be either zero/],
  [
    "shutdownGracePeriod: 10s\nshutdownGracePeriodCriticalPods: 20s\n",
    /^shutdownGracePeriodCriticalPods: must be less/,
  ],
  [
    "shutdownGracePeriod: 10s\nshutdownGracePeriodByPodPriority:\n- {priority: 0, shutdownGracePeriodSeconds: 10}\n",
    /cannot be set together/,
  ],
  [
    "shutdownGracePeriodByPodPriority:\n- {priority: high, shutdownGracePeriodSeconds: 10}\n",
    /whole numbers/,
  ],
  ["shutdownGracePeriodByPodPriority:\n- {priority: 1}\n", /whole numbers/],
  ["shutdownGracePeriod: soon\n", /k\.yaml:3: shutdownGracePeriod/],
])("refuses %#", async (body, message) => {
  await expect(periods(body)).rejects.toThrow(message);
});

test("each kind of period needs its gate; without periods neither matters", async () => {
  const both = {
    GracefulNodeShutdown: false,
    GracefulNodeShutdownBasedOnPodPriority: false,
  };
  expect(await periods("", both)).toEqual([]);
  await expect(periods("shutdownGracePeriod: 10s\n", both)).rejects.toThrow(
    /shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown$/,
  );
  const byPriority =
    "shutdownGracePeriodByPodPriority:\n- {priority: 1, shutdownGracePeriodSeconds: 5}\n";
  await expect(periods(byPriority, both)).rejects.toThrow(
    /ByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority$/,
  );
  expect(
    await periods("shutdownGracePeriod: 10s\n", {
      GracefulNodeShutdownBasedOnPodPriority: false,
    }),
  ).toHaveLength(2);
  expect(
    await periods(byPriority, {
      GracefulNodeShutdownBasedOnPodPriority: true,
    }),
  ).toHaveLength(1);
});
