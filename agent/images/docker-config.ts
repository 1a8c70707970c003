// Credentials as docker keeps them: `auths` of a config.json, or the older .dockercfg that is such a map itself.
import type { Secret } from "../../api/types/core-v1.ts";
import type { ImageAuth } from "../../cri/runtime.ts";
import {
  isHubKey,
  isHubRepository,
  registryKey,
  servesRepository,
} from "./registry-keys.ts";

/** One entry: whose registry it serves (registryKey's form), and with what. */
export interface RegistryCredentials {
  readonly key: string;
  readonly auth: ImageAuth;
}

interface DockerEntry {
  username?: string;
  password?: string;
  auth?: string;
  identitytoken?: string;
  registrytoken?: string;
}

/** @throws SyntaxError or TypeError for what is no such file; the text is never part of the message */
export function parseDockerConfig(
  text: string,
  form: "config.json" | ".dockercfg",
): RegistryCredentials[] {
  const document: unknown = parse(text);
  const entries = form === ".dockercfg" ? document : fieldOf(document, "auths");
  if (entries === undefined || entries === null) return [];
  if (typeof entries !== "object")
    throw new TypeError("no map of registries to credentials");
  return Object.entries(entries).flatMap(([location, entry]) =>
    entry !== null && typeof entry === "object"
      ? [
          {
            key: registryKey(location),
            auth: imageAuth(entry as DockerEntry),
          },
        ]
      : [],
  );
}

/** Those of a Secret of either type. @throws as parseDockerConfig */
export function secretCredentials(secret: Secret): RegistryCredentials[] {
  const modern = secret.data?.[".dockerconfigjson"];
  if (modern) return parseDockerConfig(decode(modern), "config.json");
  const legacy = secret.data?.[".dockercfg"];
  return legacy ? parseDockerConfig(decode(legacy), ".dockercfg") : [];
}

/** Those that serve a repository, the more specific first; Docker Hub's where nothing else serves an image of the Hub. */
export function credentialsOf(
  all: readonly RegistryCredentials[],
  repository: string,
): ImageAuth[] {
  const serving = all.filter(({ key }) => servesRepository(key, repository));
  const chosen =
    serving.length === 0 && isHubRepository(repository)
      ? all.filter(({ key }) => isHubKey(key))
      : serving;
  return [...chosen]
    .sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0))
    .map(({ auth }) => auth);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("not JSON");
  }
}

function fieldOf(document: unknown, name: string): unknown {
  if (document === null || typeof document !== "object")
    throw new TypeError("no map");
  return (document as Record<string, unknown>)[name];
}

function imageAuth(entry: DockerEntry): ImageAuth {
  const text = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;
  // The pair counts where there is one, whatever is beside it, as at the reference.
  const pair = decode(text(entry.auth) ?? "");
  const colon = pair.indexOf(":");
  const username = colon < 0 ? text(entry.username) : pair.slice(0, colon);
  const password = colon < 0 ? text(entry.password) : pair.slice(colon + 1);
  const identityToken = text(entry.identitytoken);
  const registryToken = text(entry.registrytoken);
  return {
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(identityToken ? { identityToken } : {}),
    ...(registryToken ? { registryToken } : {}),
  };
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
