// Pod and container security contexts joined (the container's wins) and turned into what the runtime wants, with the
// reference's rules: runAsNonRoot against the image's user, AllowPrivilegeEscalation, namespaces shared in the pod.
import { join } from "node:path";
import type {
  Container,
  Pod,
  SeccompProfile,
  AppArmorProfile,
} from "../../../api/types/core-v1.ts";
import type {
  ContainerConfig,
  ImageSummary,
  NamespaceMode,
  SandboxConfig,
  SecurityProfile,
} from "../../../cri/runtime.ts";
import { appArmorProfileOf } from "../shape/app-armor-profile.ts";

function namespaceModes(pod: Pod): {
  network: NamespaceMode;
  pid: NamespaceMode;
  ipc: NamespaceMode;
} {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = pod.spec;
  return {
    network: hostNetwork ? "node" : "pod",
    pid: hostPID ? "node" : shareProcessNamespace ? "pod" : "container",
    ipc: hostIPC ? "node" : "pod",
  };
}

export function sandboxSecurity(pod: Pod): SandboxConfig["security"] {
  const context = pod.spec.securityContext ?? {};
  const security: SandboxConfig["security"] = {
    ...namespaceModes(pod),
    privileged: [
      ...(pod.spec.initContainers ?? []),
      ...pod.spec.containers,
    ].some((container) => container.securityContext?.privileged === true),
    readonlyRootfs: false,
    supplementalGroups: supplementalGroups(pod),
    // The sandbox process does nothing: it always gets the default profile, as the reference does.
    seccomp: { type: "runtime-default" },
  };
  if (context.runAsUser !== undefined) security.runAsUser = context.runAsUser;
  if (context.runAsGroup !== undefined && context.runAsUser !== undefined)
    security.runAsGroup = context.runAsGroup;
  if (context.seLinuxOptions) security.selinux = context.seLinuxOptions;
  Object.assign(security, groupsPolicy(pod));
  return security;
}

function supplementalGroups(pod: Pod): number[] {
  const context = pod.spec.securityContext;
  const groups = [...(context?.supplementalGroups ?? [])];
  if (context?.fsGroup !== undefined) groups.push(context.fsGroup);
  return groups;
}

export interface SeccompSettings {
  /** Containers that name no profile get the runtime's. */
  readonly byDefault: boolean;
  /** Of the profiles that lie on the node. */
  readonly profileDirectory: string;
}

/** Throws with the text for CreateContainerConfigError when the image's user breaks runAsNonRoot. */
export function containerSecurity(
  pod: Pod,
  container: Container,
  image: Pick<ImageSummary, "uid" | "username"> | undefined,
  seccomp: SeccompSettings,
): ContainerConfig["security"] {
  const own = container.securityContext ?? {};
  const shared = pod.spec.securityContext ?? {};
  const runAsUser = own.runAsUser ?? shared.runAsUser;
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup;
  verifyNonRoot(
    pod,
    container,
    own.runAsNonRoot ?? shared.runAsNonRoot,
    runAsUser,
    image,
  );
  const privileged = own.privileged === true;
  const security: ContainerConfig["security"] = {
    ...namespaceModes(pod),
    privileged,
    capabilitiesAdd: own.capabilities?.add ?? [],
    capabilitiesDrop: own.capabilities?.drop ?? [],
    supplementalGroups: supplementalGroups(pod),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    noNewPrivs: own.allowPrivilegeEscalation === false,
    unmaskedProc: own.procMount === "Unmasked",
    seccomp: seccompProfile(
      own.seccompProfile ?? shared.seccompProfile,
      privileged,
      seccomp,
    ),
  };
  if (runAsUser !== undefined) security.runAsUser = runAsUser;
  else if (image?.uid !== undefined) security.runAsUser = image.uid;
  else if (image?.username) security.runAsUsername = image.username;
  if (runAsGroup !== undefined) security.runAsGroup = runAsGroup;
  const apparmor = appArmorProfile(appArmorProfileOf(pod, container));
  if (apparmor) security.apparmor = apparmor;
  const selinux = own.seLinuxOptions ?? shared.seLinuxOptions;
  if (selinux) security.selinux = selinux;
  Object.assign(security, groupsPolicy(pod));
  return security;
}

function groupsPolicy({ spec }: Pod): {
  supplementalGroupsPolicy?: "Merge" | "Strict";
} {
  const policy = spec.securityContext?.supplementalGroupsPolicy;
  if (policy === undefined) return {};
  if (policy !== "Merge" && policy !== "Strict")
    throw new Error(`unsupported supplementalGroupsPolicy: ${policy}`);
  return { supplementalGroupsPolicy: policy };
}

/** What the image names is not checked by anybody else: runtimes cut it to 32 bits, and 4294967296 is root. */
const largestUserId = 2 ** 31 - 1;

function verifyNonRoot(
  pod: Pod,
  container: Container,
  runAsNonRoot: boolean | undefined,
  runAsUser: number | undefined,
  image: Pick<ImageSummary, "uid" | "username"> | undefined,
): void {
  if (!runAsNonRoot) return;
  const where = `(pod: "${pod.metadata.name}_${pod.metadata.namespace ?? "default"}(${pod.metadata.uid ?? ""})", container: ${container.name})`;
  if (runAsUser !== undefined) {
    if (runAsUser === 0)
      throw new Error(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  if (image?.username && image.uid === undefined)
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    );
  if (image?.uid === undefined || image.uid === 0)
    throw new Error(
      `container has runAsNonRoot and image will run as root ${where}`,
    );
  if (!(image.uid > 0 && image.uid <= largestUserId))
    throw new Error(
      `container has runAsNonRoot and image has a user (${image.uid}) that is no user id, cannot verify user is non-root ${where}`,
    );
}

function seccompProfile(
  profile: SeccompProfile | undefined,
  privileged: boolean,
  { byDefault, profileDirectory }: SeccompSettings,
): SecurityProfile {
  if (privileged) return { type: "unconfined" };
  if (!profile) return { type: byDefault ? "runtime-default" : "unconfined" };
  switch (profile.type) {
    case "RuntimeDefault":
      return { type: "runtime-default" };
    case "Localhost":
      if (!profile.localhostProfile)
        throw new Error(
          "localhostProfile must be set if seccompProfile type is Localhost.",
        );
      return {
        type: "localhost",
        localhostRef: join(profileDirectory, profile.localhostProfile),
      };
    default:
      return { type: "unconfined" };
  }
}

function appArmorProfile(
  profile: AppArmorProfile | undefined,
): SecurityProfile | undefined {
  switch (profile?.type) {
    case undefined:
      return undefined;
    case "Localhost":
      return {
        type: "localhost",
        localhostRef: profile.localhostProfile ?? "",
      };
    case "Unconfined":
      return { type: "unconfined" };
    default:
      return { type: "runtime-default" };
  }
}
