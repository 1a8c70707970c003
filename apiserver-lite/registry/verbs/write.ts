// The steps that the writing verbs share, called by each in its own order: first defaults, admission and
// validation, then the guarded write into the store that makes the entry's bytes with the revision inside.
import { errors, type FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { StoreError, type WriteResult } from "../../../storage/store.ts";
import type { AdmissionPlugin } from "../../admission/plugin.ts";
import { CacheEntry } from "../../cache/cache-entry.ts";
import { noFields } from "../../cache/shared-fields.ts";
import { encodeObject, printing } from "../../../api/codec/object-text.ts";
import type { PendingEntry } from "../../cache/cached-resource.ts";
import { entryOf } from "../../cache/entries.ts";
import type { PartStrategy } from "../../resources/strategy.ts";
import type { Call } from "../call.ts";
import { storeFailure } from "../../resources/store-failure.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";

/** Defaults of the stored version; the served version's have been set when the body was decoded. */
export function setDefaults(
  call: Call,
  object: AnyObject,
): Promise<void> | undefined {
  const { stored, apiVersion, strategy } = call.endpoint;
  const setting = setSchemaDefaults(
    call,
    object,
    stored?.apiVersion ?? apiVersion,
  );
  if (setting) return setting.then(() => strategy.setDefaults?.(object));
  strategy.setDefaults?.(object);
  return undefined;
}

/** A promise where they take more than a slice of the loop's time. */
function setSchemaDefaults(
  call: Call,
  object: AnyObject,
  apiVersion: string,
): Promise<void> | undefined {
  const { definition } = call.endpoint;
  if (!definition.settingDefaults) {
    definition.setDefaults(object, apiVersion);
    return undefined;
  }
  const adding = call.shared(definition.settingDefaults(object, apiVersion));
  // What comes after works on what the object has become.
  const count = (bytes = 0): void => void (call.bytes += bytes);
  if (adding instanceof Promise) return adding.then(count);
  count(adding);
  return undefined;
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
export function setAdmittedDefaults(
  call: Call,
  object: AnyObject,
): Promise<void> | undefined {
  const plugins: readonly AdmissionPlugin[] = call.registry.admission;
  if (plugins.length === 0) return undefined;
  return !call.endpoint.strategy.preparesWhole ||
    plugins.some(({ admit, writesWhole }) => admit && !writesWhole)
    ? setDefaults(call, object)
    : undefined;
}

/** Of an object in the served version, before it is converted for storage. */
export function setServedDefaults(
  call: Call,
  object: AnyObject,
): Promise<void> | undefined {
  const { native, apiVersion } = call.endpoint;
  return native ? undefined : setSchemaDefaults(call, object, apiVersion);
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

/** Makes the text of a large object in turns of its own, so that it is there when the store asks for the object's bytes. */
export function print(
  call: Call,
  object: Readonly<AnyObject>,
): Promise<void> | undefined {
  const turn = call.nextTurn();
  if (!turn) return undefined;
  return turn.then(() => call.inTurns(printing(object)));
}

type Written =
  { ok: true; entry: CacheEntry } | { ok: false; revision: number | undefined };

/**
 * Writes `object` (in the stored version; it is kept) when the key's last revision is `expected` (0: none). `refuse` throws
 * an ApiError in the very turn in which the store takes the object.
 */
export async function writeObject(
  call: Call,
  kind: StoredKind,
  key: string,
  object: AnyObject,
  expected: number,
  refuse?: () => void,
): Promise<Written> {
  const pending: PendingEntry = { resource: kind.form, entry: undefined };
  // The field is never stored; only a dry run returns it.
  if (object.metadata.selfLink !== undefined) delete object.metadata.selfLink;
  const preparing = kind.form.prepare(key);
  if (preparing) await prepared(preparing);
  const result = await storeWrite(call, expected === 0 ? "create" : "update", {
    key: kind.storeKey(key),
    expectedRevision: expected,
    attachment: pending,
    encode: (revision) => {
      refuse?.();
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
    throw errors.internal((error as Error).message);
  }
}

export function removeObject(
  call: Call,
  kind: StoredKind,
  key: string,
  expected: number,
): Promise<WriteResult> {
  return storeWrite(call, "delete", {
    key: kind.storeKey(key),
    expectedRevision: expected,
    encode: () => undefined,
  });
}

async function storeWrite(
  call: Call,
  operation: "create" | "update" | "delete",
  op: Parameters<Call["registry"]["store"]["write"]>[0],
): Promise<WriteResult> {
  const { storeTimes } = call.registry;
  const { info } = call.endpoint;
  const began = performance.now();
  try {
    const { tracer } = call.registry.options;
    const result = await (tracer
      ? tracer.child(
          op.expectedRevision === 0 ? "Create etcd3" : "GuaranteedUpdate etcd3",
          () => ({ key: op.key, resource: call.endpoint.info.resource }),
          () => call.registry.store.write(op),
        )
      : call.registry.store.write(op));
    call.registry.options.loopWatch?.enter(call);
    storeTimes.wrote(operation, info, began);
    return result;
  } catch (error) {
    storeTimes.wrote(operation, info, began, error instanceof StoreError);
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
