// Semantic versions (2.0.0), for selectors of devices. Texts of errors are the reference's library's.
import type { Library } from "../checking/declarations.ts";
import { objectType } from "../checking/types.ts";
import { Failure, OpaqueValue } from "../values/value.ts";
import { method, ofText, quote } from "./opaque.ts";

export const semverType = objectType("kubernetes.Semver");

class SemverValue extends OpaqueValue {
  readonly type = semverType;
  constructor(
    readonly numbers: readonly [bigint, bigint, bigint],
    readonly prerelease: readonly string[],
  ) {
    super();
  }
  /** Build metadata does not count. */
  override equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compare(this, other) === 0n;
  }
}

const parts = ["major", "minor", "patch"] as const;
const largest = (1n << 64n) - 1n;

export function parseSemver(text: string): SemverValue | Failure {
  if (text === "") return new Failure("Version string empty");
  const [major, minor, ...rest] = text.split(".");
  if (rest.length === 0)
    return new Failure("No Major.Minor.Patch elements found");
  const [, patch = "", prerelease, build] =
    /^([^+-]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(rest.join(".")) ?? [];
  const numbers: bigint[] = [];
  for (const [index, number] of [major!, minor!, patch].entries()) {
    const problem = numberProblem(parts[index]!, number);
    if (problem) return new Failure(problem);
    numbers.push(BigInt(number));
  }
  const identifiers = prerelease?.split(".") ?? [];
  const problem =
    identifiers.map(prereleaseProblem).find(Boolean) ??
    build?.split(".").map(buildProblem).find(Boolean);
  return problem
    ? new Failure(problem)
    : new SemverValue(numbers as [bigint, bigint, bigint], identifiers);
}

function numberProblem(
  part: (typeof parts)[number],
  text: string,
): string | undefined {
  const capital = part[0]!.toUpperCase() + part.slice(1);
  if (!/^\d*$/.test(text))
    return `Invalid character(s) found in ${part} number ${quote(text)}`;
  if (text.length > 1 && text.startsWith("0"))
    return `${capital} number must not contain leading zeroes ${quote(text)}`;
  if (text === "")
    return `strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;
  return text.length > 20 || BigInt(text) > largest
    ? `strconv.ParseUint: parsing ${quote(text)}: value out of range`
    : undefined;
}

function prereleaseProblem(text: string): string | undefined {
  if (text === "") return "Prerelease is empty";
  if (/^\d+$/.test(text))
    return text.length > 1 && text.startsWith("0")
      ? `Numeric PreRelease version must not contain leading zeroes ${quote(text)}`
      : undefined;
  return /^[0-9A-Za-z-]+$/.test(text)
    ? undefined
    : `Invalid character(s) found in prerelease ${quote(text)}`;
}

function buildProblem(text: string): string | undefined {
  if (text === "") return "Build meta data is empty";
  return /^[0-9A-Za-z-]+$/.test(text)
    ? undefined
    : `Invalid character(s) found in build meta data ${quote(text)}`;
}

function compare(left: SemverValue, right: SemverValue): bigint {
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index]!;
    if (number !== other) return number > other ? 1n : -1n;
  }
  const [mine, theirs] = [left.prerelease, right.prerelease];
  // A version is above its own prereleases.
  if (mine.length === 0 || theirs.length === 0)
    return BigInt(Math.sign(theirs.length - mine.length));
  for (const [index, identifier] of mine.entries()) {
    const other = theirs[index];
    if (other === undefined) return 1n;
    const order = compareIdentifiers(identifier, other);
    if (order !== 0n) return order;
  }
  return mine.length < theirs.length ? -1n : 0n;
}

/** Numbers are below texts. */
function compareIdentifiers(left: string, right: string): bigint {
  if (left === right) return 0n;
  const [isNumber, isOther] = [left, right].map((text) => /^\d+$/.test(text));
  if (isNumber && isOther) return BigInt(left) < BigInt(right) ? -1n : 1n;
  if (isNumber !== isOther) return isNumber ? -1n : 1n;
  return left < right ? -1n : 1n;
}

const name = "kubernetes.Semver";
const pair = `${name}, ${name}`;
const asInt = (value: bigint): bigint => BigInt.asIntN(64, value);

export const semverLibrary: Library = {
  semver: [ofText("string_to_semver", name, parseSemver)],
  isSemver: [
    ofText(
      "is_semver_string",
      "bool",
      (text) => !(parseSemver(text) instanceof Failure),
    ),
  ],
  isGreaterThan: [
    method<SemverValue>(
      "semver_is_greater_than",
      pair,
      "bool",
      (left, right: SemverValue) => compare(left, right) > 0n,
    ),
  ],
  isLessThan: [
    method<SemverValue>(
      "semver_is_less_than",
      pair,
      "bool",
      (left, right: SemverValue) => compare(left, right) < 0n,
    ),
  ],
  compareTo: [method<SemverValue>("semver_compare_to", pair, "int", compare)],
  ...Object.fromEntries(
    parts.map((part, index) => [
      part,
      [
        method<SemverValue>(`semver_${part}`, name, "int", ({ numbers }) =>
          asInt(numbers[index]!),
        ),
      ],
    ]),
  ),
};
