// Defaults of the built-in kinds, from api/facts/defaults.json and the defaults declared in the type table. The rules of
// a kind are compiled on first use into closures that visit only the parts of an object that can need a default.
// Order, as in the reference: a type's own rules in the table's order, then those of the types inside it.
// Applying twice writes nothing, as objects may be frozen then. Defaults that need more than the object are the strategies'.
import facts from "./facts/defaults.json";
import {
  conditions,
  isEmptyValue,
  read,
  sources,
  type Condition,
  type Plain,
} from "./default-conditions.ts";
import { writeChanged, type GroupVersionKind } from "./object.ts";
import { copyJson } from "./patch/json-value.ts";
import { parseQuantity, canonicalQuantity } from "./quantity.ts";
import {
  schemaFor,
  type FieldSchema,
  type ObjectSchema,
  type TypeSchema,
} from "./schema.ts";
import { messageNamed, versionOfPackage } from "./type-table.ts";

interface Rule {
  readonly path: string;
  readonly value?: unknown;
  readonly from?: string;
  readonly when?: string;
  readonly op?: string;
  readonly gate?: string;
  readonly gateOn?: boolean;
}

type Apply = (object: Plain) => void;
const rulesByType = facts.types as unknown as Readonly<
  Record<string, readonly Rule[]>
>;

/** Optional parents that a rule creates when they are missing, by type. */
const CREATED_PARENTS: Readonly<Record<string, readonly string[]>> = {
  "v1.Service": [
    "spec.sessionAffinityConfig",
    "spec.sessionAffinityConfig.clientIP",
  ],
  "apps/v1.Deployment": ["spec.strategy.rollingUpdate"],
  "apps/v1.DaemonSet": ["spec.updateStrategy.rollingUpdate"],
  "apps/v1.StatefulSet": ["spec.persistentVolumeClaimRetentionPolicy"],
  "autoscaling/v2.HorizontalPodAutoscaler": [
    "spec.behavior.scaleUp",
    "spec.behavior.scaleDown",
  ],
};

export interface Defaulter {
  /** Sets the defaults of a kind on a private, mutable object. Kinds without rules are left alone. */
  (object: object, gvk: GroupVersionKind): void;
}

/** Feature gates differ from the reference's 1.32 defaults only where named. */
export function createDefaulter(
  gates: Readonly<Record<string, boolean>> = {},
): Defaulter {
  const byKind = new Map<string, Apply | undefined>();
  const compiler = new Compiler(gates);
  return (object, { group, version, kind }) => {
    const key = `${group}/${version}/${kind}`;
    let apply = byKind.get(key);
    if (apply === undefined && !byKind.has(key)) {
      const schema = schemaFor(group, version, kind);
      apply = schema && compiler.type(schema);
      byKind.set(key, apply);
    }
    apply?.(object as Plain);
  };
}

/** Types whose rules an object schema has to obey: its own, and those of messages inlined into it. */
function* typesOf(fullName: string): Generator<string> {
  const message = messageNamed(fullName);
  if (!message) return;
  const version = versionOfPackage(
    fullName.slice(0, fullName.lastIndexOf(".")),
  );
  yield `${version}.${message.name}`;
  for (const field of message.fields)
    if (field.inlined) yield* typesOf(field.message!);
}

class Compiler {
  readonly #gates: Readonly<Record<string, boolean>>;
  readonly #done = new Map<ObjectSchema, Apply | undefined>();

  constructor(gates: Readonly<Record<string, boolean>>) {
    this.#gates = gates;
  }

  /** undefined: nothing in that type ever needs a default. */
  type(schema: ObjectSchema): Apply | undefined {
    if (this.#done.has(schema)) return this.#done.get(schema);
    // A type inside itself (JSONSchemaProps) has no rules in the reference.
    this.#done.set(schema, undefined);
    const steps: Apply[] = [];
    for (const type of typesOf(schema.name)) {
      for (const rule of rulesByType[type] ?? []) {
        if (rule.gate && !(this.#gates[rule.gate] ?? rule.gateOn)) continue;
        const step = compileRule(rule, schema, CREATED_PARENTS[type] ?? []);
        // Looks at a type before the rule that sets it: see default-conditions.ts.
        if (rule.when?.includes("was empty")) steps.unshift(step);
        else steps.push(step);
      }
    }
    steps.push(...mirrorsOf(schema.name));
    for (const field of schema.fields.values()) {
      if (field.default !== undefined) steps.push(declaredDefault(field));
      const inner = this.#inside(field, schema);
      if (inner) steps.push(inner);
    }
    const apply: Apply | undefined =
      steps.length === 0
        ? undefined
        : (object) => {
            for (const step of steps) step(object);
          };
    this.#done.set(schema, apply);
    return apply;
  }

  #inside(field: FieldSchema, owner: ObjectSchema): Apply | undefined {
    const { name, schema } = field;
    if (isResourceList(field, owner)) {
      return (object) => {
        const amounts = object[name];
        if (amounts) roundAll(amounts as Record<string, string>);
      };
    }
    const element =
      schema.type === "list"
        ? schema.items
        : schema.type === "map"
          ? schema.values
          : schema;
    const apply = element.type === "object" ? this.type(element) : undefined;
    if (!apply) return undefined;
    switch (schema.type) {
      case "list":
        return (object) => {
          const list = object[name];
          if (Array.isArray(list))
            for (const item of list) if (item) apply(item as Plain);
        };
      case "map":
        return (object) => {
          const map = object[name];
          if (map) for (const item of Object.values(map)) apply(item as Plain);
        };
      default:
        if (field.nullable) {
          return (object) => {
            const inner = object[name];
            if (typeof inner === "object" && inner !== null)
              apply(inner as Plain);
          };
        }
        // Always there in the reference, so its defaults apply even when the document has left it out.
        return (object) => apply(objectAt(object, name));
    }
  }
}

function objectAt(object: Plain, name: string): Plain {
  const inner = object[name];
  if (typeof inner === "object" && inner !== null) return inner as Plain;
  const made: Plain = {};
  object[name] = made;
  return made;
}

/** Resource lists (amounts by resource name) belong to core/v1; other maps of quantities are not rounded. */
function isResourceList({ schema }: FieldSchema, owner: ObjectSchema): boolean {
  return (
    schema.type === "map" &&
    schema.values.type === "quantity" &&
    owner.name.startsWith("io.k8s.api.core.v1.")
  );
}

function roundAll(amounts: Record<string, string>): void {
  for (const name in amounts) {
    const text = amounts[name]!;
    // Only these suffixes can be finer than 1/1000.
    if (typeof text === "string" && /[nue]/.test(text))
      writeChanged(amounts, name, roundUpToMilli(text));
  }
}

const nanoOfMilli = 1_000_000n;

/** Away from zero. */
function roundUpToMilli(text: string): string {
  const { nano } = parseQuantity(text);
  if (nano % nanoOfMilli === 0n) return text;
  const milli = nano / nanoOfMilli + (nano > 0n ? 1n : -1n);
  return canonicalQuantity(`${milli}m`);
}

function copy(value: unknown): unknown {
  return typeof value === "object" && value !== null ? copyJson(value) : value;
}

function declaredDefault({
  name,
  default: value,
  nullable,
}: FieldSchema): Apply {
  return (object) => {
    const present = object[name];
    if (
      present === undefined ||
      present === null ||
      (!nullable && isEmptyValue(present))
    )
      object[name] = copy(value);
  };
}

type Setter = (root: Plain, holder: Plain) => void;

function compileRule(
  rule: Rule,
  schema: ObjectSchema,
  created: readonly string[],
): Apply {
  const condition = conditionOf(rule);
  const steps = rule.path.split(/\.(?![^[]*\])/);
  const last = steps.pop()!;
  const field = last.replace(/\[.*\]|\{\}/, "");
  const set = setterOf(
    rule,
    last,
    field,
    condition,
    isNullable(rule.path, schema),
  );
  return compileHolders(steps, schema, created, condition, set);
}

function conditionOf({ when }: Rule): Condition | undefined {
  if (when === undefined) return undefined;
  const found = conditions[when];
  if (!found) throw new Error(`defaults: unknown condition "${when}"`);
  return found;
}

/** Calls `set` with the object that holds the last step of a path, once per list element on the way. */
function compileHolders(
  steps: readonly string[],
  schema: ObjectSchema,
  created: readonly string[],
  condition: Condition | undefined,
  set: Setter,
): Apply {
  let node: TypeSchema | undefined = schema;
  const plan: { name: string; list: boolean; create: boolean; ask: boolean }[] =
    [];
  const path: string[] = [];
  for (const step of steps) {
    const name = step.replace("[]", "");
    path.push(name);
    const field: FieldSchema | undefined =
      node?.type === "object" ? node.fields.get(name) : undefined;
    const list = step.endsWith("[]");
    const named = created.includes(path.join("."));
    plan.push({
      name,
      list,
      create: named || (field !== undefined && !list && !field.nullable),
      ask: named,
    });
    const inner: TypeSchema | undefined = field?.schema;
    node = inner?.type === "list" ? inner.items : inner;
  }
  const descend = (root: Plain, object: Plain, at: number): void => {
    const step = plan[at];
    if (!step) return set(root, object);
    let inner = object[step.name];
    if (inner === undefined || inner === null) {
      if (!step.create) return;
      // Optional parents come only when the rule itself holds.
      if (step.ask && condition && !condition(root, {}, undefined)) return;
      inner = objectAt(object, step.name);
    }
    if (!step.list) return descend(root, inner as Plain, at + 1);
    if (Array.isArray(inner))
      for (const item of inner) if (item) descend(root, item as Plain, at + 1);
  };
  return (root) => descend(root, root, 0);
}

function isNullable(path: string, schema: ObjectSchema): boolean {
  let node: TypeSchema | undefined = schema;
  let field: FieldSchema | undefined;
  for (const step of path.split(".")) {
    field =
      node?.type === "object"
        ? node.fields.get(step.replace(/\[\]|\{\}/, ""))
        : undefined;
    node = field?.schema.type === "list" ? field.schema.items : field?.schema;
  }
  return field?.nullable ?? false;
}

function setterOf(
  rule: Rule,
  last: string,
  field: string,
  condition: Condition | undefined,
  nullable: boolean,
): Setter {
  const holds = (root: Plain, holder: Plain): boolean => {
    const value = holder[field];
    if (condition) return condition(root, holder, value);
    return (
      value === undefined ||
      value === null ||
      (!nullable && (value === "" || value === 0))
    );
  };
  const source = sourceOf(rule);
  switch (rule.op) {
    case undefined:
      return (root, holder) => {
        if (!holds(root, holder)) return;
        const value = source(root, holder);
        if (value !== undefined && value !== null) holder[field] = copy(value);
      };
    case "always set": {
      const key = /\[(.+)\]/.exec(last)![1]!;
      return (root, holder) => {
        if (!condition || condition(root, holder, holder[field]))
          writeChanged(objectAt(holder, field), key, source(root, holder));
      };
    }
    case "clear":
      return (root, holder) => {
        if (holder[field] !== undefined && holds(root, holder))
          delete holder[field];
      };
    case "append":
      return (root, holder) => {
        if (holds(root, holder))
          holder[field] = [
            ...((holder[field] as unknown[] | undefined) ?? []),
            copy(rule.value),
          ];
      };
    case "add each missing key":
    case "add each missing key (cpu, memory only)":
      return (root, holder) => {
        if (condition && !condition(root, holder, holder[field])) return;
        const from = source(root, holder) as Plain | undefined;
        if (isEmptyValue(from)) return;
        const target = objectAt(holder, field);
        for (const key in from)
          if (target[key] === undefined) target[key] = from[key];
      };
    case "round each quantity up to 1/1000 units":
      // Done for every resource list by its type, see isResourceList.
      return () => undefined;
    default:
      throw new Error(`defaults: unknown operation "${rule.op}"`);
  }
}

function sourceOf(rule: Rule): (root: Plain, holder: Plain) => unknown {
  const { from, value } = rule;
  if (from === undefined) return () => value;
  const special = sources[from];
  if (special) return special;
  if (!/^[\w.[\]{}]+$/.test(from))
    throw new Error(`defaults: unknown source "${from}"`);
  const plain = from.replace("{}", "");
  // The part below the last list is read from the same element that holds the field.
  const shared = plain.lastIndexOf("[].");
  if (shared >= 0) {
    const fieldPath = plain.slice(shared + 3).split(".");
    const name = fieldPath.at(-1)!;
    return (_root, holder) => holder[name];
  }
  if (!plain.includes(".")) return (_root, holder) => holder[plain];
  return (root) => read(root, plain);
}

/** Pairs of fields that always say the same. */
function mirrorsOf(typeName: string): Apply[] {
  switch (typeName) {
    case "io.k8s.api.core.v1.PodSpec":
      return [
        (spec) => {
          const account = spec["serviceAccountName"] || spec["serviceAccount"];
          if (account) writeChanged(spec, "serviceAccountName", account);
          if (account) writeChanged(spec, "serviceAccount", account);
        },
      ];
    case "io.k8s.api.core.v1.PodStatus":
      return [
        (status) => {
          const ips = status["podIPs"] as { ip?: string }[] | undefined;
          const first = ips?.[0]?.ip;
          if (status["podIP"] && status["podIP"] !== first)
            status["podIPs"] = [{ ip: status["podIP"] }];
          else if (!status["podIP"] && first) status["podIP"] = first;
        },
      ];
    case "io.k8s.api.core.v1.Secret":
      return [
        (secret) => {
          const texts = secret["stringData"] as
            Record<string, string> | undefined;
          if (!texts) return;
          const data = objectAt(secret, "data");
          for (const [key, text] of Object.entries(texts))
            Object.defineProperty(data, key, {
              value: Buffer.from(String(text)).toString("base64"),
              writable: true,
              enumerable: true,
              configurable: true,
            });
          delete secret["stringData"];
        },
      ];
    default:
      return [];
  }
}

/** With the reference's default gates. */
export const applyDefaults: Defaulter = createDefaulter();
