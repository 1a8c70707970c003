// A container's AppArmor profile, from its fields or the older annotation.
import type {
  AppArmorProfile,
  Container,
  Pod,
} from "../../../api/types/core-v1.ts";

const annotationPrefix = "container.apparmor.security.beta.kubernetes.io/";

/** The container's own, else the annotation's, else the pod's. */
export function appArmorProfileOf(
  pod: Pod,
  container: Container,
): AppArmorProfile | undefined {
  return (
    container.securityContext?.appArmorProfile ??
    ofAnnotation(
      pod.metadata.annotations?.[annotationPrefix + container.name],
    ) ??
    pod.spec.securityContext?.appArmorProfile
  );
}

function ofAnnotation(text: string | undefined): AppArmorProfile | undefined {
  if (text === undefined || text === "") return undefined;
  if (text.startsWith("localhost/"))
    return { type: "Localhost", localhostProfile: text.slice(10) };
  if (text === "unconfined") return { type: "Unconfined" };
  return { type: "RuntimeDefault" };
}
