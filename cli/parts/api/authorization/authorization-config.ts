// --authorization-config: the ordered authorizers of an API server, with the rules of each webhook. Every problem of the
// file is named with its line, in the reference's texts; match conditions are compiled here.
import { statSync } from "node:fs";
import {
  type AuthorizationWebhookRules,
  loadReviewConditionCompiler,
  type ReviewCondition,
  type ReviewConditionCompiler,
} from "../../../../apiserver-lite/index.ts";
import { formatDuration, parseDurationMs } from "../../../../api/duration.ts";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { dnsSubdomainProblems } from "../../../../api/names.ts";
import { ConfigurationSection } from "../../configuration-section.ts";

/** Sorted, as problems show them. */
const authorizerTypes = [
  ...(["ABAC", "AlwaysAllow", "AlwaysDeny"] as const),
  ...(["Node", "RBAC", "Webhook"] as const),
];
export type AuthorizerType = (typeof authorizerTypes)[number];

export interface WebhookEntry extends Omit<AuthorizationWebhookRules, "name"> {
  /** Of one call. */
  readonly timeoutMs: number;
  readonly kubeconfigFile: string;
}

export type AuthorizerEntry =
  | { readonly type: Exclude<AuthorizerType, "Webhook">; readonly name: string }
  | {
      readonly type: "Webhook";
      readonly name: string;
      readonly webhook: WebhookEntry;
    };

const kind = "AuthorizationConfiguration";
const versions = [
  "apiserver.config.k8s.io/v1alpha1",
  "apiserver.config.k8s.io/v1beta1",
  "apiserver.config.k8s.io/v1",
  "apiserver.k8s.io/v1beta1",
];
const maxConditions = 64;
const longestTimeoutMs = 30_000;
const defaultTtlMs = { authorizedTTL: 300_000, unauthorizedTTL: 30_000 };

/** The name that the reference gives each authorizer of the server's own. */
export const builtInName = (type: string): string => type.toLowerCase();

/**
 * @param required types that have to be there, because they were when the server started
 * @throws UsageError
 */
export async function readAuthorizationConfig(
  text: string,
  file: string,
  required: Iterable<AuthorizerType> = [],
): Promise<readonly AuthorizerEntry[]> {
  return ConfigurationSection.read(text, file, async (section) => {
    section.object(kind, versions, ["authorizers"]);
    const compiler = await loadReviewConditionCompiler();
    const items = section.items("authorizers");
    if (items.length === 0)
      report(
        section,
        fieldErrors.required(
          "authorizers",
          "at least one authorization mode must be defined",
        ),
      );
    const reader = new EntryReader(compiler);
    const entries = items.flatMap((item) => reader.read(item) ?? []);
    const missing = [...required].filter(
      (type) => type !== "Webhook" && !reader.types.has(type),
    );
    if (missing.length > 0)
      section.problem(
        `missing required types: [${missing.sort().join(" ")}]`,
        "authorizers",
      );
    return entries;
  });
}

function report(
  section: ConfigurationSection,
  { field, detail }: FieldError,
): void {
  section.problem(detail, field);
}

class EntryReader {
  readonly types = new Set<string>();
  readonly #names = new Set<string>();

  constructor(private readonly compiler: ReviewConditionCompiler) {}

  /** Undefined: it is refused. */
  read(item: ConfigurationSection): AuthorizerEntry | undefined {
    item.fields(["type", "name", "webhook"]);
    const type = this.#type(item);
    if (!type) return undefined;
    const name = this.#name(item);
    const webhook = item.child("webhook");
    const given = webhook.value !== undefined && webhook.value !== null;
    if (type !== "Webhook") {
      if (name !== "" && name !== builtInName(type))
        item.problem(
          `expected name ${builtInName(type)} for authorizer ${type} instead of ${name}`,
          item.pathOf("name"),
        );
      if (given)
        report(
          item,
          fieldErrors.invalid(
            webhook.path,
            "non-null",
            "may only be specified when type=Webhook",
          ),
        );
      return { type, name };
    }
    if (given) return { type, name, webhook: this.#webhook(webhook) };
    report(
      item,
      fieldErrors.required(webhook.path, "required when type=Webhook"),
    );
    return undefined;
  }

  #type(item: ConfigurationSection): AuthorizerType | undefined {
    const given = item.text("type");
    const path = item.pathOf("type");
    const type = authorizerTypes.find((each) => each === given);
    if (given === "") report(item, fieldErrors.required(path));
    else if (!type)
      report(item, fieldErrors.notSupported(path, given, authorizerTypes));
    else if (type !== "Webhook" && this.types.has(type))
      report(item, fieldErrors.duplicate(path, given));
    else {
      this.types.add(type);
      return type;
    }
    return undefined;
  }

  #name(item: ConfigurationSection): string {
    const name = item.text("name");
    const path = item.pathOf("name");
    const problems = dnsSubdomainProblems(name);
    if (name === "") report(item, fieldErrors.required(path));
    else if (this.#names.has(name))
      report(item, fieldErrors.duplicate(path, name));
    else if (problems.length > 0)
      report(
        item,
        fieldErrors.invalid(
          path,
          name,
          `authorizer name is invalid: ${problems.join(", ")}`,
        ),
      );
    this.#names.add(name);
    return name;
  }

  #webhook(section: ConfigurationSection): WebhookEntry {
    section.fields([
      ...["authorizedTTL", "unauthorizedTTL", "timeout", "failurePolicy"],
      ...["subjectAccessReviewVersion", "connectionInfo", "matchConditions"],
      "matchConditionSubjectAccessReviewVersion",
    ]);
    const timeoutMs = readTimeout(section);
    const authorizedTtlMs = readTtl(section, "authorizedTTL");
    const unauthorizedTtlMs = readTtl(section, "unauthorizedTTL");
    const version = oneOf(section, "subjectAccessReviewVersion", [
      "v1",
      "v1beta1",
    ]);
    const policy = oneOf(section, "failurePolicy", ["NoOpinion", "Deny"]);
    return {
      ...{ timeoutMs, authorizedTtlMs, unauthorizedTtlMs },
      version: version ?? "v1",
      onFailure: policy === "NoOpinion" ? "no-opinion" : "deny",
      kubeconfigFile: readConnection(section.child("connectionInfo")),
      conditions: this.#conditions(section),
    };
  }

  #conditions(section: ConfigurationSection): ReviewCondition[] {
    const conditions = section.items("matchConditions");
    const versionField = "matchConditionSubjectAccessReviewVersion";
    if (section.text(versionField) !== "") oneOf(section, versionField, ["v1"]);
    else if (conditions.length > 0)
      report(
        section,
        fieldErrors.required(
          section.pathOf(versionField),
          "required if match conditions are specified",
        ),
      );
    if (conditions.length > maxConditions) {
      const path = section.pathOf("matchConditions");
      report(
        section,
        fieldErrors.tooMany(path, conditions.length, maxConditions),
      );
      return [];
    }
    const seen = new Set<string>();
    return conditions.flatMap(
      (condition) => this.#condition(condition, seen) ?? [],
    );
  }

  #condition(
    section: ConfigurationSection,
    seen: Set<string>,
  ): ReviewCondition | undefined {
    section.fields(["expression"]);
    const text = section.text("expression");
    const path = section.pathOf("expression");
    if (text.trim() === "") {
      report(section, fieldErrors.required(path));
      return undefined;
    }
    if (seen.has(text)) {
      report(section, fieldErrors.duplicate(path, text));
      return undefined;
    }
    seen.add(text);
    const compiled = this.compiler.compile(text);
    if ("program" in compiled) return compiled;
    report(section, fieldErrors.invalid(path, text, compiled.problem));
    return undefined;
  }
}

/** Undefined: it is refused. */
function oneOf<T extends string>(
  section: ConfigurationSection,
  field: string,
  values: readonly T[],
): T | undefined {
  const given = section.text(field);
  const found = values.find((each) => each === given);
  const path = section.pathOf(field);
  if (found === undefined)
    report(
      section,
      given === ""
        ? fieldErrors.required(path)
        : fieldErrors.notSupported(path, given, values),
    );
  return found;
}

/** 0: it is not given, or is no duration. */
function readDuration(section: ConfigurationSection, field: string): number {
  const text = section.text(field);
  if (text === "") return 0;
  try {
    return parseDurationMs(text);
  } catch (error) {
    section.problem((error as Error).message, section.pathOf(field));
    return 0;
  }
}

function readTimeout(section: ConfigurationSection): number {
  const timeoutMs = readDuration(section, "timeout");
  const path = section.pathOf("timeout");
  if (timeoutMs === 0) report(section, fieldErrors.required(path));
  else if (timeoutMs < 0 || timeoutMs > longestTimeoutMs)
    report(
      section,
      fieldErrors.invalid(
        path,
        formatDuration(timeoutMs),
        "must be > 0s and <= 30s",
      ),
    );
  return timeoutMs;
}

function readTtl(
  section: ConfigurationSection,
  field: keyof typeof defaultTtlMs,
): number {
  const ttlMs = readDuration(section, field) || defaultTtlMs[field];
  if (ttlMs < 0)
    report(
      section,
      fieldErrors.invalid(
        section.pathOf(field),
        formatDuration(ttlMs),
        "must be > 0s",
      ),
    );
  return ttlMs;
}

/** The path of the webhook's kubeconfig; "": it is refused. */
function readConnection(section: ConfigurationSection): string {
  section.fields(["type", "kubeConfigFile"]);
  const type = oneOf(section, "type", ["InClusterConfig", "KubeConfigFile"]);
  const file = section.text("kubeConfigFile");
  const path = section.pathOf("kubeConfigFile");
  const refuse = (why: string): string => {
    report(section, fieldErrors.invalid(path, file, why));
    return "";
  };
  if (type === "InClusterConfig") {
    section.problem(
      "InClusterConfig is not allowed for an API server, which would ask itself",
      section.pathOf("type"),
    );
    return file === ""
      ? ""
      : refuse("can only be set when type=KubeConfigFile");
  }
  if (type === undefined) return "";
  if (file === "") {
    report(section, fieldErrors.required(path));
    return "";
  }
  if (!file.startsWith("/")) return refuse("must be an absolute path");
  try {
    if (!statSync(file).isFile()) return refuse("must be a regular file");
  } catch (error) {
    return refuse(`error loading file: ${(error as Error).message}`);
  }
  return file;
}
