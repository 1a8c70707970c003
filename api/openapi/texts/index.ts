// What `kubectl explain` says of built-in types and fields, in words of our own: by package without version, type and
// field; "" is the type itself, "=" another type of the package whose fields have the same texts. A room of its own,
// loaded when the first document is made.
import access from "./access.json";
import coreOthers from "./core-others.json";
import extension from "./extension.json";
import meta from "./meta.json";
import networkStorage from "./network-storage.json";
import pods from "./pods.json";
import workloads from "./workloads.json";

export type TypeTexts = Readonly<Record<string, string>>;
type Texts = Readonly<Record<string, Readonly<Record<string, TypeTexts>>>>;

export const texts: readonly Texts[] = [
  meta,
  pods,
  coreOthers,
  workloads,
  networkStorage,
  access,
  extension,
];
