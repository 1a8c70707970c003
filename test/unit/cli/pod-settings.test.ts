// Fields of a KubeletConfiguration about the life of pods: what they become, and what is refused.
import { agentOptions } from "../../../cli/options/agent.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { parseOptions, type OptionValues } from "../../../cli/options/parse.ts";
import { agentConfig } from "../../../cli/parts/agent/agent-config.ts";
import { checkAgentOptions } from "../../../cli/parts/agent/checks/agent-checks.ts";

async function valuesOf(body: string): Promise<OptionValues> {
  const fields = await configurationFields(
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${body}`,
    "k.yaml",
    agentOptions,
  );
  const { values, withoutEffect } = settingsOf(fields, agentOptions);
  expect(withoutEffect).toEqual([]);
  return parseOptions(agentOptions, []).withFile(values);
}

const gate = "featureGates: {KubeletCrashLoopBackOffMax: true}\n";
const period = (text: string): string =>
  `crashLoopBackOff: {maxContainerRestartPeriod: ${text}}\n`;

test.each([
  ["", 300_000],
  [gate, 300_000],
  [gate + period("20s"), 20_000],
  [gate + period("1s"), 1000],
])("the longest delay of restarts: %j", async (body, expected) => {
  const values = await valuesOf(body);
  checkAgentOptions(values);
  expect(agentConfig(values).maxRestartPeriodMs).toBe(expected);
});

test.each([
  [period("20s"), /KubeletCrashLoopBackOffMax not enabled/],
  [gate + period("301s"), /got: 301 seconds\) must be set between 1s and 300s/],
  [gate + period("500ms"), /maxContainerRestartPeriod/],
])("refused: %j", async (body, expected) => {
  await expect(
    valuesOf(body).then((values) => checkAgentOptions(values)),
  ).rejects.toThrow(expected);
});

test("how changes of objects are noticed", async () => {
  const strategy = async (body: string): Promise<string | undefined> =>
    agentConfig(await valuesOf(body)).objectChangeDetection;
  expect(await strategy("")).toBe("Watch");
  expect(
    await strategy("configMapAndSecretChangeDetectionStrategy: Cache\n"),
  ).toBe("Cache");
  await expect(
    strategy("configMapAndSecretChangeDetectionStrategy: Sometimes\n"),
  ).rejects.toThrow(/configMapAndSecretChangeDetectionStrategy/);
});
