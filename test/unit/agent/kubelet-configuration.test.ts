// The agent's own settings as a KubeletConfiguration, which /configz shows over the options.
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { kubeletConfiguration } from "../../../agent/config/kubelet-configuration.ts";

test("the gates that the agent was given by the cluster are shown", () => {
  const of = (featureGates: Record<string, boolean>): object =>
    kubeletConfiguration(resolveAgentConfig({ nodeName: "n", featureGates }));
  const gates = { InPlacePodVerticalScaling: true };
  expect(of(gates)).toMatchObject({ featureGates: gates });
  expect(of({})).not.toHaveProperty("featureGates");
});
