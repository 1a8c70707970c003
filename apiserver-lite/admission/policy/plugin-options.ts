// What the plug-ins of admission policies are given.
import type { Authorizer } from "../../../api/contracts.ts";
import type { ClusterState } from "../../resources/state.ts";
import type { ParamLookup } from "./params.ts";
import type { PolicyMetrics } from "./policy-metrics.ts";

export interface PolicyPluginOptions {
  readonly state: ClusterState;
  readonly authorizer: Authorizer;
  readonly params: ParamLookup;
  readonly metrics: PolicyMetrics;
}
