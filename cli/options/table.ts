// Options as data. A table lists every option of one program with its type, default, limits and meaning; the parser, the
// help text, docs/options.md and the warnings about options without effect all come from the same table.
// Names are the ecosystem's (--kube-api-qps); the specification's dialect (--orbit-api-qps) is understood everywhere by
// the rule in dialect below, not listed.

export type OptionType =
  | "string"
  /** Comma-separated, and repeatable. */
  | "strings"
  | "int"
  | "float"
  | "bool"
  /** Held as milliseconds. */
  | "duration"
  /** key=value pairs, comma-separated and repeatable. */
  | "map"
  /** Bytes and other amounts, kept as text: 10Mi. */
  | "quantity"
  /** A list given only by repeating the option, where commas belong to the value. */
  | "repeated";

export type OptionValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, string>>;

export interface OptionSpec {
  readonly name: string;
  readonly type: OptionType;
  /** One letter. */
  readonly short?: string;
  /** As the user would write it; undefined: unset unless given. */
  readonly default?: string;
  readonly doc: string;
  readonly min?: number;
  readonly max?: number;
  /** Allowed values (of each element for lists). */
  readonly values?: readonly string[];
  /** Value of the bare option, for options whose value may be left out (kubectl's --dry-run). */
  readonly bare?: string;
  /** Other names with the same meaning. */
  readonly aliases?: readonly string[];
  /** The text of what is wrong with the value, or undefined. */
  readonly check?: (value: OptionValue) => string | undefined;
  /** It changes nothing so far, as docs/COMPATIBILITY.md lists; what follows when it is set. Absent: it works. */
  readonly unbuilt?: Unbuilt;
  /** Path in the program's configuration file (KubeletConfiguration), e.g. `authentication.anonymous.enabled`. */
  readonly file?: string;
  /** Set in the configuration file alone: there is no flag of this name. */
  readonly fileOnly?: boolean;
  /** Not in --help; still in docs/options.md. */
  readonly hidden?: boolean;
}

/**
 * An option without effect whose effect would be to limit, protect, authenticate, authorize, encrypt or audit `restricts`:
 * set to anything but `accepted` (the text of the value that asks for what the program does anyway; absent: none but an
 * empty one) it refuses the start. A `harmless` one is warned about, and so is one that is `moot`: there is nothing it could
 * do in this program, for the reason given.
 */
export type Unbuilt =
  | { readonly kind: "harmless" }
  | { readonly kind: "moot"; readonly reason: string }
  | { readonly kind: "restricts"; readonly accepted?: string };

export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionSpec[];
}

export type OptionTable = readonly OptionGroup[];

/** A bad option or configuration file: the process ends with exit code 1. The message names the option or file. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A dependency that is not there (port taken, runtime unreachable): exit code 2. */
export class DependencyError extends Error {
  override readonly name = "DependencyError";
}

export function allOptions(table: OptionTable): readonly OptionSpec[] {
  return table.flatMap((group) => group.options);
}

/** The ecosystem's name of an option written in the specification's dialect; other names come back as they are. */
export function canonicalOptionName(name: string): string {
  return name
    .replaceAll("_", "-")
    .replace(/^store-(?=.)/, "etcd-")
    .replaceAll("orbitlet", "kubelet")
    .replaceAll("orbitconfig", "kubeconfig")
    .replaceAll("orbit", "kube");
}

/** The specification's name of an option, or undefined when it has no other. */
export function specificationOptionName(name: string): string | undefined {
  const other = name
    .replace(/^etcd-/, "store-")
    .replaceAll("kubelet", "orbitlet")
    .replace(/^kubeconfig$/, "orbitconfig")
    .replace(/^kube-/, "orbit-");
  return other === name ? undefined : other;
}

/** For help and docs/options.md. */
export function unbuiltNote(unbuilt: Unbuilt): string {
  if (unbuilt.kind === "harmless") return "no effect yet";
  if (unbuilt.kind === "moot") return `nothing to do: ${unbuilt.reason}`;
  return unbuilt.accepted === undefined
    ? "no effect yet: refused"
    : `no effect yet: refused (but ${unbuilt.accepted})`;
}
