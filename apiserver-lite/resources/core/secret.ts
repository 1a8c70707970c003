// Secrets: stringData is written into data and never returned; each well-known type asks for its keys; 1 MiB in all;
// the type never changes; `immutable`. Values never appear in problems.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { parseJsonSlowly } from "../../../api/codec/json-text.ts";
import { dataKeyProblems } from "../../../api/names.ts";
import type { Secret } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { immutable } from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { encodeStringData } from "../../../api/objects/string-data.ts";
import { decodedBytes, immutableText, maxDataBytes } from "./config-map.ts";

const serviceAccountToken = "kubernetes.io/service-account-token";
const serviceAccountName = "kubernetes.io/service-account.name";

/** Keys that a type can't do without. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

function jsonKeyProblems(secret: Secret, key: string): FieldError[] {
  const value = secret.data?.[key];
  const field = `data[${key}]`;
  if (value === undefined) return [fieldErrors.required(field)];
  try {
    parseJsonSlowly(Buffer.from(value, "base64").toString());
    return [];
  } catch (error) {
    return [
      fieldErrors.invalid(
        field,
        "<secret contents redacted>",
        error instanceof Error ? error.message : "",
      ),
    ];
  }
}

function typeProblems(secret: Secret): FieldError[] {
  const data = secret.data ?? {};
  switch (secret.type) {
    case serviceAccountToken:
      return secret.metadata.annotations?.[serviceAccountName]
        ? []
        : [fieldErrors.required(`metadata.annotations[${serviceAccountName}]`)];
    case "kubernetes.io/dockercfg":
      return jsonKeyProblems(secret, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonKeyProblems(secret, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return "username" in data || "password" in data
        ? []
        : [
            fieldErrors.required("data[username]"),
            fieldErrors.required("data[password]"),
          ];
    default:
      return (requiredKeys[secret.type ?? ""] ?? [])
        .filter((key) => !(key in data))
        .map((key) => fieldErrors.required(`data[${key}]`));
  }
}

/** `stringData` has been encoded. */
export function secretProblems(secret: Secret): FieldError[] {
  const problems: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    problems.push(...invalidEach(`data[${key}]`, key, dataKeyProblems(key)));
    bytes += decodedBytes(value);
  }
  if (bytes > maxDataBytes)
    problems.push(fieldErrors.tooLong("data", maxDataBytes));
  return [...problems, ...typeProblems(secret)];
}

export const secretStrategy = strategyOf<Secret>({
  countsGeneration: false,
  setDefaults(secret) {
    secret.type ||= "Opaque";
    encodeStringData(secret);
  },
  prepareForUpdate(object, old) {
    object.type ||= old.type;
  },
  validate: (secret) => secretProblems(secret),
  validateUpdate(now, was) {
    const problems = immutable("type", now.type, was.type);
    if (!was.immutable) return problems;
    if (!now.immutable)
      problems.push(fieldErrors.forbidden("immutable", immutableText));
    if (!sameValue(now.data, was.data))
      problems.push(fieldErrors.forbidden("data", immutableText));
    return problems;
  },
  *warnings(object) {
    const { type, data = {} } = object;
    if (type !== "kubernetes.io/tls") return;
    for (const [key, what] of [
      ["tls.crt", "certificate"],
      ["tls.key", "key"],
    ] as const) {
      const text = Buffer.from(data[key] ?? "", "base64").toString("latin1");
      if (/-----BEGIN [^-]+-----/.test(text)) continue;
      yield `tls: failed to find any PEM data in ${what} input`;
      return;
    }
  },
  selectableFields: (object) => ({ type: object.type ?? "" }),
  printRow: (object, now) => {
    const { metadata, type, data } = object;
    return [
      metadata.name,
      type ?? "",
      Object.keys(data ?? {}).length,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
