// --encryption-provider-config: which providers and keys encrypt the values of which resources. Every problem of the file
// is named with its line, in the reference's texts; no problem shows a secret. Of KMS providers version 2 is read
// (kms-config.ts).
import {
  groupResourceOf,
  type EncryptionKey,
  type EncryptionProvider,
  type EncryptionRule,
  type KeyedProvider,
} from "../../../../apiserver-lite/index.ts";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { ConfigurationSection } from "../../configuration-section.ts";
import { readKms, type KmsV1 } from "./kms-config.ts";
import { isMap } from "../../../options/kubelet-configuration/configuration-document.ts";

const kind = "EncryptionConfiguration";
const versions = ["apiserver.config.k8s.io/v1"];
/** Early documentation named it so, and the reference takes it. */
const earlyKind = "EncryptionConfig";
const earlyVersions = ["v1"];

/** Sizes in bytes of what a provider takes, as problems show them. */
const keySizes: Record<KeyedProvider, readonly number[]> = {
  aescbc: [16, 24, 32],
  aesgcm: [16, 24, 32],
  secretbox: [32],
};
const keyed = Object.keys(keySizes) as KeyedProvider[];
/** Stored without a REST API. */
const internalResources = [
  ...["apiserveripinfo", "serviceipallocations"],
  "servicenodeportallocations",
];

/** What is read of a file besides its sections. */
interface Reading {
  /** Names of the KMS providers so far. */
  readonly kmsNames: Set<string>;
  readonly kmsV1: KmsV1;
}

/** Throws a UsageError with every problem. */
export function readEncryptionConfig(
  text: string,
  file: string,
  kmsV1: KmsV1 = { gate: false, reload: false },
): Promise<readonly EncryptionRule[]> {
  return ConfigurationSection.read(text, file, (section) => {
    const early = isMap(section.value) && section.value["kind"] === earlyKind;
    section.object(early ? earlyKind : kind, early ? earlyVersions : versions, [
      "resources",
    ]);
    const rules = section.items("resources");
    if (rules.length === 0)
      report(section, atLeastOne("resources", "resources"));
    const reading = { kmsNames: new Set<string>(), kmsV1 };
    return rules.map((rule) => readRule(rule, reading));
  });
}

function report(
  section: ConfigurationSection,
  { field, detail }: FieldError,
): void {
  section.problem(detail, field);
}

const atLeastOne = (path: string, what: string): FieldError =>
  fieldErrors.required(path, `at least one ${what} is required`);

function readRule(
  section: ConfigurationSection,
  reading: Reading,
): EncryptionRule {
  section.fields(["resources", "providers"]);
  const resources = section.texts("resources");
  const path = section.pathOf("resources");
  if (resources.length === 0) report(section, atLeastOne(path, path));
  checkOverlap(section, resources);
  for (const [index, resource] of resources.entries()) {
    const problem = resourceProblem(resource);
    if (problem !== undefined)
      report(
        section,
        fieldErrors.invalid(`${path}[${index}]`, resource, problem),
      );
  }
  const providers = section.items("providers");
  const providersPath = section.pathOf("providers");
  if (providers.length === 0)
    report(section, atLeastOne(providersPath, providersPath));
  return {
    resources,
    providers: providers.flatMap((each) => readProvider(each, reading) ?? []),
  };
}

function checkOverlap(
  section: ConfigurationSection,
  resources: readonly string[],
): void {
  const path = section.pathOf("resources");
  const parsed = resources.map(groupResourceOf);
  const pairs = parsed.flatMap((one, at) =>
    parsed.slice(at + 1).map((other) => [one, other] as const),
  );
  const same = pairs.filter(([a, b]) => a[0] === b[0] && a[1] === b[1]);
  const masked = pairs.filter(
    ([a, b]) =>
      (a[0] !== b[0] || a[1] !== b[1]) &&
      ([a, b].some(([group, name]) => group === "*" && name === "*") ||
        (a[0] === b[0] && (a[1] === "*" || b[1] === "*"))),
  );
  if (same.length > 0)
    report(
      section,
      fieldErrors.invalid(
        path,
        resources,
        "the same resource cannot be specified multiple times",
      ),
    );
  if (masked.length > 0)
    report(
      section,
      fieldErrors.invalid(
        path,
        resources,
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
      ),
    );
}

function resourceProblem(text: string): string | undefined {
  if (text !== text.toLowerCase())
    return "resource name should not contain capital letters";
  if (text === "*")
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (internalResources.includes(text))
    return "resources which do not have REST API/s cannot be encrypted";
  const [group, resource] = groupResourceOf(text);
  if (group === "events.k8s.io")
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === "extensions")
    return "'extensions' group has been removed and cannot be used for encryption";
  return group === "*" && resource !== "*"
    ? "encrypting the same resource across groups is not supported"
    : undefined;
}

/** Undefined: it is refused. */
function readProvider(
  section: ConfigurationSection,
  reading: Reading,
): EncryptionProvider | undefined {
  const names = ["kms", ...keyed, "identity"];
  section.fields(names);
  const given = names.filter((name) => {
    const { value } = section.child(name);
    return value !== undefined && value !== null;
  });
  if (given.length !== 1) {
    report(
      section,
      fieldErrors.invalidWithoutValue(
        section.path,
        given.length === 0
          ? "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
          : "more than one provider specified in a single element, should split into different list elements",
      ),
    );
    return undefined;
  }
  const provider = section.child(given[0]!);
  const type = keyed.find((each) => each === given[0]);
  if (type) return readKeyed(provider, type);
  if (given[0] === "identity") {
    provider.fields([]);
    return { type: "identity" };
  }
  const endpoint = readKms(provider, reading.kmsNames, reading.kmsV1);
  return endpoint && { type: "kms", endpoint };
}

function readKeyed(
  section: ConfigurationSection,
  type: KeyedProvider,
): EncryptionProvider {
  section.fields(["keys"]);
  const keys = section.items("keys");
  if (keys.length === 0)
    report(section, atLeastOne(section.pathOf("keys"), "keys"));
  return { type, keys: keys.flatMap((key) => readKey(key, type) ?? []) };
}

/** Undefined: it is refused. */
function readKey(
  section: ConfigurationSection,
  type: KeyedProvider,
): EncryptionKey | undefined {
  section.fields(["name", "secret"]);
  const name = section.text("name");
  const text = section.text("secret");
  const path = section.pathOf("secret");
  const missing = (field: string): FieldError =>
    fieldErrors.required(
      section.pathOf(field),
      `${field} is a mandatory field for a key`,
    );
  const refuse = (problem: FieldError): undefined => {
    report(section, problem);
    return undefined;
  };
  if (name === "") report(section, missing("name"));
  if (text === "") return refuse(missing("secret"));
  const secret = fromBase64(text);
  const invalid = (detail: string): FieldError =>
    fieldErrors.invalid(path, "REDACTED", detail);
  if (!secret) return refuse(invalid("secrets must be base64 encoded"));
  const sizes = keySizes[type];
  if (!sizes.includes(secret.length))
    return refuse(
      invalid(
        `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(" ")}]`,
      ),
    );
  return { name, secret };
}

/** With padding; line ends are left out, as in the reference. Undefined: it is none. */
function fromBase64(text: string): Buffer | undefined {
  const plain = text.replace(/[\r\n]/g, "");
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain)
    ? Buffer.from(plain, "base64")
    : undefined;
}
