// What names may look like: DNS labels and subdomains, label keys and values, ports, environment variables, data keys,
// addresses. Each function returns the texts of all problems, as the reference prints them; an empty list is a good name.
// Callers put a field path and the value in front (api/field-errors.ts).
import { isIPv4, isIPv6 } from "node:net";

const labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
const label1035Format = "[a-z]([-a-z0-9]*[a-z0-9])?";
const wildcardFormat = `\\*\\.${subdomainFormat}`;
const qualifiedFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelValueFormat = `(${qualifiedFormat})?`;
const dataKeyFormat = "[-._a-zA-Z0-9]+";
const percentFormat = "[0-9]+%";
const headerFormat = "[-A-Za-z0-9]+";

const whole = (format: string): RegExp => new RegExp(`^(?:${format})$`);
const labelPattern = whole(labelFormat);
const subdomainPattern = whole(subdomainFormat);
const label1035Pattern = whole(label1035Format);
const wildcardPattern = whole(wildcardFormat);
const qualifiedPattern = whole(qualifiedFormat);
const labelValuePattern = whole(labelValueFormat);
const dataKeyPattern = whole(dataKeyFormat);
const percentPattern = whole(percentFormat);
const headerPattern = whole(headerFormat);

/** `msg (e.g. 'a',  or 'b', regex used for validation is '…')`, the two spaces included. */
function regexProblem(
  message: string,
  format: string,
  ...examples: string[]
): string {
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (${shown === "" ? "" : `e.g. ${shown}`}regex used for validation is '${format}')`;
}

export const tooLongProblem = (max: number): string =>
  `must be no more than ${max} characters`;
export const rangeProblem = (low: number, high: number): string =>
  `must be between ${low} and ${high}, inclusive`;

/** A character is at most three bytes of UTF-8 for each of its units. */
const isLonger = (text: string, maxBytes: number): boolean =>
  text.length > maxBytes ||
  (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);

function check(
  text: string,
  max: number,
  pattern: RegExp,
  problem: string,
): string[] {
  const problems = isLonger(text, max) ? [tooLongProblem(max)] : [];
  // A pattern on a text far beyond its limit is work for nothing.
  if (text.length > 4096 || !pattern.test(text)) problems.push(problem);
  return problems;
}

const labelProblem = regexProblem(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelFormat,
  "my-name",
  "123-abc",
);

/** RFC 1123 label: at most 63 of a-z, 0-9 and '-'. */
export function dnsLabelProblems(text: string): string[] {
  if (text.includes(".") && isDnsSubdomain(text))
    return [
      ...(isLonger(text, 63) ? [tooLongProblem(63)] : []),
      "must not contain dots",
    ];
  return check(text, 63, labelPattern, labelProblem);
}

export const isDnsLabel = (text: string): boolean =>
  dnsLabelProblems(text).length === 0;

const subdomainProblem = regexProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainFormat,
  "example.com",
);

/** RFC 1123 subdomain, at most 253: the default for object names. */
export function dnsSubdomainProblems(text: string): string[] {
  return check(text, 253, subdomainPattern, subdomainProblem);
}

const isDnsSubdomain = (text: string): boolean =>
  dnsSubdomainProblems(text).length === 0;

const label1035Problem = regexProblem(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Format,
  "my-name",
  "abc-123",
);

/** RFC 1035 label: starts with a letter (service names). */
export function dns1035Problems(text: string): string[] {
  return check(text, 63, label1035Pattern, label1035Problem);
}

const wildcardProblem = regexProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  wildcardFormat,
  "*.example.com",
);

export function wildcardSubdomainProblems(text: string): string[] {
  return check(text, 253, wildcardPattern, wildcardProblem);
}

const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const qualifiedProblem = regexProblem(
  qualifiedText,
  qualifiedFormat,
  "MyName",
  "my.name",
  "123-abc",
);

/** Is it good beyond doubt? What nearly all names are, without taking them apart. */
function isShortQualified(text: string): boolean {
  if (text.length > 63) return false;
  const slash = text.indexOf("/");
  return slash < 0
    ? qualifiedPattern.test(text)
    : qualifiedPattern.test(text.slice(slash + 1)) &&
        subdomainPattern.test(text.slice(0, slash));
}

/** A qualified name: an optional DNS subdomain prefix and '/', then at most 63 characters. Label and annotation keys. */
export function qualifiedNameProblems(text: string): string[] {
  if (isShortQualified(text)) return [];
  const problems: string[] = [];
  const parts = text.split("/");
  if (parts.length > 2) {
    return [
      `a qualified name ${qualifiedProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === "") problems.push("prefix part must be non-empty");
    else
      problems.push(
        ...dnsSubdomainProblems(prefix).map(
          (problem) => `prefix part ${problem}`,
        ),
      );
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (isLonger(name, 63)) problems.push(`name part ${tooLongProblem(63)}`);
  if (name.length > 4096 || !qualifiedPattern.test(name))
    problems.push(`name part ${qualifiedProblem}`);
  return problems;
}

export const labelKeyProblems = qualifiedNameProblems;

const labelValueProblem = regexProblem(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValueFormat,
  "MyValue",
  "my_value",
  "12345",
);

export function labelValueProblems(text: string): string[] {
  return check(text, 63, labelValuePattern, labelValueProblem);
}

/** IANA service name: at most 15 of a-z, 0-9 and '-', with a letter. */
export function portNameProblems(text: string): string[] {
  const problems: string[] = [];
  if (isLonger(text, 15)) problems.push(tooLongProblem(15));
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push(
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
  if (!/[a-z]/.test(text))
    problems.push("must contain at least one letter (a-z)");
  if (text.includes("--"))
    problems.push("must not contain consecutive hyphens");
  if (text.startsWith("-") || text.endsWith("-"))
    problems.push("must not begin or end with a hyphen");
  return problems;
}

export function portNumberProblems(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65535
    ? []
    : [rangeProblem(1, 65535)];
}

const cIdentifierProblem = regexProblem(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  "[A-Za-z_][A-Za-z0-9_]*",
  "my_name",
  "MY_NAME",
  "MyName",
);

/** Names of attributes of devices. */
export function cIdentifierProblems(text: string): string[] {
  return /^[A-Za-z_]\w*$/.test(text) ? [] : [cIdentifierProblem];
}

/** Environment variable names: printable ASCII without '='. */
export function envNameProblems(text: string): string[] {
  const problems: string[] = [];
  if (text === "") problems.push("environment variable name must be non-empty");
  if (!/^[ -<>-~]*$/.test(text)) {
    problems.push(
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    );
  }
  return problems;
}

const dataKeyProblem = regexProblem(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  dataKeyFormat,
  "key.name",
  "KEY_NAME",
  "key-name",
);

/** Keys of ConfigMaps and Secrets, which become file names. */
export function dataKeyProblems(text: string): string[] {
  const problems = check(text, 253, dataKeyPattern, dataKeyProblem);
  if (text === ".") problems.push("must not be '.'");
  else if (text === "..") problems.push("must not be '..'");
  else if (text.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

export function httpHeaderProblems(text: string): string[] {
  if (headerPattern.test(text)) return [];
  return [
    regexProblem(
      "a valid HTTP header must consist of alphanumeric characters or '-'",
      headerFormat,
      "X-Header-Name",
    ),
  ];
}

export function percentProblems(text: string): string[] {
  if (percentPattern.test(text)) return [];
  return [
    regexProblem(
      "a valid percent string must be a numeric string followed by an ending '%'",
      percentFormat,
      "1%",
      "93%",
    ),
  ];
}

/** Names that become one segment of a URL (RBAC): anything but '.', '..', '/' and '%'. */
export function pathSegmentProblems(text: string, prefix = false): string[] {
  const problems: string[] = [];
  if (!prefix && text === ".") return ["may not be '.'"];
  if (!prefix && text === "..") return ["may not be '..'"];
  if (text.includes("/")) problems.push("may not contain '/'");
  if (text.includes("%")) problems.push("may not contain '%'");
  return problems;
}

/** What follows the domain of `example.com/name`. */
export function domainPathProblems(rest: string): string[] {
  return [
    ...(/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest)
      ? []
      : [
          `Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
        ]),
  ];
}

export function ipProblems(text: string): string[] {
  return isIPv4(text) || (isIPv6(text) && !text.includes("%"))
    ? []
    : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}

export function cidrProblems(text: string): string[] {
  const [address = "", bits = "", ...rest] = text.split("/");
  const max = isIPv4(address)
    ? 32
    : isIPv6(address) && !address.includes("%")
      ? 128
      : -1;
  return rest.length === 0 &&
    /^(0|[1-9][0-9]{0,2})$/.test(bits) &&
    Number(bits) <= max
    ? []
    : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
}

/** `maskTrailingDash`: a generateName prefix may end in '-', since a suffix follows. */
function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

/** Adapts a problems function to ResourceStrategy.validateName. */
export function nameRule(
  problems: (text: string) => string[],
): (name: string, prefix: boolean) => string[] {
  return (name, prefix) => problems(prefix ? maskTrailingDash(name) : name);
}

// Which labels an agent may give its own Node: those outside of the project's domains, and the few inside that agents
// report. Any other could draw pods to the node that are not meant for it.
/** Kept from agents in so many words. */
const restrictedDomain = "node-restriction.kubernetes.io";
const agentDomains = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const agentLabels = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);

export function isAgentLabel(label: string): boolean {
  const slash = label.indexOf("/");
  const domain = slash < 0 ? "" : label.slice(0, slash);
  const within = (parent: string): boolean =>
    domain === parent || domain.endsWith(`.${parent}`);
  if (within(restrictedDomain)) return false;
  if (agentLabels.has(label)) return true;
  if (!within("kubernetes.io") && !within("k8s.io")) return true;
  return agentDomains.some(within);
}
