// What this program calls itself, and which Kubernetes version it behaves like.
import { versionInfo } from "../api/facts/version.ts";

/** Replaced by the build with package.json's version. */
declare const ORBIT_VERSION: string | undefined;

export const orbitVersion: string =
  typeof ORBIT_VERSION === "string" ? ORBIT_VERSION : "0.0.0-source";

/** The reference whose behaviour is followed, as /version and the nodes report it. */
export const kubernetesVersion: string = versionInfo.gitVersion;
