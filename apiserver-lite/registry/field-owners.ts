// Who owns the fields of an object that is written (metadata.managedFields), through the kind's conversion where managers
// wrote other versions of it. A conversion that takes its time is waited for between two steps of the comparison.
import assert from "node:assert";
import { TypeMismatch } from "../../api/codec/conform.ts";
import { ApiError } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import {
  updateManagedFields,
  type FieldManagement,
} from "../../api/patch/apply.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import type { OtherVersions } from "../../api/patch/other-versions.ts";
import type { PatchSchema } from "../../api/patch/patch-schema.ts";
import { started, type Steps } from "../../api/queueing/steps.ts";
import { largeBytes, type Call } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import { whenReady, type MaybePromise } from "./kinds/when-ready.ts";

export type Management = FieldManagement & { readonly force: boolean };

/** What the next step has to wait for. */
interface Waits {
  pending: Promise<void> | undefined;
}

/** The result of steps that are given who manages fields through this call, and which there are. */
export function managing<T>(
  call: Call,
  steps: (management: Management) => Steps<T>,
): MaybePromise<T> {
  const waits: Waits = { pending: undefined };
  return started(steps(managementOf(call, waits)), () => {
    const { pending } = waits;
    waits.pending = undefined;
    return pending ?? call.nextTurn();
  });
}

/** A copy of what is sent, where its conversion may not bring it back as it was: a webhook may leave a trace in annotations. */
export function asSent(
  { endpoint }: Call,
  object: Readonly<AnyObject>,
): AnyObject | undefined {
  return endpoint.custom && !endpoint.native ? copyJson(object) : undefined;
}

/**
 * Sets managedFields of an object as it was sent, with defaults; `live` is unset for a create, `sent` for what is sent in the
 * stored version. When what others own can't be converted the write goes on and the object has no owners any more, as at the
 * reference.
 */
export function manageFields(
  call: Call,
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
  sent?: Readonly<AnyObject>,
): MaybePromise<void> {
  const { endpoint } = call;
  if (endpoint.native) return manageServed(call, live, object);
  // Fields are owned as the version that was spoken has them.
  const given = [...(live ? [live] : []), ...(sent ? [] : [object])];
  const copies = given.map((each) => copyJson(each) as AnyObject);
  return whenReady(
    copies.length > 0 ? endpoint.convertAll(copies, endpoint.apiVersion) : [],
    (views) => {
      const served = sent ? copyJson(sent) : views.at(-1)!;
      return whenReady(manageServed(call, live && views[0], served), () => {
        const { managedFields } = served.metadata;
        if (managedFields) object.metadata.managedFields = managedFields;
        else delete object.metadata.managedFields;
      });
    },
  );
}

function manageServed(
  call: Call,
  live: Readonly<AnyObject> | undefined,
  object: AnyObject,
): MaybePromise<void> {
  const lost = (error: unknown): void => forgetOwners(call, object, error);
  try {
    const managed = managing(call, (management) =>
      updateManagedFields(live, object, management),
    );
    return managed instanceof Promise ? managed.catch(lost) : managed;
  } catch (error) {
    return lost(error);
  }
}

/** Throws all but what a conversion answered. */
function forgetOwners(call: Call, object: AnyObject, error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
  const { logger } = call.registry;
  logger.warn({ err: error, url: call.url }, "the owners of fields are lost");
  delete object.metadata.managedFields;
}

/** Who manages fields through this call, and which there are. */
function managementOf(call: Call, waits: Waits): Management {
  const { endpoint, manager, subresource } = call;
  return {
    manager,
    apiVersion: endpoint.apiVersion,
    subresource,
    // A Scale keeps the owners of its parent's field without their times.
    nowMs: subresource === "scale" ? undefined : call.clock.now(),
    conflictVersion: subresource === "scale" ? "autoscaling/v1" : undefined,
    schema: endpoint.schema as PatchSchema | undefined,
    large: call.bytes > largeBytes,
    knows: (apiVersion) => endpoint.knowsVersion(apiVersion),
    resetPaths: resetPathsOf(call),
    force: call.options.force ?? false,
    others: endpoint.hasOtherForms
      ? new OtherForms(endpoint, waits)
      : undefined,
  };
}

function resetPathsOf(call: Call): readonly (readonly string[])[] {
  const { endpoint, subresource } = call;
  if (!endpoint.hasStatus) return [];
  const part = endpoint.part(subresource);
  return part
    ? (part.resetPaths ?? [["spec"]])
    : (endpoint.strategy.resetPaths ?? [["status"]]);
}

/** A class, as one is made for each write of a kind whose versions differ. */
class OtherForms implements OtherVersions {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly waits: Waits,
  ) {}

  get builtin(): boolean {
    return !this.endpoint.custom;
  }

  alike(apiVersion: string): boolean {
    return this.endpoint.isAlike(apiVersion);
  }

  schemaOf(apiVersion: string): PatchSchema | undefined {
    const { endpoint } = this;
    const { schema, types, info } = endpoint;
    return (
      apiVersion === endpoint.apiVersion
        ? schema
        : types.schemaOf(apiVersion, info.kind)
    ) as PatchSchema | undefined;
  }

  *convert(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
  ): Steps<readonly AnyObject[]> {
    const converting = this.#converting(objects, apiVersion);
    if (!(converting instanceof Promise)) return converting;
    let answer: readonly AnyObject[] | undefined;
    let failure: unknown;
    this.waits.pending = converting.then(
      (converted) => void (answer = converted),
      (error: unknown) => void (failure = error),
    );
    yield;
    if (failure) throw failure;
    assert(answer, "a conversion was not waited for");
    return answer;
  }

  /** Throws ApiError 500 for what has another type in a version that only calls itself another. */
  #converting(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
  ): MaybePromise<readonly AnyObject[]> {
    try {
      return this.endpoint.convertAll(objects, apiVersion);
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error;
      throw new ApiError({ code: 500, message: error.message });
    }
  }
}
