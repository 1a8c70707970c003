// create: names (generateName with retries on collision), system fields, preparation, admission, validation, store.
import { randomBytes, randomUUID } from "node:crypto";
import { formatTime } from "../../../api/clock.ts";
import { ApiError, errors, isAlreadyExists } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { CacheEntry } from "../../cache/cache-entry.ts";
import { validateObjectMeta } from "../../resources/object-meta.ts";
import type { Call } from "../call.ts";
import type { StoredKind } from "../kinds/stored-kind.ts";
import { dedupeOwners } from "./owner-references.ts";
import { mostRecent } from "../versions.ts";
import {
  admissionAttributes,
  admit,
  refuseCreation,
  validateAdmission,
} from "./call-admission.ts";
import { asSent, manageFields } from "../field-owners.ts";
import {
  defaultsAfterOwnership,
  print,
  refuseProblems,
  setAdmittedDefaults,
  setDefaults,
  setServedDefaults,
  unstoredEntry,
  writeObject,
} from "./write.ts";
import { asChecked, withoutNulls } from "./object-versions.ts";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const maxGeneratedPrefix = 63 - suffixLength;
const maxNameAttempts = 8;

/** A generated name's random end; without vowels, so that it spells nothing. */
function randomSuffix(): string {
  let text = "";
  while (text.length < suffixLength) {
    for (const byte of randomBytes(16)) {
      // 27 × 9: no letter is likelier than another.
      if (byte < 243 && text.length < suffixLength)
        text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

/** How an object comes to be created. */
interface Creation {
  /** The body has managedFields from an apply. */
  readonly applied?: boolean;
  /** By an update or an apply: the caller is asked for the right to create only now. */
  readonly unauthorized?: boolean;
}

/**
 * `body`: a private copy in the served version, which create keeps.
 * Throws ApiError 409 AlreadyExists, 422, and what admission throws.
 */
export async function create(
  call: Call,
  body: AnyObject,
  creation: Creation = {},
): Promise<CacheEntry> {
  const kind = storedOf(call);
  const { generateName, name } = body.metadata;
  // Another server may have made the namespace a moment ago.
  if (call.namespace !== "" && !call.read("", "namespaces", "", call.namespace))
    await mostRecent(call.registry);
  if (name || !generateName) return createOnce(call, kind, body, creation);
  const text = JSON.stringify(body);
  for (let attempt = 1; ; attempt++) {
    try {
      return await createOnce(
        call,
        kind,
        JSON.parse(text) as AnyObject,
        creation,
      );
    } catch (error) {
      if (!isAlreadyExists(error) || attempt >= maxNameAttempts) throw error;
    }
  }
}

export function storedOf(call: Call): StoredKind {
  const { stored, info } = call.endpoint;
  if (!stored) throw errors.methodNotAllowed(info, "create");
  return stored;
}

async function createOnce(
  call: Call,
  kind: StoredKind,
  body: AnyObject,
  { applied, unauthorized }: Creation,
): Promise<CacheEntry> {
  const { endpoint } = call;
  const { strategy } = endpoint;
  const { resourceVersion } = body.metadata;
  dedupeOwners(call, body, "");
  let turn = setServedDefaults(call, body);
  if (turn) await turn;
  const sent = asSent(call, body);
  const converting = endpoint.toStored(body);
  let object = converting instanceof Promise ? await converting : converting;
  place(call, object);
  const late = defaultsAfterOwnership(call);
  turn = (late ? undefined : setDefaults(call, object)) ?? call.nextTurn();
  if (turn) await turn;
  // No manager owns the fields that strategy and admission set.
  const managing = applied
    ? undefined
    : manageFields(call, undefined, object, sent);
  if (managing) await managing;
  turn = (late ? setDefaults(call, object) : undefined) ?? call.nextTurn();
  if (turn) await turn;
  const attributes = admissionAttributes(call, "CREATE", object, undefined, {
    name: object.metadata.name ?? "",
  });
  await admit(call, attributes);
  object = attributes.object!;
  dedupeOwners(call, object, " after mutating admission happens");
  if (object.metadata.resourceVersion)
    throw new ApiError({ code: 500, message: versionGiven });
  place(call, object);
  setSystemFields(call, object);
  attributes.name = object.metadata.name!;
  let prepared: AnyObject | undefined;
  try {
    if (strategy.prepareForCreate) {
      prepared = object;
      await strategy.prepareForCreate(object, call);
    }
    turn = setAdmittedDefaults(call, object) ?? call.nextTurn();
    if (turn) await turn;
    const name = object.metadata.name ?? "";
    const viewing = asChecked(call, object, undefined);
    const [checked] = viewing instanceof Promise ? await viewing : viewing;
    const problems = [
      ...validateObjectMeta(checked, {
        namespaced: kind.namespaced,
        anyFinalizer: strategy.anyFinalizer ?? false,
        ...(strategy.validateName
          ? { validateName: strategy.validateName }
          : {}),
      }),
      ...(strategy.validate?.(checked, call) ?? []),
      ...(strategy.validateCreate?.(checked, call) ?? []),
    ];
    const longer = call.shared(
      strategy.validateInSteps?.(checked, undefined, call),
    );
    problems.push(
      ...((longer instanceof Promise ? await longer : longer) ?? []),
    );
    refuseProblems(call, name, problems);
    turn = call.nextTurn();
    if (turn) await turn;
    call.warnEach(strategy.warnings?.(object, undefined) ?? []);
    if (unauthorized) await call.authorize("create");
    await validateAdmission(call, attributes);
    object = withoutNulls(call, object);
    const key = kind.keyOf(object.metadata.namespace ?? "", name);
    if (call.dryRun) {
      if (kind.cache.get(key)) throw errors.alreadyExists(endpoint.info, name);
      const entry = unstoredEntry(kind, key, object);
      if (prepared) await strategy.rollback?.(prepared, call);
      return entry;
    }
    if (/^[1-9][0-9]*$/.test(resourceVersion ?? ""))
      throw errors.badRequest(versionGiven);
    turn = print(call, object);
    if (turn) await turn;
    const written = await writeObject(call, kind, key, object, 0, () => {
      strategy.refuseCreation?.(call);
      refuseCreation(call, attributes);
    });
    if (written.ok) return written.entry;
    if (kind.cache.get(key)?.raw.metadata.deletionTimestamp) {
      throw new ApiError({
        ...errors.alreadyExists(endpoint.info, name).status,
        message: `object is being deleted: ${errors.alreadyExists(endpoint.info, name).message}`,
      });
    }
    throw errors.alreadyExists(endpoint.info, name);
  } catch (error) {
    if (prepared) await strategy.rollback?.(prepared, call);
    throw error;
  }
}

/** What the request's place says. Throws ApiError 400 where the object says something else. */
function place(call: Call, { metadata }: AnyObject): void {
  const { info } = call.endpoint;
  if (info.namespaced) {
    metadata.namespace ||= call.namespace;
    if (metadata.namespace !== call.namespace)
      throw errors.badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
  } else if (metadata.namespace !== undefined) delete metadata.namespace;
  for (const field of neverGiven)
    if (metadata[field] !== undefined) delete metadata[field];
}

/** What the server alone sets; mutating admission sees the object without. */
function setSystemFields(call: Call, object: AnyObject): void {
  const { endpoint, clock } = call;
  const { countsGeneration = true, status } = endpoint.strategy;
  const { metadata } = object;
  // Rules look at names; they refuse an object without one.
  metadata.name ||= metadata.generateName
    ? metadata.generateName.slice(0, maxGeneratedPrefix) + randomSuffix()
    : "";
  metadata.uid = randomUUID();
  metadata.creationTimestamp = formatTime(clock.now());
  if (endpoint.hasStatus && status === undefined) delete object["status"];
  if (countsGeneration === true || countsGeneration === "created")
    metadata.generation = 1;
}

const versionGiven =
  "resourceVersion should not be set on objects to be created";

const neverGiven = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
] as const;
