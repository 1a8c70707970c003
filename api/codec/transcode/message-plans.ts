// How each message of the type table is written from tokens of JSON (protobuf-transcode.ts): its fields in the order in which
// they are written, and a table that finds a field by the bytes of its JSON name. Plans are made on first use.
import { hashOf } from "./json-tape.ts";
import { encoderOf, hasOwnForm } from "../protobuf-encode.ts";
import { WireWriter } from "../wire-writer.ts";
import {
  messageNamed,
  type Message,
  type MessageField,
} from "../../type-table.ts";

/** How a value is written. */
export const asString = 0;
export const asBool = 1;
export const asInteger = 2;
export const asDouble = 3;
export const asBytes = 4;
export const asMessage = 5;
export const asTime = 6;
export const asQuantity = 7;
export const asIntOrString = 8;
/** The JSON text itself. */
export const asRaw = 9;
/** By the encoder of the message, of the parsed value. */
export const asParsed = 10;

export interface FieldPlan {
  readonly name: Buffer;
  readonly tag: number;
  readonly label: MessageField["label"];
  readonly as: number;
  /** The wire type of its values. */
  readonly wire: number;
  /** Its fields are members of the parent's JSON object. */
  readonly inlined: boolean;
  /** Written where the object has no such member, or null: the tag and a zero value. */
  readonly unset: Buffer | undefined;
  readonly messageName: string;
  /** Of `messageName`, made when first written: types may hold themselves. */
  plan: MessagePlan | undefined;
}

export interface MessagePlan {
  readonly fields: readonly FieldPlan[];
  /** By the hash of a name, then the places behind it: an index into `fields` plus 1, or 0. Never full. */
  readonly places: Uint8Array;
  /** Fields that are written whatever the object has, in ascending order. */
  readonly always: readonly number[];
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const special: Readonly<Record<string, number>> = {
  [`${META}.Time`]: asTime,
  "io.k8s.apimachinery.pkg.api.resource.Quantity": asQuantity,
  "io.k8s.apimachinery.pkg.api.resource.QuantityValue": asQuantity,
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": asIntOrString,
  "io.k8s.apimachinery.pkg.runtime.RawExtension": asRaw,
  [`${META}.FieldsV1`]: asRaw,
};
const scalars = {
  string: asString,
  bool: asBool,
  int32: asInteger,
  int64: asInteger,
  double: asDouble,
  bytes: asBytes,
} as const;
/** More fields than this don't fit into a plan's places. */
export const maxFields = 120;

const plans = new Map<string, MessagePlan | undefined>();

/** Undefined: it has a form of its own, or too many fields. */
export function planOf(messageName: string): MessagePlan | undefined {
  if (plans.has(messageName)) return plans.get(messageName);
  const message = messageNamed(messageName);
  const plan =
    message && !hasOwnForm(message) && message.fields.length <= maxFields
      ? makePlan(message)
      : undefined;
  plans.set(messageName, plan);
  return plan;
}

function makePlan(message: Message): MessagePlan {
  const fields = message.fields
    .filter(({ number }) => number > 0)
    .map(makeField);
  const places = new Uint8Array(256);
  fields.forEach(({ name, inlined }, index) => {
    if (inlined) return;
    let place = hashOf(name, 0, name.length) & 255;
    while (places[place] !== 0) place = (place + 1) & 255;
    places[place] = index + 1;
  });
  const always = fields.flatMap(({ inlined, unset }, index) =>
    inlined || unset ? [index] : [],
  );
  return { fields, places, always };
}

function makeField(field: MessageField): FieldPlan {
  const { number, jsonName, label, inlined, nullable, scalar } = field;
  const messageName = field.message ?? "";
  const as = scalar
    ? scalars[scalar]
    : (special[messageName] ?? (isPlain(messageName) ? asMessage : asParsed));
  const wire = as === asDouble ? 1 : as === asBool || as === asInteger ? 0 : 2;
  const tag = ((number << 3) | wire) >>> 0;
  const always = label === "one" && !nullable && !inlined && as !== asBytes;
  return {
    name: Buffer.from(jsonName),
    tag,
    label,
    as,
    wire,
    inlined,
    unset: always ? unsetBytes(tag, as, messageName) : undefined,
    messageName,
    plan: undefined,
  };
}

/** Is its JSON an object of its fields, few enough for a plan? */
function isPlain(messageName: string): boolean {
  const message = messageNamed(messageName);
  return (
    message !== undefined &&
    !hasOwnForm(message) &&
    message.fields.length <= maxFields
  );
}

function unsetBytes(tag: number, as: number, messageName: string): Buffer {
  const writer = WireWriter.create(16).uint32(tag);
  if (messageName === "")
    return (as === asDouble ? writer.double(0) : writer.uint32(0)).finish();
  writer.fork();
  encoderOf(messageName)(writer, undefined);
  return writer.ldelim().finish();
}
