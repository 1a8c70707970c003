// What the API server shows to webhooks (`kubeConfigFile` of an admission plug-in's configuration): the kubeconfig's
// users are named after the places they are for, `host:port`, `host`, `*.domain`, `*`; one without any is for all.
import type {
  KubeconfigUsers,
  UserCredentials,
} from "../../client/kubeconfig.ts";

/** The reference's order: the exact name, the nearest domain, the same without the usual port, "*", the context's user. */
export function credentialsFor(
  { users, current }: KubeconfigUsers,
  hostPort: string,
): UserCredentials | undefined {
  const host = hostPort.endsWith(":443") ? hostPort.slice(0, -4) : undefined;
  const found =
    namedFor(users, hostPort) ??
    (host === undefined ? undefined : namedFor(users, host)) ??
    users.get("*");
  return found ?? (current === undefined ? undefined : users.get(current));
}

function namedFor(
  users: KubeconfigUsers["users"],
  place: string,
): UserCredentials | undefined {
  const exact = users.get(place);
  if (exact) return exact;
  const steps = place.split(".");
  for (let at = 1; at < steps.length; at++) {
    const found = users.get(`*.${steps.slice(at).join(".")}`);
    if (found) return found;
  }
  return undefined;
}
