// What the agent asks of dynamic resource allocation, and what it gets where that is off: pods with claims do not start.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { PreparedClaim } from "./claim-manager.ts";

export interface PodClaims {
  start(): Promise<void>;
  stop(): void;
  prepare(pod: Pod): Promise<void>;
  cdiDevices(pod: Pod, container: Container): readonly string[];
  claimsOf(pod: Pod, container: Container): readonly PreparedClaim[];
  areUsedBy(uid: string): boolean;
  unprepare(uid: string): Promise<void>;
  unprepareOthers(isKnown: (uid: string) => boolean): void;
}

export const withoutClaims: PodClaims = {
  start: () => Promise.resolve(),
  stop: () => undefined,
  prepare: () =>
    Promise.reject(
      new Error(
        "dynamic resource allocation is off on this node (feature gate DynamicResourceAllocation)",
      ),
    ),
  cdiDevices: () => [],
  claimsOf: () => [],
  areUsedBy: () => false,
  unprepare: () => Promise.resolve(),
  unprepareOthers: () => undefined,
};
