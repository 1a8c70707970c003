// The AdmissionReview that a webhook is asked with, in the reference's form and order of fields.
import { objectText } from "../../../api/codec/object-text.ts";
import { parseApiVersion, type AnyObject } from "../../../api/object.ts";
import { schemaFor } from "../../../api/schema.ts";
import { namespaceOf } from "../matching/request-matcher.ts";
import type { AdmissionAttributes, ServedResource } from "../plugin.ts";

interface Reviewed {
  readonly uid: string;
  readonly version: "v1" | "v1beta1";
  /** As what the request is shown. */
  readonly place: ServedResource;
  /** Both in the version of the place. */
  readonly object: Readonly<AnyObject> | undefined;
  readonly oldObject: Readonly<AnyObject> | undefined;
}

export function reviewText(
  attributes: AdmissionAttributes,
  { uid, version, place, object, oldObject }: Reviewed,
): string {
  const { subresource, name, operation, user, dryRun, options } = attributes;
  const namespace = namespaceOf(attributes);
  const head = JSON.stringify({
    uid,
    ...shownPlace("kind", "resource", "subResource", place, subresource),
    ...shownPlace(
      "requestKind",
      "requestResource",
      "requestSubResource",
      attributes,
      subresource,
    ),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      ...(user.name && { username: user.name }),
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
  });
  const tail = JSON.stringify({ dryRun, options: options ?? null });
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":${head.slice(0, -1)},"object":${shown(object)},"oldObject":${shown(oldObject)},${tail.slice(1)}}\n`;
}

/** With the keys of the place itself, or of the one that was asked for. */
function shownPlace(
  kindKey: string,
  resourceKey: string,
  subresourceKey: string,
  { kind, resource }: ServedResource,
  subresource: string,
): object {
  return {
    [kindKey]: { group: kind.group, version: kind.version, kind: kind.kind },
    [resourceKey]: {
      group: resource.group,
      version: resource.version,
      resource: resource.resource,
    },
    ...(subresource && { [subresourceKey]: subresource }),
  };
}

/** An object that is not created yet has a time that is null; one of a kind of custom resources has none. */
function shown(object: Readonly<AnyObject> | undefined): string {
  if (!object) return "null";
  const metadata = (object as Partial<AnyObject>).metadata;
  if (
    !metadata ||
    metadata.creationTimestamp !== undefined ||
    !isBuiltIn(object)
  )
    return objectText(object).trimEnd();
  const creationTimestamp: unknown = null;
  return objectText({
    ...object,
    metadata: { ...metadata, creationTimestamp },
  } as AnyObject).trimEnd();
}

function isBuiltIn({ apiVersion = "", kind = "" }: AnyObject): boolean {
  const { group, version } = parseApiVersion(apiVersion);
  return schemaFor(group, version, kind) !== undefined;
}
