// What only the expressions of mutations can use: objects of the types Object, Object.spec … (named by the path of the
// field they are for, with any field of any type), the operations of a JSON patch, and jsonpatch.escapeKey. Types are
// known by their names alone, as in the reference: what an object holds is checked against the request's kind later.
import type { Library } from "../cel/checking/declarations.ts";
import type { FieldTypes } from "../cel/checking/checker.ts";
import {
  dynType,
  listType,
  objectType,
  opaqueType,
  stringType,
  type CelType,
} from "../cel/checking/types.ts";
import type { MessageTypes } from "../cel/environment.ts";
import { equal } from "../cel/values/equality.ts";
import {
  Failure,
  MapValue,
  typeOf,
  type Result,
  type Value,
} from "../cel/values/value.ts";

const objectName = "Object";
const patchName = "JSONPatch";

export const wantsObject: readonly CelType[] = [objectType(objectName)];
export const wantsPatch: readonly CelType[] = [listType(objectType(patchName))];

/** An object that an expression made. */
export class MadeObject extends MapValue {
  readonly #type: CelType;

  constructor(
    readonly typeName: string,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super();
    this.#type = objectType(typeName);
  }

  override get type(): CelType {
    return this.#type;
  }

  override get size(): number {
    return this.fields.size;
  }

  override keys(): Iterable<Value> {
    return this.fields.keys();
  }

  override get(key: Value): Result | undefined {
    return typeof key === "string" ? this.fields.get(key) : undefined;
  }

  equalTo(other: MapValue): boolean | Failure {
    return (
      other instanceof MadeObject &&
      other.typeName === this.typeName &&
      other.size === this.size &&
      [...this.fields].every(([name, value]) => {
        const theirs = other.fields.get(name);
        return theirs !== undefined && equal(value, theirs) === true;
      })
    );
  }
}

const patchTexts: ReadonlySet<string> = new Set(["op", "path", "from"]);

/** One operation of a JSON patch. Texts that are not given are empty. */
export class MadeOperation extends MapValue {
  constructor(readonly fields: ReadonlyMap<string, Value>) {
    super();
  }

  override get type(): CelType {
    return objectType(patchName);
  }

  override get size(): number {
    return this.fields.size;
  }

  override keys(): Iterable<Value> {
    return this.fields.keys();
  }

  override get(key: Value): Result | undefined {
    if (typeof key !== "string") return undefined;
    return patchTexts.has(key)
      ? this.#text(key)
      : (this.fields.get(key) ?? null);
  }

  override has(name: string): boolean {
    return patchTexts.has(name)
      ? this.#text(name) !== ""
      : this.fields.has(name);
  }

  #text(name: string): string {
    return (this.fields.get(name) as string | undefined) ?? "";
  }

  text(name: "op" | "path" | "from"): string {
    return this.#text(name);
  }
}

/** The type that the reference gives to fields an operation does not have: no value fits. */
const noType = opaqueType("");

const anyFields: FieldTypes = { get: () => dynType };
const patchFields: FieldTypes = {
  get: (name) =>
    patchTexts.has(name) ? stringType : name === "value" ? dynType : noType,
};

export const patchMessages: MessageTypes = {
  fields(typeName) {
    if (typeName === patchName) return patchFields;
    return typeName === objectName || typeName.startsWith(`${objectName}.`)
      ? anyFields
      : undefined;
  },
  construct(typeName, fields) {
    if (typeName !== patchName) return new MadeObject(typeName, fields);
    for (const [name, value] of fields) {
      if (patchTexts.has(name)) {
        if (typeof value !== "string")
          return new Failure(
            `unexpected type ${nativeName(value)} for JSONPatchType '${name}' field`,
          );
      } else if (name !== "value")
        return new Failure(`unexpected JSONPatchType field: ${name}`);
    }
    return new MadeOperation(fields);
  },
};

/** As the reference's language calls the type of a value. */
function nativeName(value: Value): string {
  switch (typeof value) {
    case "bigint":
      return "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    default:
      return value === null ? "structpb.NullValue" : typeOf(value).name;
  }
}

export const patchFunctions: readonly Library[] = [
  {
    "jsonpatch.escapeKey": [
      {
        id: "string_jsonpatch_escapeKey_string",
        args: "string",
        result: "string",
        call: ([text]) =>
          (text as string).replace(/[~/]/g, (sign) =>
            sign === "/" ? "~1" : "~0",
          ),
      },
    ],
  },
];
