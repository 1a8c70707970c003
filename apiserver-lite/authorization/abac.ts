// Attribute-based access control: --authorization-policy-file holds one policy (abac.authorization.kubernetes.io/v1beta1)
// a line as JSON. A request is allowed when any policy matches; a policy never denies.
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";

interface Policy {
  /** A name, or * for everybody. */
  readonly user?: string;
  readonly group?: string;
  readonly readonly?: boolean;
  readonly namespace?: string;
  readonly resource?: string;
  readonly apiGroup?: string;
  /** A path, a prefix ending in *, or * alone. */
  readonly nonResourcePath?: string;
}

const texts = [
  "user",
  "group",
  "namespace",
  "resource",
  "apiGroup",
  "nonResourcePath",
];
const versions = ["abac.authorization.kubernetes.io/v1beta1"];
const readVerbs = ["get", "list", "watch"];

function policyOf(line: string): Policy {
  const { apiVersion, kind, spec, ...others } = JSON.parse(line) as Record<
    string,
    unknown
  >;
  if (kind !== "Policy" || !versions.includes(String(apiVersion)))
    throw new Error(`kind Policy of ${versions[0]} is expected`);
  const [other] = Object.keys(others);
  if (other) throw new Error(`unknown field ${JSON.stringify(other)}`);
  if (typeof spec !== "object" || spec === null)
    throw new Error("spec is required");
  for (const [name, value] of Object.entries(spec)) {
    const wanted = name === "readonly" ? "boolean" : "string";
    if (name !== "readonly" && !texts.includes(name))
      throw new Error(`unknown field ${JSON.stringify(`spec.${name}`)}`);
    if (typeof value !== wanted)
      throw new Error(`spec.${name} must be a ${wanted}`);
  }
  return spec as Policy;
}

/** Empty lines and those that begin with # are left out. Throws an Error naming file and line. */
export function parsePolicyFile(text: string, file: string): Policy[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return [];
    try {
      return [policyOf(line)];
    } catch (error) {
      throw new Error(
        `error reading policy file ${file}, line ${index + 1}: ${(error as Error).message}`,
        { cause: error },
      );
    }
  });
}

/** Both must match where both are given; one of them must be. */
function matchesSubject(
  { user = "", group = "" }: Policy,
  attributes: AccessAttributes,
): boolean {
  const { name, groups } = attributes.user;
  if (user === "" && group === "") return false;
  return (
    (user === "" || user === "*" || user === name) &&
    (group === "" || group === "*" || groups.includes(group))
  );
}

function matchesObject(
  policy: Policy,
  { resourceRequest, namespace, resource, group, path }: AccessAttributes,
): boolean {
  const is = (wanted: string | undefined, value: string): boolean =>
    wanted === "*" || (wanted ?? "") === value;
  if (resourceRequest)
    return (
      is(policy.namespace, namespace) &&
      is(policy.resource, resource) &&
      is(policy.apiGroup, group)
    );
  const { nonResourcePath = "" } = policy;
  if (nonResourcePath === "") return false;
  return nonResourcePath.endsWith("*")
    ? path.startsWith(nonResourcePath.slice(0, -1))
    : path === nonResourcePath;
}

export class AbacAuthorizer implements Authorizer {
  constructor(private readonly policies: readonly Policy[]) {}

  authorize(attributes: AccessAttributes): AccessDecision {
    const reads = readVerbs.includes(attributes.verb);
    const allowed = this.policies.some(
      (policy) =>
        (reads || !policy.readonly) &&
        matchesSubject(policy, attributes) &&
        matchesObject(policy, attributes),
    );
    return allowed
      ? { decision: "allow", reason: "" }
      : { decision: "no-opinion", reason: "No policy matched." };
  }
}
