// Whether the API servers of a cluster agree on the version in which they store a resource: the common version of a
// StorageVersion, and the condition that says so.
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from "../types/apiserverinternal-v1alpha1.ts";
import { findCondition } from "./conditions.ts";

const type = "AllEncodingVersionsEqual";

/** The status with these servers; `time` is when that becomes known. */
export function storageStatusOf(
  servers: readonly ServerStorageVersion[],
  old: Readonly<StorageVersionStatus>,
  time: string,
): StorageVersionStatus {
  const versions = new Set(servers.map((server) => server.encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  const was = findCondition(old.conditions, type);
  const status = common === undefined ? "False" : "True";
  // One common version in the place of another is a transition too.
  const stays =
    was?.status === status &&
    (common === undefined ||
      old.commonEncodingVersion === undefined ||
      old.commonEncodingVersion === common);
  const condition: StorageVersionCondition = {
    type,
    status,
    lastTransitionTime: (stays && was.lastTransitionTime) || time,
    reason:
      common === undefined
        ? "CommonEncodingVersionUnset"
        : "CommonEncodingVersionSet",
    message: `Common encoding version ${common === undefined ? "unset" : "set"}`,
  };
  const others = (old.conditions ?? []).filter((each) => each !== was);
  return {
    storageVersions: [...servers],
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: [...others, condition],
  };
}
