// Which entry of a docker configuration serves an image: the names of registries as docker writes them, with wildcards in
// the labels of host names (`*.dkr.ecr.*.amazonaws.com`), ports and path prefixes (the reference's pkg/credentialprovider).
import { matchesGlob } from "../../api/patterns/glob.ts";
import { namesDomain } from "./image-reference.ts";

const hubHost = "index.docker.io";

/** A registry as the key of a docker configuration names it, without scheme and API version: `host[:port][/path]`. */
export function registryKey(location: string): string {
  const [host = "", ...rest] = location
    .replace(/^https?:\/\//, "")
    .replace(/\/v[12](?=\/|$)/, "")
    .split("/");
  const path = rest.filter(Boolean).join("/");
  return path === "" ? host : `${host}/${path}`;
}

/** `busybox:1` → `docker.io/library/busybox`: the full name without tag and digest. */
export function repositoryName(image: string): string {
  const name = image.replace(/@.*$/s, "").replace(/:[^:/]*$/, "");
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  if (first === hubHost) return `docker.io/${name.slice(slash + 1)}`;
  if (namesDomain(first)) return name;
  return `docker.io/${slash < 0 ? `library/${name}` : name}`;
}

/** Whether `key` serves a repository; both as the functions above return them. */
export function servesRepository(key: string, repository: string): boolean {
  const wanted = splitName(key);
  const actual = splitName(repository);
  return (
    wanted.port === actual.port &&
    wanted.labels.length === actual.labels.length &&
    actual.path.startsWith(wanted.path) &&
    wanted.labels.every((label, index) =>
      matchesGlob(label, actual.labels[index]!),
    )
  );
}

/** Docker Hub's credentials serve its images where no other entry does. */
export function isHubKey(key: string): boolean {
  return key === hubHost;
}

export function isHubRepository(repository: string): boolean {
  return repository.startsWith("docker.io/");
}

function splitName(name: string): {
  labels: readonly string[];
  port: string;
  path: string;
} {
  const slash = name.indexOf("/");
  const host = slash < 0 ? name : name.slice(0, slash);
  const colon = host.lastIndexOf(":");
  return {
    labels: (colon < 0 ? host : host.slice(0, colon)).split("."),
    port: colon < 0 ? "" : host.slice(colon + 1),
    path: slash < 0 ? "" : name.slice(slash),
  };
}
