// A KMS provider of an EncryptionConfiguration: its name, socket and timeout, and what the reference refuses of it, in its
// texts. Version 1 is off in the reference unless its gate is on, and not built here: it is refused by name either way.
import type { KmsEndpoint } from "../../../../apiserver-lite/index.ts";
import { parseDurationMs } from "../../../../api/duration.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { ConfigurationSection } from "../../configuration-section.ts";

const defaultTimeoutMs = 3000;
const gateText =
  "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.";

export interface KmsV1 {
  /** Is the gate KMSv1 on? */
  readonly gate: boolean;
  /** The file is followed: names of version 1 are unique too. */
  readonly reload: boolean;
}

/** Undefined: it is refused. @param names of the providers before it; its own is added */
export function readKms(
  section: ConfigurationSection,
  names: Set<string>,
  { gate, reload }: KmsV1,
): KmsEndpoint | undefined {
  section.fields(["apiVersion", "name", "cachesize", "endpoint", "timeout"]);
  const version = section.text("apiVersion") || "v1";
  const first = version === "v1";
  const name = section.text("name");
  if (name === "") missing(section, "name", "provider");
  if (!first && name.includes(":"))
    invalid(
      section,
      "name",
      `invalid KMS provider name ${name}, must not contain ':'`,
    );
  if ((reload || !first) && names.has(name))
    invalid(
      section,
      "name",
      `duplicate KMS provider name ${name}, names must be unique`,
    );
  names.add(name);
  const timeoutMs = readTimeout(section);
  const socketPath = readEndpoint(section);
  checkCacheSize(section, first);
  if (!first && version !== "v2")
    // The reference's text has the field's name where the value belongs.
    invalid(
      section,
      "apiVersion",
      "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported",
    );
  if (first)
    section.problem(gate ? "KMS v1 providers are not implemented" : gateText);
  return !first && socketPath !== undefined && timeoutMs !== undefined
    ? { name, socketPath, timeoutMs }
    : undefined;
}

function invalid(
  section: ConfigurationSection,
  field: string,
  detail: string,
): void {
  const { path, value } = section.child(field);
  section.problem(fieldErrors.invalid(path, value ?? "", detail).detail, path);
}

function missing(
  section: ConfigurationSection,
  field: string,
  of: string,
): void {
  const path = section.pathOf(field);
  const detail = `${field} is a mandatory field for a ${of}`;
  section.problem(fieldErrors.required(path, detail).detail, path);
}

/** Version 1 has a default. */
function checkCacheSize(section: ConfigurationSection, first: boolean): void {
  const { value } = section.child("cachesize");
  if (value === undefined || value === null) return;
  const size = section.integer("cachesize");
  if (!first) invalid(section, "cachesize", "cachesize is not supported in v2");
  else if (size === 0)
    invalid(
      section,
      "cachesize",
      "cachesize should be a positive value, or negative to disable",
    );
}

/** Undefined: it names no socket, which has been reported. */
function readEndpoint(section: ConfigurationSection): string | undefined {
  const endpoint = section.text("endpoint");
  if (endpoint === "") {
    missing(section, "endpoint", "kms");
    return undefined;
  }
  const { socketPath, problem } = socketOf(endpoint);
  if (problem !== undefined) invalid(section, "endpoint", problem);
  return socketPath;
}

/** Undefined: it is none, which has been reported. */
function readTimeout(section: ConfigurationSection): number | undefined {
  const { value } = section.child("timeout");
  if (value === undefined || value === null) return defaultTimeoutMs;
  try {
    const timeoutMs = parseDurationMs(section.text("timeout"));
    if (timeoutMs > 0) return timeoutMs;
    invalid(section, "timeout", "timeout should be a positive value");
  } catch (error) {
    section.problem((error as Error).message, section.pathOf("timeout"));
  }
  return undefined;
}

/** `unix:///run/kms.sock`; `unix:///@name` is a socket without a file. */
function socketOf(endpoint: string): { socketPath?: string; problem?: string } {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(endpoint)?.[1];
  const failed = (why: string): { problem: string } => ({
    problem: `invalid endpoint for kms provider, error: parse ${JSON.stringify(endpoint)}: ${why}`,
  });
  if (/\p{Cc}/u.test(endpoint))
    return failed("net/url: invalid control character in URL");
  if (scheme === undefined && /^[^/]*:/.test(endpoint))
    return failed(
      endpoint.startsWith(":")
        ? "missing protocol scheme"
        : "first path segment in URL cannot contain colon",
    );
  if (scheme?.toLowerCase() !== "unix")
    return {
      problem: `unsupported scheme ${JSON.stringify((scheme ?? "").toLowerCase())} for KMS provider, only unix is supported`,
    };
  const path = pathOf(endpoint.slice("unix:".length));
  if (path === undefined) return failed("invalid URL escape");
  // The reference takes it, and never finds a plug-in.
  if (path === "" || path === "/") return { problem: "it names no socket" };
  return {
    socketPath: path.startsWith("/@") ? `\0${path.slice(2)}` : path,
  };
}

/** Of a URL without its scheme. Undefined: it is not well written. */
function pathOf(rest: string): string | undefined {
  const named = /^(?:\/\/[^/?#]*)?(\/[^?#]*)?/.exec(rest)?.[1] ?? "";
  try {
    return decodeURIComponent(named);
  } catch {
    return undefined;
  }
}
