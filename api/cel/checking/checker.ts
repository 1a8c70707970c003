// The checker writes onto every node its type and, for calls, the overloads that may apply. It goes on after an issue,
// with a type that fits everywhere, so that one pass names all of them. A node that macros share is checked once.
import type { FunctionDeclaration, Overload } from "./declarations.ts";
import {
  Bindings,
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  listType,
  mapType,
  mostGeneral,
  nullType,
  optionalType,
  parameter,
  sameType,
  stringType,
  uintType,
  unwrapOptional,
  type CelType,
} from "./types.ts";
import { fieldNamed } from "../schemas/escaping.ts";
import type { Issues } from "../syntax/issues.ts";
import {
  qualifiedName,
  type CallNode,
  type ComprehensionNode,
  type LiteralNode,
  type Node,
  type SelectNode,
} from "../syntax/tree.ts";
import { Uint } from "../values/value.ts";

/** The types of an object's fields by their names. */
export type FieldTypes = Pick<ReadonlyMap<string, CelType>, "get">;

/** What names mean to the checker. */
export interface Declarations {
  /** A variable's type, or a type's name as a value. */
  variable(name: string): CelType | undefined;
  function(name: string): FunctionDeclaration | undefined;
  /** Undefined for unknown object types; the fields by their names in expressions. */
  fields(objectType: string): FieldTypes | undefined;
}

/** Types every node of the tree; the issues say what is wrong. */
export function check(
  root: Node,
  declarations: Declarations,
  issues: Issues,
): CelType {
  const checker = new Checker(declarations, issues);
  checker.check(root);
  checker.finish();
  return root.type as CelType;
}

class Checker {
  readonly #declarations: Declarations;
  readonly #issues: Issues;
  readonly #bindings = new Bindings();
  readonly #scopes: Map<string, CelType>[] = [];
  readonly #seen: Node[] = [];

  constructor(declarations: Declarations, issues: Issues) {
    this.#declarations = declarations;
    this.#issues = issues;
  }

  /** Replaces the type parameters that are still in the types of nodes. */
  finish(): void {
    for (const node of this.#seen)
      node.type = this.#bindings.substitute(node.type as CelType, true);
  }

  check(node: Node): CelType {
    if (node.type) return node.type;
    this.#seen.push(node);
    return (node.type = this.#typeOf(node));
  }

  #typeOf(node: Node): CelType {
    switch (node.kind) {
      case "literal":
        return literalType(node);
      case "ident": {
        const type = this.#lookup(node.name);
        if (type) return type;
        return this.#fail(node.at, undeclared(node.name));
      }
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "struct":
        return this.#struct(node);
      case "comprehension":
        return this.#comprehension(node);
    }
  }

  #fail(at: number, message: string): CelType {
    this.#issues.report(at, message);
    return errorType;
  }

  #lookup(name: string): CelType | undefined {
    if (name.startsWith(".")) return this.#declarations.variable(name.slice(1));
    for (const scope of this.#scopes) {
      const type = scope.get(name);
      if (type) return type;
    }
    return this.#declarations.variable(name);
  }

  #select(node: SelectNode): CelType {
    const name = qualifiedName(node);
    const root = name?.split(".", 1)[0] ?? "";
    if (name !== undefined && !this.#scopes.some((scope) => scope.has(root))) {
      const type = this.#declarations.variable(name);
      if (type) {
        node.qualified = name;
        return type;
      }
    }
    const type = this.#field(node.at, node.operand, node.field, false);
    return node.testOnly ? boolType : this.#bindings.substitute(type);
  }

  #field(at: number, operand: Node, field: string, optional: boolean): CelType {
    const operandType = this.#bindings.substitute(this.check(operand));
    const inner = unwrapOptional(operandType);
    const type = this.#fieldOf(at, inner ?? operandType, field);
    return inner || optional ? optionalType(type) : type;
  }

  #fieldOf(at: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case "map":
        return parameter(target, 1);
      case "object": {
        const fields = this.#declarations.fields(target.name);
        if (!fields)
          return this.#fail(
            at,
            `unexpected failed resolution of '${target.name}'`,
          );
        const type = fieldNamed(fields, field);
        return type ?? this.#fail(at, `undefined field '${field}'`);
      }
      case "param":
        this.#bindings.assign([dynType], [target]);
        return dynType;
      case "dyn":
      case "error":
        return dynType;
      default:
        this.#fail(
          at,
          `type '${formatType(target)}' does not support field selection`,
        );
        return dynType;
    }
  }

  #call(node: CallNode): CelType {
    const { args, at } = node;
    if (node.name === "_?._") {
      const field = args[1] as LiteralNode;
      const type = this.#field(
        at,
        args[0] as Node,
        field.value as string,
        true,
      );
      field.type = stringType;
      return this.#bindings.substitute(type);
    }
    for (const argument of args) this.check(argument);
    if (node.target) {
      const prefix = qualifiedName(node.target);
      const name = `${prefix}.${node.name}`;
      if (prefix !== undefined && this.#declarations.function(name)) {
        node.name = name;
        node.target = undefined;
      } else this.check(node.target);
    }
    const declared = this.#declarations.function(node.name.replace(/^\./, ""));
    if (!declared) return this.#fail(at, undeclared(node.name));
    return this.#resolve(node, declared);
  }

  #resolve(node: CallNode, declared: FunctionDeclaration): CelType {
    const operands = node.target ? [node.target, ...node.args] : [...node.args];
    const types = operands.map((operand) => operand.type as CelType);
    if (node.name === "_&&_" || node.name === "_||_")
      return this.#logical(node, declared);
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.member !== (node.target !== undefined)) continue;
      const [wanted, returned] = this.#instance(overload);
      if (!this.#bindings.assign(types, wanted)) continue;
      matching.push(overload);
      const type = this.#bindings.substitute(returned);
      if (!result) result = type;
      else if (result.kind !== "dyn" && !sameType(type, result))
        result = dynType;
    }
    if (result) {
      node.overloads = matching;
      return result;
    }
    const shown = types.map((type) =>
      formatType(this.#bindings.substitute(type, true)),
    );
    const target = node.target ? `${shown.shift()}.` : "";
    return this.#fail(
      node.at,
      `found no matching overload for '${node.name}' applied to '${target}(${shown.join(", ")})'`,
    );
  }

  #logical(node: CallNode, declared: FunctionDeclaration): CelType {
    node.overloads = declared.overloads;
    let type = boolType;
    for (const argument of node.args) {
      const found = argument.type as CelType;
      if (this.#bindings.assign([found], [boolType])) continue;
      type = this.#mismatch(argument.at, boolType, found);
    }
    return type;
  }

  /** Argument types and result with type parameters of their own. */
  #instance(overload: Overload): [readonly CelType[], CelType] {
    if (overload.parameters.length === 0)
      return [overload.arguments, overload.result];
    const fresh = new Map(
      overload.parameters.map((name) => [name, this.#bindings.newParameter()]),
    );
    const replace = (type: CelType): CelType =>
      type.kind === "param"
        ? (fresh.get(type.name) ?? type)
        : type.parameters.length === 0
          ? type
          : { ...type, parameters: type.parameters.map(replace) };
    return [overload.arguments.map(replace), replace(overload.result)];
  }

  #mismatch(at: number, expected: CelType, found: CelType): CelType {
    return this.#fail(
      at,
      `expected type '${formatType(expected)}' but found '${formatType(found)}'`,
    );
  }

  /** The type of an element that may be left out. */
  #unwrap(node: Node, optional: boolean): CelType {
    const type = this.check(node);
    if (!optional) return type;
    const inner = unwrapOptional(type);
    if (!inner && type.kind !== "dyn")
      this.#mismatch(node.at, optionalType(type), type);
    return inner ?? type;
  }

  #join(node: Node, before: CelType | undefined, type: CelType): CelType {
    if (!before || before === type) return type;
    if (this.#bindings.assign([before], [type]))
      return mostGeneral(before, type);
    return dynType;
  }

  #list(node: Node & { kind: "list" }): CelType {
    let items: CelType | undefined;
    for (const [index, element] of node.elements.entries()) {
      const type = this.#unwrap(element, node.optional.has(index));
      items = this.#join(element, items, type);
    }
    return listType(items ?? this.#bindings.newParameter());
  }

  #map(node: Node & { kind: "map" }): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, optional } of node.entries) {
      keys = this.#join(key, keys, this.check(key));
      values = this.#join(value, values, this.#unwrap(value, optional));
    }
    return mapType(
      keys ?? this.#bindings.newParameter(),
      values ?? this.#bindings.newParameter(),
    );
  }

  #struct(node: Node & { kind: "struct" }): CelType {
    const name = node.typeName.replace(/^\./, "");
    const declared = this.#declarations.variable(name);
    const type = declared && parameter(declared, 0);
    const fields = type && this.#declarations.fields(type.name);
    if (!declared) return this.#fail(node.at, undeclared(name));
    if (declared.kind !== "type")
      return this.#fail(node.at, `'${formatType(declared)}' is not a type`);
    if (!fields || !type)
      return this.#fail(node.at, `'${name}' is not a message type`);
    for (const field of node.fields) {
      const found = this.#unwrap(field.value, field.optional);
      const wanted = fieldNamed(fields, field.name);
      if (!wanted) this.#fail(field.at, `undefined field '${field.name}'`);
      else if (!this.#bindings.assign([wanted], [found]))
        this.#fail(
          field.at,
          `expected type of field '${field.name}' is '${formatType(wanted)}' but provided type is '${formatType(found)}'`,
        );
    }
    return type;
  }

  #comprehension(node: ComprehensionNode): CelType {
    const range = this.#bindings.substitute(this.check(node.range));
    const accumulator = this.check(node.init);
    const [first, second] = this.#iterated(node, range);
    this.#scopes.unshift(new Map([[node.accumulator, accumulator]]));
    const loop = new Map([[node.variable, first]]);
    if (node.variable2 !== undefined) loop.set(node.variable2, second);
    this.#scopes.unshift(loop);
    this.#assert(node.condition, boolType);
    this.#assert(node.step, accumulator);
    this.#scopes.shift();
    const result = this.check(node.result);
    this.#scopes.shift();
    return this.#bindings.substitute(result);
  }

  /** The types of a loop's two variables; the second of loops with two only. */
  #iterated(node: ComprehensionNode, range: CelType): [CelType, CelType] {
    const two = node.variable2 !== undefined;
    switch (range.kind) {
      case "list":
        return two
          ? [intType, parameter(range, 0)]
          : [parameter(range, 0), dynType];
      case "map":
        return [parameter(range, 0), parameter(range, 1)];
      case "dyn":
      case "error":
      case "param":
        this.#bindings.assign([dynType], [range]);
        return [dynType, dynType];
      default:
        this.#fail(
          node.range.at,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [errorType, errorType];
    }
  }

  #assert(node: Node, wanted: CelType): void {
    const found = this.check(node);
    if (!this.#bindings.assign([wanted], [found]))
      this.#mismatch(node.at, wanted, found);
  }
}

const undeclared = (name: string): string =>
  `undeclared reference to '${name}' (in container '')`;

function literalType({ value }: LiteralNode): CelType {
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "string":
      return stringType;
    default:
      if (value === null) return nullType;
      return value instanceof Uint ? uintType : bytesType;
  }
}
