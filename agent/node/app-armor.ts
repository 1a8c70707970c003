// Whether a pod's AppArmor profiles can be enforced: the kernel must have AppArmor on, and a profile of the host must be
// named.
import { readFileSync } from "node:fs";
import type { Pod } from "../../api/types/core-v1.ts";
import { appArmorProfileOf } from "../pods/shape/app-armor-profile.ts";
import { podContainers } from "../pods/shape/pod-shape.ts";

/** As the kernel says; read once. */
export function isAppArmorEnabled(
  parameter = "/sys/module/apparmor/parameters/enabled",
): boolean {
  try {
    return readFileSync(parameter, "utf8").startsWith("Y");
  } catch {
    return false;
  }
}

/** undefined: nothing is asked for, or it can be enforced. */
export function appArmorRefusal(
  pod: Pod,
  isEnabled: boolean,
): { reason: string; message: string } | undefined {
  const confined = podContainers(pod)
    .map(({ container }) => appArmorProfileOf(pod, container))
    .filter((profile) => profile && profile.type !== "Unconfined");
  const whole = pod.spec.securityContext?.appArmorProfile;
  if (confined.length === 0 && (!whole || whole.type === "Unconfined"))
    return undefined;
  const refuse = (why: string): { reason: string; message: string } => ({
    reason: "AppArmor",
    message: `Cannot enforce AppArmor: ${why}`,
  });
  if (!isEnabled) return refuse("AppArmor is not enabled on the host");
  const nameless = confined.find(
    (profile) =>
      profile?.type === "Localhost" && !profile.localhostProfile?.trim(),
  );
  return nameless && refuse("invalid empty AppArmor profile name");
}
