// Which resource's objects a name in a quota counts, as `group/resource`: `count/deployments.apps` → apps/deployments,
// `limits.cpu` → /pods. Undefined for a name that counts nothing.
import {
  areEvents,
  devicesSuffix,
  PLAIN_COUNTS,
  storageClassPart,
} from "../../api/objects/quota/usage.ts";

export function countedResource(name: string): string | undefined {
  const counted = /^count\/([^.]+)(?:\.(.+))?$/.exec(name);
  if (counted && areEvents(counted[2] ?? "", counted[1] ?? ""))
    return undefined;
  if (counted) return `${counted[2] ?? ""}/${counted[1]}`;
  if (PLAIN_COUNTS.has(name)) return `/${name}`;
  if (name.startsWith("services.")) return "/services";
  if (name.endsWith(devicesSuffix)) return "resource.k8s.io/resourceclaims";
  if (name === "requests.storage" || name.includes(storageClassPart))
    return "/persistentvolumeclaims";
  if (
    /^(requests|limits)\./.test(name) ||
    ["cpu", "memory", "ephemeral-storage"].includes(name) ||
    name.startsWith("hugepages-")
  )
    return "/pods";
  return undefined;
}
