// The types of what admission hands to expressions beside the objects: the request and the namespace, with the fields of
// the reference and no others.
import {
  boolDeclared,
  dynDeclared,
  intDeclared,
  listDeclared,
  mapDeclared,
  objectDeclared,
  stringDeclared,
  type DeclaredType,
} from "../cel/schemas/declared-type.ts";
import { timestampType } from "../cel/checking/types.ts";

const text = stringDeclared();
const texts = listDeclared(text);
const textMap = mapDeclared(text);
const time: DeclaredType = {
  type: timestampType,
  maxElements: 0,
  minSerializedSize: 22,
  // As in the reference, whose checker takes it for a time: expressions that read it convert it, or fail.
  read: (raw) => String(raw),
};

function object(
  name: string,
  fields: Readonly<Record<string, DeclaredType>>,
): DeclaredType {
  return objectDeclared(
    `kubernetes.${name}`,
    new Map(
      Object.entries(fields).map(([field, reader]) => [
        // No name is escaped here, unlike in the types of schemas: expressions write `request.namespace`.
        field,
        { jsonName: field, reader, hasNull: reader === dynDeclared },
      ]),
    ),
  );
}

/** Cluster-scoped requests have no namespace: the variable is null. */
function orNull(type: DeclaredType): DeclaredType {
  return {
    ...type,
    read: (raw) => (raw === null || raw === undefined ? null : type.read(raw)),
  };
}

const groupVersionKind = object("GroupVersionKind", {
  group: text,
  version: text,
  kind: text,
});
const groupVersionResource = object("GroupVersionResource", {
  group: text,
  version: text,
  resource: text,
});

export const requestType: DeclaredType = object("AdmissionRequest", {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: text,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo: object("UserInfo", {
    username: text,
    uid: text,
    groups: texts,
    extra: mapDeclared(texts),
  }),
  dryRun: boolDeclared,
  options: dynDeclared,
});

export const namespaceType: DeclaredType = orNull(
  object("Namespace", {
    metadata: object("NamespaceMetadata", {
      name: text,
      generateName: text,
      namespace: text,
      labels: textMap,
      annotations: textMap,
      UID: text,
      creationTimestamp: time,
      deletionGracePeriodSeconds: intDeclared,
      deletionTimestamp: time,
      generation: intDeclared,
      resourceVersion: text,
      finalizers: texts,
    }),
    spec: object("NamespaceSpec", { finalizers: texts }),
    status: object("NamespaceStatus", {
      conditions: listDeclared(
        object("NamespaceCondition", {
          status: text,
          type: text,
          lastTransitionTime: time,
          message: text,
          reason: text,
        }),
      ),
      phase: text,
    }),
  }),
);
