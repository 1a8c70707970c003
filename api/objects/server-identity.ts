// The leases by which the API servers of a cluster are known: one each in kube-system, with a label that says so.
import type { Lease } from "../types/coordination-v1.ts";

export const identityNamespace = "kube-system";
export const identityLabel = "apiserver.kubernetes.io/identity";
export const apiServerIdentity = "kube-apiserver";

export const isIdentityLease = ({ metadata }: Lease): boolean =>
  metadata.namespace === identityNamespace &&
  metadata.labels?.[identityLabel] === apiServerIdentity;

/** A lease that does not say how long it holds never held. */
export function isLeaseExpired({ spec }: Lease, nowMs: number): boolean {
  const { renewTime, leaseDurationSeconds } = spec ?? {};
  return (
    !renewTime ||
    leaseDurationSeconds === undefined ||
    Date.parse(renewTime) + leaseDurationSeconds * 1000 < nowMs
  );
}
