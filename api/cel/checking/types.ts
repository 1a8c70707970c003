// The types of expressions and how they are compared: assignability with type parameters, the rules of the reference's
// checker. Types are shared and never changed; object types are one by their name, their fields are known to the
// environment.

type TypeKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "timestamp"
  | "duration"
  | "dyn"
  | "error"
  | "list"
  | "map"
  /** A type as a value: `type(x)`. */
  | "type"
  | "object"
  /** Of a library; by name and parameters. */
  | "opaque"
  /** A parameter of an overload, bound while it is checked. */
  | "param";

export interface CelType {
  readonly kind: TypeKind;
  readonly name: string;
  readonly parameters: readonly CelType[];
}

const none: readonly CelType[] = [];
const simple = (kind: TypeKind, name: string = kind): CelType => ({
  kind,
  name,
  parameters: none,
});

export const boolType = simple("bool");
export const intType = simple("int");
export const uintType = simple("uint");
export const doubleType = simple("double");
export const stringType = simple("string");
export const bytesType = simple("bytes");
export const nullType = simple("null", "null_type");
export const timestampType = simple("timestamp", "google.protobuf.Timestamp");
export const durationType = simple("duration", "google.protobuf.Duration");
export const dynType = simple("dyn");
export const errorType = simple("error", "*error*");

export const listType = (items: CelType): CelType => ({
  kind: "list",
  name: "list",
  parameters: [items],
});
export const mapType = (keys: CelType, values: CelType): CelType => ({
  kind: "map",
  name: "map",
  parameters: [keys, values],
});
export const typeType = (of?: CelType): CelType => ({
  kind: "type",
  name: "type",
  parameters: of ? [of] : none,
});
export const objectType = (name: string): CelType => simple("object", name);
export const opaqueType = (
  name: string,
  ...parameters: CelType[]
): CelType => ({ kind: "opaque", name, parameters });
export const optionalType = (value: CelType): CelType =>
  opaqueType("optional_type", value);
export const paramType = (name: string): CelType => simple("param", name);

export const parameter = (type: CelType, index: number): CelType =>
  type.parameters[index] ?? dynType;

/** The type inside an optional, undefined for other types. */
export function unwrapOptional(type: CelType): CelType | undefined {
  return type.kind === "opaque" && type.name === "optional_type"
    ? parameter(type, 0)
    : undefined;
}

/** As messages show it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "null":
    case "timestamp":
    case "duration":
      return type.kind;
    case "error":
      return "!error!";
    default:
      return type.parameters.length === 0
        ? type.name
        : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
  }
}

export function sameType(left: CelType, right: CelType): boolean {
  return (
    left === right ||
    (left.kind === right.kind &&
      left.name === right.name &&
      left.parameters.length === right.parameters.length &&
      left.parameters.every((inner, index) =>
        sameType(inner, parameter(right, index)),
      ))
  );
}

const isDynOrError = ({ kind }: CelType): boolean =>
  kind === "dyn" || kind === "error";

const nullable = new Set<TypeKind>([
  "null",
  "opaque",
  "object",
  "duration",
  "timestamp",
]);

function moreGeneral(left: CelType, right: CelType): boolean {
  if (left.kind === "dyn" || left.kind === "param") return true;
  if (right.kind === "dyn" || right.kind === "param") return false;
  if (left.kind !== right.kind) return false;
  if (left.kind === "type") return true;
  return (
    left.name === right.name &&
    left.parameters.length === right.parameters.length &&
    left.parameters.every((inner, index) =>
      moreGeneral(inner, parameter(right, index)),
    )
  );
}

export const mostGeneral = (left: CelType, right: CelType): CelType =>
  moreGeneral(left, right) ? left : right;

/** What type parameters are bound to, by their names. An attempt that fails is undone. */
export class Bindings {
  #bound = new Map<string, CelType>();
  #fresh = 0;

  newParameter(): CelType {
    return paramType(`_var${this.#fresh++}`);
  }

  /** Whether all of `from` can be used as `to`; binds parameters only when they can. */
  assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const before = this.#bound.size > 0 ? new Map(this.#bound) : undefined;
    if (this.#assignableAll(from, to)) return true;
    this.#bound = before ?? new Map();
    return false;
  }

  /** The type with parameters replaced; free ones become dyn where asked. */
  substitute(type: CelType, freeToDyn = false): CelType {
    if (type.kind === "param") {
      const bound = this.#bound.get(type.name);
      if (bound) return this.substitute(bound, freeToDyn);
      return freeToDyn ? dynType : type;
    }
    if (type.parameters.length === 0) return type;
    const parameters = type.parameters.map((inner) =>
      this.substitute(inner, freeToDyn),
    );
    return parameters.every((inner, index) => inner === type.parameters[index])
      ? type
      : { ...type, parameters };
  }

  #assignableAll(from: readonly CelType[], to: readonly CelType[]): boolean {
    return (
      from.length === to.length &&
      from.every((type, index) => this.#assignable(type, to[index] as CelType))
    );
  }

  #assignable(left: CelType, right: CelType): boolean {
    if (right.kind === "param") {
      const bound = this.#bound.has(right.name);
      if (this.#bind(left, right)) return true;
      if (bound) return false;
    }
    if (left.kind === "param") return this.#bind(right, left);
    if (isDynOrError(left) || isDynOrError(right)) return true;
    if (left.kind === "null") return nullable.has(right.kind);
    if (right.kind === "null") return nullable.has(left.kind);
    if (left.kind !== right.kind) return false;
    if (left.kind === "type") return true;
    return (
      left.name === right.name &&
      this.#assignableAll(left.parameters, right.parameters)
    );
  }

  /** Whether the parameter is, or can become, that type. */
  #bind(type: CelType, param: CelType): boolean {
    if (sameType(type, param)) return true;
    const bound = this.#bound.get(param.name);
    if (!bound) {
      if (this.#occurs(param, type)) return false;
      this.#bound.set(param.name, type);
      return true;
    }
    if (type.kind === bound.kind && sameType(type, bound)) return true;
    if (!this.#assignable(type, bound)) return false;
    const general = mostGeneral(type, bound);
    if (!this.#occurs(param, general)) this.#bound.set(param.name, general);
    return true;
  }

  #occurs(param: CelType, within: CelType): boolean {
    if (sameType(param, within)) return true;
    if (within.kind === "param") {
      const bound = this.#bound.get(within.name);
      return bound !== undefined && this.#occurs(param, bound);
    }
    return within.parameters.some((inner) => this.#occurs(param, inner));
  }
}
