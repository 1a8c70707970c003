// Values as the reference prints them inside error texts: Go's %#v of the struct they are there, such as
// `v1.LabelSelector{MatchLabels:map[string]string{"a":"b"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}`.
// Types are named as Go names them ("apps.DeploymentStrategy", "[]string", "map[string]string"); their fields come from
// the type table. The reference prints a pointer's target as an address: here it is always the same one.
import {
  messageNamed,
  packageOfVersion,
  type MessageField,
} from "./type-table.ts";

/** A value that fieldErrors prints by its Go type. */
export class GoValue {
  constructor(
    readonly type: string,
    readonly value: unknown,
  ) {}

  /** As in an error: what the value points at, "null" for a pointer to nothing. */
  toString(): string {
    const missing = this.value === undefined || this.value === null;
    if (!this.type.startsWith("*")) return goSyntax(this.type, this.value);
    return missing ? '"null"' : goSyntax(this.type.slice(1), this.value);
  }
}

/** A name whose type prints itself: without quotes. */
class BareName extends GoValue {
  constructor(readonly name: string) {
    super("string", name);
  }

  override toString(): string {
    return this.name;
  }
}

export const asBareName = (name: string): GoValue => new BareName(name);

export const asGo = (type: string, value: unknown): GoValue =>
  new GoValue(type, value);

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const ADDRESS = "0xc000000000";

/** The reference's internal package of a group, and the version whose types look like it. */
const versions: Readonly<Record<string, string>> = {
  admissionregistration: "admissionregistration.k8s.io/v1",
  apps: "apps/v1",
  authorization: "authorization.k8s.io/v1",
  autoscaling: "autoscaling/v2",
  batch: "batch/v1",
  certificates: "certificates.k8s.io/v1",
  coordination: "coordination.k8s.io/v1",
  core: "v1",
  discovery: "discovery.k8s.io/v1",
  flowcontrol: "flowcontrol.apiserver.k8s.io/v1",
  networking: "networking.k8s.io/v1",
  node: "node.k8s.io/v1",
  policy: "policy/v1",
  rbac: "rbac.authorization.k8s.io/v1",
  resource: "resource.k8s.io/v1beta1",
  scheduling: "scheduling.k8s.io/v1",
  storage: "storage.k8s.io/v1",
  storagemigration: "storagemigration.k8s.io/v1alpha1",
};
const packageNames = new Map(
  Object.entries(versions).map(([name, version]) => [
    packageOfVersion(version),
    name,
  ]),
);

const scalarTypes: Readonly<Record<string, string>> = {
  string: "string",
  bool: "bool",
  bytes: "[]uint8",
  int32: "int32",
  int64: "int64",
  double: "float64",
};

/** Lists and maps whose type has a name of its own in the reference, by field. */
const namedTypes: Readonly<Record<string, string>> = {
  accessModes: "[]core.PersistentVolumeAccessMode",
  limits: "core.ResourceList",
  requests: "core.ResourceList",
  policyTypes: "[]networking.PolicyType",
  usages: "[]certificates.KeyUsage",
  volumeLifecycleModes: "[]storage.VolumeLifecycleMode",
  protocol: "core.Protocol",
  unhealthyPodEvictionPolicy: "policy.UnhealthyPodEvictionPolicyType",
};

const initialisms: Readonly<Record<string, string>> = {
  apiVersion: "APIVersion",
  apiGroup: "APIGroup",
  apiGroups: "APIGroups",
  uid: "UID",
  nonResourceURLs: "NonResourceURLs",
  dnsPolicy: "DNSPolicy",
  dnsConfig: "DNSConfig",
  ip: "IP",
  cidr: "CIDR",
  host: "Host",
  url: "URL",
  caBundle: "CABundle",
  tls: "TLS",
};

/** Where the struct has other names than the wire. */
const otherNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "resource.DeviceAttribute": {
    int: "IntValue",
    bool: "BoolValue",
    string: "StringValue",
    version: "VersionValue",
  },
  "resource.ResourceClaimTemplateSpec": { metadata: "ObjectMeta" },
};

/** Where the struct's order is not that of the wire: what comes first. */
const leadingFields: Readonly<Record<string, string>> = {
  "v1.OwnerReference": "apiVersion",
};

/** Pointers on the wire only. */
const valueFields = new Set([
  "apps.RollingUpdateStatefulSetStrategy.partition",
]);

const fieldName = (name: string): string =>
  initialisms[name] ?? name.charAt(0).toUpperCase() + name.slice(1);

function messageType(fullName: string): string {
  const dot = fullName.lastIndexOf(".");
  const [inside, name] = [fullName.slice(0, dot), fullName.slice(dot + 1)];
  if (inside === META) return `v1.${name}`;
  return `${packageNames.get(inside) ?? inside.slice(inside.lastIndexOf(".") + 1)}.${name}`;
}

function messageOf(type: string): ReturnType<typeof messageNamed> {
  const [inside = "", name = ""] = type.split(".");
  return messageNamed(
    `${inside === "v1" ? META : packageOfVersion(versions[inside] ?? "")}.${name}`,
  );
}

function elementType({ scalar, message }: MessageField): string {
  return scalar ? scalarTypes[scalar]! : messageType(message!);
}

function typeOfField(field: MessageField): string {
  const element = elementType(field);
  const named = namedTypes[field.jsonName];
  // Requests of devices are a list of their own.
  const other = named === "core.ResourceList" && field.label !== "map";
  if (named && !other && (field.label !== "one" || field.nullable))
    return field.nullable && field.label === "one" ? `*${named}` : named;
  if (field.label === "list") return `[]${element}`;
  if (field.label === "map") return `map[string]${element}`;
  return field.nullable ? `*${element}` : element;
}

const elementOfNamed: Readonly<Record<string, string>> = {
  "core.ResourceList": "resource.Quantity",
};

/** Go's %#v. */
export function goSyntax(type: string, value: unknown): string {
  if (type === "[]byte") return bytesOf(type, value as Buffer | undefined);
  const missing = value === undefined || value === null;
  // A time prints itself, which a pointer to none can't.
  if (missing && type === "*v1.Time") return "<nil>";
  if (type.startsWith("*"))
    return missing ? `(${type})(nil)` : `(${type})(${ADDRESS})`;
  if (type.startsWith("[]")) {
    if (missing) return `${type}(nil)`;
    const element = type.slice(2);
    return `${type}{${(value as unknown[]).map((each) => goSyntax(element, each)).join(", ")}}`;
  }
  const inMap = type.startsWith("map[string]")
    ? type.slice("map[string]".length)
    : elementOfNamed[type];
  if (inMap !== undefined) {
    if (missing) return `${type}(nil)`;
    const entries = Object.entries(value as Record<string, unknown>)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${JSON.stringify(key)}:${goSyntax(inMap, each)}`);
    return `${type}{${entries.join(", ")}}`;
  }
  switch (type) {
    case "bool":
      return String(value ?? false);
    case "int32":
    case "int64":
    case "float64":
      return String(value ?? 0);
    case "intstr.IntOrString":
      return typeof value === "string"
        ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}`
        : `intstr.IntOrString{Type:0, IntVal:${Number(value ?? 0)}, StrVal:""}`;
    // A type with a text form of its own is shown as that text.
    case "Stringer":
      return timeText(String(value));
    case "resource.Quantity":
      return quantitySyntax((value ?? "0") as string);
    case "runtime.RawExtension":
      return `runtime.RawExtension{Raw:${bytesSyntax(value)}, Object:runtime.Object(nil)}`;
    case "v1.Time":
    case "v1.MicroTime":
      return timeSyntax(value as string | undefined);
  }
  const message = messageOf(type);
  if (!message) return JSON.stringify(value ?? "");
  const object = (value ?? {}) as Record<string, unknown>;
  const typeOf = (field: MessageField): string =>
    valueFields.has(`${type}.${field.jsonName}`)
      ? typeOfField(field).slice(1)
      : typeOfField(field);
  const leads = (field: MessageField): boolean =>
    field.jsonName === leadingFields[type];
  const fields = [
    ...message.fields.filter(leads),
    ...message.fields.filter((field) => !leads(field)),
  ].map(
    (field) =>
      `${otherNames[type]?.[field.jsonName] ?? fieldName(field.jsonName)}:${goSyntax(typeOf(field), object[field.jsonName])}`,
  );
  return `${type}{${fields.join(", ")}}`;
}

/** 2024-01-02 03:04:05 +0000 UTC */
const timeText = (time: string): string =>
  `${time.slice(0, 10)} ${time.slice(11, 19)} +0000 UTC`;

/** Of a quantity as it is written canonically. */
function quantitySyntax(text: string): string {
  const [, number = "0", suffix = ""] = /^(-?[0-9.]+)([^]*)$/.exec(text) ?? [];
  const power = "num kMGTPE".indexOf(suffix);
  const binary = suffix.endsWith("i");
  const scale = binary || suffix === "" ? 0 : (power - 3) * 3;
  const value = binary
    ? BigInt(number) << BigInt("KMGTPE".indexOf(suffix[0]!) * 10 + 10)
    : number;
  return `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:"${binary ? "BinarySI" : "DecimalSI"}"}`;
}

function bytesOf(type: string, bytes: Buffer | undefined): string {
  if (!bytes) return `${type}(nil)`;
  const shown = [...bytes].map((byte) => `0x${byte.toString(16)}`);
  return `${type}{${shown.join(", ")}}`;
}

/** The JSON of a value that the reference keeps as it came. */
function bytesSyntax(value: unknown): string {
  const missing = value === undefined || value === null;
  return bytesOf(
    "[]uint8",
    missing ? undefined : Buffer.from(JSON.stringify(value)),
  );
}

const months =
  "January February March April May June July August September October November December".split(
    " ",
  );

function timeSyntax(text: string | undefined): string {
  const date = new Date(text ?? "0001-01-01T00:00:00Z");
  const parts = [
    date.getUTCFullYear(),
    `time.${months[date.getUTCMonth()]}`,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    date.getUTCMilliseconds() * 1e6,
    text === undefined ? "time.UTC" : "time.Local",
  ];
  return `time.Date(${parts.join(", ")})`;
}
