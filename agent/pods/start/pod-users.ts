// The user namespace of a pod with `hostUsers: false`: which ids it has, and that it has them before anything of it runs.
// Invariant: no container of such a pod is made in a sandbox that the runtime does not report to have just these ids, as
// a runtime that does not know user namespaces leaves out what it is asked for, and says nothing.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { SandboxConfig, SandboxStatus } from "../../../cri/runtime.ts";
import type { UserMappings } from "../../../cri/user-mappings.ts";
import {
  sameUsers,
  type UserNamespaces,
} from "../../resources/users/user-namespaces.ts";
import { userNamespaceRefusal, type NodeFeatures } from "./node-features.ts";

export interface PodUsersContext {
  /** Of the runtime. */
  readonly features: () => NodeFeatures;
  /** Absent without the gate UserNamespacesSupport. */
  readonly userNamespaces?: Pick<UserNamespaces, "of"> | undefined;
}

/** The configuration with the pod's ids, where it has some of its own. Rejects when it can't have them. */
export async function withPodUsers(
  { features, userNamespaces }: PodUsersContext,
  pod: Pod,
  handler: string,
  config: SandboxConfig,
): Promise<SandboxConfig> {
  const refusal = userNamespaceRefusal(
    pod,
    handler,
    features(),
    userNamespaces !== undefined,
  );
  if (refusal !== undefined) throw new Error(refusal);
  if (pod.spec.hostUsers !== false) return config;
  const users: UserMappings = await userNamespaces!.of(pod.metadata.uid ?? "");
  return { ...config, security: { ...config.security, users } };
}

/** @throws Error when the sandbox was made without the namespace that was asked for */
export function assertUsers(
  { users }: SandboxStatus,
  { security }: SandboxConfig,
): void {
  if (security.users && !sameUsers(users, security.users))
    throw new Error(
      "the runtime does not report the pod's user namespace of its sandbox",
    );
}
