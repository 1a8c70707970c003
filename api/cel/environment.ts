// What expressions may use: variables with their types, and the functions of a Kubernetes version. Environments are
// made once and shared; extending one is cheap.
import type { FunctionDeclaration, Library } from "./checking/declarations.ts";
import type { Declarations, FieldTypes } from "./checking/checker.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  objectType,
  stringType,
  timestampType,
  typeType,
  uintType,
  type CelType,
} from "./checking/types.ts";
import {
  fieldlessTypes,
  functionsOf,
  libraryTypes,
} from "./functions/libraries.ts";
import { objectTypesOf, type DeclaredType } from "./schemas/declared-type.ts";
import {
  macroTable,
  optionalMacros,
  standardMacros,
  twoVariableMacros,
  type Macro,
} from "./syntax/macros.ts";
import { Failure, TypeValue, type Result, type Value } from "./values/value.ts";

interface EnvironmentOptions {
  /**
   * The reference lets new expressions use what the version before it knows, and stored ones what it knows itself: in
   * 1.32 these are the loops over two variables. Default: new.
   */
  readonly expressions?: "new" | "stored";
  /** Types of the variables, by their names. */
  readonly variables: Readonly<Record<string, DeclaredType>>;
  /** Object types that no variable has, for expressions that make messages. */
  readonly types?: readonly DeclaredType[];
  /** Functions beside those of the version, as a variable's library. */
  readonly functions?: readonly Library[];
  /** Beside those of the version. */
  readonly macros?: readonly Macro[];
  /** Types of which expressions make messages: `Object{spec: …}`. Without it they cannot. */
  readonly messages?: MessageTypes;
}

/** Types that are known by their names alone, and need no schema. */
export interface MessageTypes {
  /** Undefined where the name is of no such type. */
  fields(typeName: string): FieldTypes | undefined;
  construct(typeName: string, fields: ReadonlyMap<string, Value>): Result;
}

const simpleTypes: Readonly<Record<string, CelType>> = {
  bool: boolType,
  bytes: bytesType,
  double: doubleType,
  "google.protobuf.Duration": durationType,
  int: intType,
  list: listType(dynType),
  map: mapType(dynType, dynType),
  null_type: nullType,
  string: stringType,
  "google.protobuf.Timestamp": timestampType,
  type: typeType(),
  uint: uintType,
};

const olderMacros = [...standardMacros, ...optionalMacros];
const macros: Readonly<Record<"new" | "stored", ReadonlyMap<string, Macro>>> = {
  new: macroTable(olderMacros),
  stored: macroTable([...olderMacros, ...twoVariableMacros]),
};

export class Environment implements Declarations {
  readonly macros: ReadonlyMap<string, Macro>;
  /** In the order of their indices. */
  readonly variables: readonly (readonly [string, DeclaredType])[];
  readonly #indices: ReadonlyMap<string, number>;
  readonly #objects: ReadonlyMap<string, DeclaredType>;
  readonly #fields = new Map<string, ReadonlyMap<string, CelType>>();
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly #messages: MessageTypes | undefined;

  constructor(options: EnvironmentOptions) {
    this.macros = new Map([
      ...macros[options.expressions ?? "new"],
      ...macroTable(options.macros ?? []),
    ]);
    this.variables = Object.entries(options.variables);
    this.#indices = new Map(
      this.variables.map(([name], index) => [name, index]),
    );
    this.#objects = objectTypesOf([
      ...Object.values(options.variables),
      ...(options.types ?? []),
    ]);
    this.#functions = functionsOf(options.functions);
    this.#messages = options.messages;
  }

  variable(name: string): CelType | undefined {
    const index = this.#indices.get(name);
    if (index !== undefined) return this.variables[index]?.[1].type;
    const type = this.#typeNamed(name);
    return type && typeType(type);
  }

  function(name: string): FunctionDeclaration | undefined {
    return this.#functions.get(name);
  }

  fields(typeName: string): FieldTypes | undefined {
    const known = this.#fields.get(typeName);
    if (known) return known;
    const declared = this.#objects.get(typeName);
    if (!declared)
      return fieldlessTypes.has(typeName)
        ? new Map()
        : this.#messages?.fields(typeName);
    const fields = new Map<string, CelType>();
    for (const [name, { reader }] of declared.fields ?? [])
      if (reader) fields.set(name, reader.type);
    this.#fields.set(typeName, fields);
    return fields;
  }

  /** The object type of that name, undefined where none is declared. */
  objectType(name: string): DeclaredType | undefined {
    return this.#objects.get(name);
  }

  /** What a checked name is: a variable by its index, or a type. The types of messages are no values. */
  resolve(
    name: string,
  ): { index: number } | { value: Value } | { problem: string } {
    const index = this.#indices.get(name);
    if (index !== undefined) return { index };
    if (this.#messages?.fields(name))
      return { problem: `reference to undefined type: ${name}` };
    return { value: new TypeValue(this.#typeNamed(name) ?? dynType) };
  }

  construct(typeName: string, fields: ReadonlyMap<string, Value>): Result {
    return (
      this.#messages?.construct(typeName, fields) ??
      new Failure(`unknown type: ${typeName}`)
    );
  }

  #typeNamed(name: string): CelType | undefined {
    if (Object.hasOwn(simpleTypes, name)) return simpleTypes[name];
    return (
      libraryTypes.get(name) ??
      this.#objects.get(name)?.type ??
      (this.#messages?.fields(name) ? objectType(name) : undefined)
    );
  }
}
