// The steps that the writing verbs share, called by each in its own order: first defaults, admission, validation and
// ownership of fields, then the guarded write into the store that makes the entry's bytes with the revision inside.
import { errors, type FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import {
  updateManagedFields,
  type FieldManagement,
} from "../../../api/patch/apply.ts";
import { documentText } from "../../../api/patch/field-set.ts";
import { copyJson } from "../../../api/patch/json-value.ts";
import type { PatchSchema } from "../../../api/patch/patch-schema.ts";
import { decodeManagers } from "../../../api/patch/managed-fields.ts";
import type {
  DeleteOptions,
  ManagedFieldsEntry,
} from "../../../api/types/meta-v1.ts";
import { StoreError, type WriteResult } from "../../../storage/store.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
  ObjectVersions,
  ServedResource,
} from "../../admission/plugin.ts";
import { CacheEntry } from "../../cache/cache-entry.ts";
import { noFields } from "../../cache/shared-fields.ts";
import { encodeObject } from "../../../api/codec/object-text.ts";
import type { PendingEntry } from "../../cache/cached-resource.ts";
import { entryOf } from "../../cache/entries.ts";
import type { PartStrategy } from "../../resources/strategy.ts";
import type { Call } from "../call.ts";
import { storeFailure } from "../../resources/store-failure.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import { CallVersions } from "./object-versions.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";

/** Defaults of the stored version; the served version's have been set when the body was decoded. */
export function setDefaults(call: Call, object: AnyObject): void {
  const { endpoint } = call;
  endpoint.definition.setDefaults(
    object,
    endpoint.stored?.apiVersion ?? endpoint.apiVersion,
  );
  endpoint.strategy.setDefaults?.(object);
}

/**
 * What only the stored version of a custom resource defaults belongs to no manager, as the reference sets it when it reads
 * the object: where another version is written it is set after ownership.
 */
export function defaultsAfterOwnership({ endpoint }: Call): boolean {
  return !endpoint.native && endpoint.info.custom === true;
}

/**
 * Once more after preparation and mutating admission, as in the reference, where what is read from the store gets
 * defaults too: a Job's labels come from the template that preparation has labelled.
 */
export function setAdmittedDefaults(call: Call, object: AnyObject): void {
  const plugins: readonly AdmissionPlugin[] = call.registry.admission;
  if (plugins.length === 0) return;
  if (
    !call.endpoint.strategy.preparesWhole ||
    plugins.some(({ admit, writesWhole }) => admit && !writesWhole)
  )
    setDefaults(call, object);
}

/** Of an object in the served version, before it is converted for storage. */
export function setServedDefaults(call: Call, object: AnyObject): void {
  const { native, definition, apiVersion } = call.endpoint;
  if (!native) definition.setDefaults(object, apiVersion);
}

/** What is special about an operation; each default is the call's own. */
interface AdmissionDetails {
  readonly name?: string | undefined;
  /** Of a DELETE. */
  readonly options?: DeleteOptions;
  readonly place?: ServedResource;
}

export function admissionAttributes(
  call: Call,
  operation: AdmissionAttributes["operation"],
  object: AnyObject | undefined,
  oldObject: Readonly<AnyObject> | undefined,
  details: AdmissionDetails = {},
): CallAttributes {
  return new CallAttributes(call, operation, object, oldObject, details);
}

/** A class, as an object literal with a getter takes several times as long to make. */
export class CallAttributes implements AdmissionAttributes {
  readonly resource: AdmissionAttributes["resource"];
  readonly kind: AdmissionAttributes["kind"];
  readonly subresource: string;
  readonly namespace: string;
  readonly user: AdmissionAttributes["user"];
  readonly dryRun: boolean;
  /** A name is generated after the mutating plug-ins have seen the object. */
  name: string;
  round: 0 | 1 = 0;
  reinvoke = false;
  readonly #call: Call;
  readonly #given: DeleteOptions | undefined;
  #versions: ObjectVersions | undefined;

  constructor(
    call: Call,
    readonly operation: AdmissionAttributes["operation"],
    public object: AnyObject | undefined,
    public oldObject: Readonly<AnyObject> | undefined,
    { name, options, place }: AdmissionDetails,
  ) {
    const { resource, kind } = place ?? call.endpoint.placeOf(call.subresource);
    this.resource = resource;
    this.kind = kind;
    this.subresource = call.subresource;
    this.namespace = call.namespace;
    this.name = name ?? call.name;
    this.user = call.user;
    this.dryRun = call.dryRun;
    this.#call = call;
    this.#given = options;
  }

  /** Made when a plug-in asks: few do. */
  get options(): object | undefined {
    return optionsOf(this.#call, this.operation, this.#given);
  }

  get versions(): ObjectVersions {
    return (this.#versions ??= new CallVersions(this.#call));
  }
}

const optionKinds = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
} as const;

/** As the reference shows the options of a request to admission; a patch has those of the create or update it becomes. */
function optionsOf(
  call: Call,
  operation: AdmissionAttributes["operation"],
  given: DeleteOptions | undefined,
): object | undefined {
  if (operation === "CONNECT") return undefined;
  const type = { kind: optionKinds[operation], apiVersion: "meta.k8s.io/v1" };
  const dryRun = call.dryRun ? { dryRun: ["All"] } : {};
  if (operation === "DELETE") return { ...given, ...type, ...dryRun };
  const { fieldManager } = call.options;
  const fieldValidation = call.query.get("fieldValidation");
  return {
    ...type,
    ...dryRun,
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

/** All mutating plug-ins, and once more when one of them asks for it. */
export function admit(
  call: Call,
  attributes: AdmissionAttributes,
): MaybePromise<void> {
  const owned = ownershipOf(attributes);
  return whenReady(admitRounds(call, attributes), () =>
    keepOwnership(call, attributes, owned),
  );
}

/** What admission makes of managedFields counts where it can be read. */
function keepOwnership(
  call: Call,
  attributes: AdmissionAttributes,
  owned: ManagedFieldsEntry[] | undefined,
): void {
  const entries = ownershipOf(attributes);
  if (entries === owned || decodeManagers(entries)) return;
  if (owned) attributes.object!.metadata.managedFields = owned;
  else delete attributes.object!.metadata.managedFields;
  call.warn(
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`",
  );
}

/** What is connected to has no metadata. */
function ownershipOf({
  object,
}: AdmissionAttributes): ManagedFieldsEntry[] | undefined {
  return (object as Partial<AnyObject> | undefined)?.metadata?.managedFields;
}

function admitRounds(
  call: Call,
  attributes: AdmissionAttributes,
): MaybePromise<void> {
  return whenReady(admitFrom(call, attributes, 0), () => {
    if (!attributes.reinvoke) return;
    attributes.round = 1;
    return admitFrom(call, attributes, 0);
  });
}

/** The plug-ins from one on, without a promise as long as none of them waits. */
function admitFrom(
  call: Call,
  attributes: AdmissionAttributes,
  first: number,
): MaybePromise<void> {
  const plugins: readonly AdmissionPlugin[] = call.registry.admission;
  for (let at = first; at < plugins.length; at++) {
    const result = plugins[at]!.admit?.(attributes, call);
    if (result) return result.then(() => admitFrom(call, attributes, at + 1));
  }
}

export function validateAdmission(
  call: Call,
  attributes: AdmissionAttributes,
  first = 0,
): MaybePromise<void> {
  const plugins: readonly AdmissionPlugin[] = call.registry.admission;
  for (let at = first; at < plugins.length; at++) {
    const result = plugins[at]!.validate?.(attributes, call);
    if (result)
      return result.then(() => validateAdmission(call, attributes, at + 1));
  }
}

/** `before`, and what a strategy or a part of one finds wrong with a change. */
export function changeProblems(
  call: Call,
  rules: PartStrategy,
  object: AnyObject,
  old: Readonly<AnyObject>,
  before: readonly FieldError[],
): MaybePromise<FieldError[]> {
  const found = rules.validateUpdate?.(object, old, call) ?? [];
  return whenReady(
    call.shared(rules.validateInSteps?.(object, old, call)),
    (longer = []) => [...before, ...found, ...longer],
  );
}

export function refuseProblems(
  call: Call,
  name: string,
  problems: readonly FieldError[],
): void {
  if (problems.length === 0) return;
  const { group, kind } = call.endpoint.info;
  throw errors.invalid({ group, kind }, name, problems);
}

/** Sets managedFields of an object as it was sent, with defaults; `live` is unset for a create. */
export function manageFields(
  call: Call,
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
): MaybePromise<void> {
  const { endpoint } = call;
  if (endpoint.native)
    return call.inTurns(updateManagedFields(live, object, managementOf(call)));
  // Fields are owned as the version that was spoken has them.
  const before = live && endpoint.toServed(copyJson(live) as AnyObject);
  return whenReady(before, (old) =>
    whenReady(endpoint.toServed(copyJson(object)), (served) =>
      whenReady(
        call.inTurns(updateManagedFields(old, served, managementOf(call))),
        () => {
          const { managedFields } = served.metadata;
          if (managedFields) object.metadata.managedFields = managedFields;
          else delete object.metadata.managedFields;
        },
      ),
    ),
  );
}

/**
 * Makes the texts of a large object's managed fields in turns of their own, so that they are there when the store asks for
 * the object's bytes.
 */
export function printOwnership(
  call: Call,
  { metadata }: Readonly<AnyObject>,
): Promise<void> | undefined {
  const turn = call.nextTurn();
  if (!turn) return undefined;
  return turn.then(() => {
    for (const { fieldsV1 } of metadata.managedFields ?? [])
      if (fieldsV1) documentText(fieldsV1);
    return call.nextTurn();
  });
}

/** Who manages fields through this call, and which there are. */
export function managementOf(call: Call): FieldManagement {
  const { endpoint, manager, subresource } = call;
  return {
    manager,
    apiVersion: endpoint.apiVersion,
    subresource,
    // A Scale keeps the owners of its parent's field without their times.
    nowMs: subresource === "scale" ? undefined : call.clock.now(),
    conflictVersion: subresource === "scale" ? "autoscaling/v1" : undefined,
    schema: endpoint.schema as PatchSchema | undefined,
    knows: (apiVersion) => endpoint.knowsVersion(apiVersion),
    resetPaths: resetPathsOf(call),
  };
}

function resetPathsOf(call: Call): readonly (readonly string[])[] {
  const { endpoint, subresource } = call;
  if (!endpoint.hasStatus) return [];
  const part = endpoint.part(subresource);
  return part ? (part.resetPaths ?? [["spec"]]) : [["status"]];
}

type Written =
  { ok: true; entry: CacheEntry } | { ok: false; revision: number | undefined };

/** Writes `object` (in the stored version; it is kept) when the key's last revision is `expected` (0: none). */
export async function writeObject(
  call: Call,
  kind: StoredKind,
  key: string,
  object: AnyObject,
  expected: number,
): Promise<Written> {
  const pending: PendingEntry = { resource: kind.form, entry: undefined };
  // The field is never stored; only a dry run returns it.
  if (object.metadata.selfLink !== undefined) delete object.metadata.selfLink;
  const preparing = kind.form.prepare(key);
  if (preparing) await prepared(preparing);
  const result = await storeWrite(call, {
    key: kind.storeKey(key),
    expectedRevision: expected,
    attachment: pending,
    encode: (revision) => {
      if (expected === 0) call.endpoint.strategy.refuseCreation?.(call);
      const { entry, value } = kind.encode(key, object, revision);
      pending.entry = entry;
      return value;
    },
    ...(kind.ttlSeconds === undefined ? {} : { ttlSeconds: kind.ttlSeconds }),
  });
  if (!result.ok) return { ok: false, revision: result.current?.revision };
  const entry = pending.entry!;
  // An engine that learnt the revision only now: its own event has brought the entry.
  if (entry.revision !== result.revision)
    return {
      ok: true,
      entry: entryOf(kind.form, key, object, result.revision),
    };
  return { ok: true, entry };
}

/** Throws ApiError 500 when the value can't be sealed. */
async function prepared(preparing: Promise<void>): Promise<void> {
  try {
    await preparing;
  } catch (error) {
    throw errors.internal(
      `the value can't be sealed: ${(error as Error).message}`,
    );
  }
}

export function removeObject(
  call: Call,
  kind: StoredKind,
  key: string,
  expected: number,
): Promise<WriteResult> {
  return storeWrite(call, {
    key: kind.storeKey(key),
    expectedRevision: expected,
    encode: () => undefined,
  });
}

async function storeWrite(
  call: Call,
  op: Parameters<Call["registry"]["store"]["write"]>[0],
): Promise<WriteResult> {
  try {
    const result = await call.registry.store.write(op);
    call.registry.options.loopWatch?.enter(call);
    return result;
  } catch (error) {
    if (error instanceof StoreError)
      call.registry.logger.error({ err: error }, "write to the store failed");
    throw storeFailure(error);
  }
}

/** What a dry run answers: the object as it would be stored. */
export function unstoredEntry(
  kind: StoredKind,
  key: string,
  object: AnyObject,
  live?: CacheEntry,
): CacheEntry {
  if (live) object.metadata.resourceVersion = String(live.revision);
  else delete object.metadata.resourceVersion;
  return new CacheEntry(
    key,
    0,
    encodeObject(object),
    noFields,
    kind.fieldsOf(object),
    object,
  );
}
