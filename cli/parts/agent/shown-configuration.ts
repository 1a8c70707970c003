// What /configz shows: the options, over them what the agent made of them, and who may use the port.
import { agentOptions } from "../../options/agent.ts";
import { effectiveConfiguration } from "../../options/kubelet-configuration/effective-configuration.ts";
import type { OptionValues } from "../../options/parse.ts";

const samplingRate = "tracing-sampling-rate-per-million";

interface ShownOptions {
  readonly values: OptionValues;
  /** The agent's own. */
  readonly settings: object;
  /** That the port listens on. */
  readonly address: string;
  /** The runtime's socket, however it was chosen. */
  readonly runtimeEndpoint: string | undefined;
  /** The cluster's own authentication and authorization hold, whatever the options say. */
  readonly inCluster: boolean;
}

export function shownConfiguration({
  values,
  settings,
  address,
  runtimeEndpoint,
  inCluster,
}: ShownOptions): object {
  const shown = effectiveConfiguration(values, agentOptions);
  if (runtimeEndpoint) shown["containerRuntimeEndpoint"] = runtimeEndpoint;
  // Not given, the runtime is found, or a private one.
  else if (!values.isSet("container-runtime-endpoint"))
    delete shown["containerRuntimeEndpoint"];
  if (!values.isSet("tracing-endpoint") && !values.isSet(samplingRate))
    delete shown["tracing"];
  // Unset means false on version 2 of cgroups; version 1 refuses a false that is said.
  if (!values.isSet("single-process-oom-kill"))
    delete shown["singleProcessOOMKill"];
  const all = {
    ...shown,
    // Its default only warns: a client that writes back what it read does not ask for the refusal.
    failCgroupV1: values.isSet("fail-cgroupv1") && values.flag("fail-cgroupv1"),
    ...settings,
    address,
  };
  if (!inCluster) return all;
  const { authentication, authorization } = shown as Record<
    string,
    Record<string, object>
  >;
  return {
    ...all,
    authentication: {
      ...authentication,
      anonymous: { enabled: false },
      webhook: { ...authentication?.["webhook"], enabled: true },
    },
    authorization: { ...authorization, mode: "Webhook" },
  };
}
