// Names of containerd leases, which protect what an import makes until it is whole.
import { randomBytes } from "node:crypto";

export function leaseId(): string {
  return `orbit-${randomBytes(8).toString("hex")}`;
}
