// Credentials for pulling an image, from the docker configurations in the pod's imagePullSecrets. An entry serves an
// image when its registry (with * for one label of a host name) and path prefix match; longer paths first.
import type { Pod, Secret } from "../../api/types/core-v1.ts";
import type { ImageAuth } from "../../cri/runtime.ts";

interface DockerEntry {
  username?: string;
  password?: string;
  auth?: string;
  identitytoken?: string;
  registrytoken?: string;
}

/** Secrets that are missing or malformed are passed over: the pull may work without. */
export async function imageCredentials(
  pod: Pod,
  image: string,
  secret: (namespace: string, name: string) => Promise<Secret | undefined>,
): Promise<ImageAuth[]> {
  const names = (pod.spec.imagePullSecrets ?? [])
    .map(({ name }) => name ?? "")
    .filter(Boolean);
  const found: { path: string; auth: ImageAuth }[] = [];
  for (const name of names) {
    const entries = dockerEntries(
      await secret(pod.metadata.namespace ?? "default", name),
    );
    for (const [registry, entry] of Object.entries(entries))
      if (matchesRegistry(registry, image))
        found.push({ path: registry, auth: imageAuth(registry, entry) });
  }
  return found
    .sort((a, b) => b.path.length - a.path.length)
    .map(({ auth }) => auth);
}

function dockerEntries(
  secret: Secret | undefined,
): Record<string, DockerEntry> {
  try {
    const modern = secret?.data?.[".dockerconfigjson"];
    if (modern)
      return (
        (JSON.parse(decode(modern)) as { auths?: Record<string, DockerEntry> })
          .auths ?? {}
      );
    const legacy = secret?.data?.[".dockercfg"];
    return legacy
      ? (JSON.parse(decode(legacy)) as Record<string, DockerEntry>)
      : {};
  } catch {
    return {};
  }
}

function imageAuth(serverAddress: string, entry: DockerEntry): ImageAuth {
  const [username, ...password] = entry.auth
    ? decode(entry.auth).split(":")
    : [];
  return {
    serverAddress,
    ...(entry.username || username
      ? { username: entry.username ?? username! }
      : {}),
    ...(entry.password || password.length > 0
      ? { password: entry.password ?? password.join(":") }
      : {}),
    ...(entry.identitytoken ? { identityToken: entry.identitytoken } : {}),
    ...(entry.registrytoken ? { registryToken: entry.registrytoken } : {}),
  };
}

/** `registry` as docker writes it: a host, host and path, or `https://index.docker.io/v1/`. */
function matchesRegistry(registry: string, image: string): boolean {
  const [host = "", ...path] = registry
    .replace(/^https?:\/\//, "")
    .replace(/\/v[12]\/?$/, "")
    .replace(/\/$/, "")
    .split("/");
  const [first = "", ...rest] = image.split("/");
  const named =
    rest.length > 0 &&
    (first.includes(".") || first.includes(":") || first === "localhost");
  const imageHost = named ? first : "index.docker.io";
  const imagePath = named ? rest : [first, ...rest];
  const canonical = (name: string): string =>
    ["docker.io", "registry-1.docker.io"].includes(name)
      ? "index.docker.io"
      : name;
  const wanted = canonical(host).split(".");
  const actual = canonical(imageHost).split(".");
  if (
    wanted.length !== actual.length ||
    wanted.some((label, index) => label !== "*" && label !== actual[index])
  )
    return false;
  return path.every(
    (segment, index) => segment === imagePath[index]?.split(/[:@]/)[0],
  );
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
