// Admission of a call: what the plug-ins are given, the mutating ones in their rounds, the validating ones, and an update's
// way through both: of the object itself, or of what its subresource shows instead (a Scale). Nothing waits for a promise
// unless a plug-in does.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { copyJson } from "../../../api/patch/json-value.ts";
import { decodeManagers } from "../../../api/patch/managed-fields.ts";
import type {
  DeleteOptions,
  ManagedFieldsEntry,
} from "../../../api/types/meta-v1.ts";
import type { AdmissionStep } from "../../admission/admission-metrics.ts";
import type {
  AdmissionAttributes,
  ObjectVersions,
  ServedResource,
} from "../../admission/plugin.ts";
import type { AdmittedView } from "../../resources/strategy.ts";
import type { Call } from "../call.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";
import { CallVersions } from "./object-versions.ts";

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
class CallAttributes implements AdmissionAttributes {
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
  return whenReady(inStep(call, attributes, "admit"), () => {
    if (!attributes.reinvoke) return;
    attributes.round = 1;
    return inStep(call, attributes, "admit");
  });
}

export function validateAdmission(
  call: Call,
  attributes: AdmissionAttributes,
): MaybePromise<void> {
  return inStep(call, attributes, "validate");
}

/** What the plug-ins have to say when the store takes a new object. Throws ApiError. */
export function refuseCreation(
  call: Call,
  attributes: AdmissionAttributes,
): void {
  for (const plugin of call.registry.admission)
    plugin.refuseCreation?.(attributes, call);
}

/** One way through all plug-ins, timed. */
function inStep(
  call: Call,
  attributes: AdmissionAttributes,
  step: AdmissionStep,
): MaybePromise<void> {
  const { admissionMetrics } = call.registry;
  const beganMs = performance.now();
  const ended = (refused: boolean): void =>
    admissionMetrics.step(step, attributes.operation, beganMs, refused);
  let waiting;
  try {
    waiting = pluginsFrom(call, attributes, step, 0, beganMs);
  } catch (error) {
    ended(true);
    throw error;
  }
  if (!waiting) return ended(false);
  return waiting.then(
    () => ended(false),
    (error: unknown) => {
      ended(true);
      throw error;
    },
  );
}

/** The plug-ins from one on, without a promise as long as none of them waits. */
function pluginsFrom(
  call: Call,
  attributes: AdmissionAttributes,
  step: AdmissionStep,
  first: number,
  startMs: number,
): MaybePromise<void> {
  const { admission: plugins, admissionMetrics: metrics } = call.registry;
  const { operation } = attributes;
  let beganMs = startMs;
  for (let at = first; at < plugins.length; at++) {
    const plugin = plugins[at]!;
    if (!plugin[step]) continue;
    const { name } = plugin;
    let waiting;
    try {
      waiting = plugin[step](attributes, call);
    } catch (error) {
      metrics.plugin(name, step, operation, beganMs, true);
      throw error;
    }
    if (waiting)
      return waiting.then(
        () => {
          const nowMs = metrics.plugin(name, step, operation, beganMs, false);
          return pluginsFrom(call, attributes, step, at + 1, nowMs);
        },
        (error: unknown) => {
          metrics.plugin(name, step, operation, beganMs, true);
          throw error;
        },
      );
    beganMs = metrics.plugin(name, step, operation, beganMs, false);
  }
}

/** Admission of an update; what a subresource shows of the object, it shows of the version that was spoken. */
export function updateAdmission(
  call: Call,
  object: AnyObject,
  old: Readonly<AnyObject>,
): MaybePromise<UpdateAdmission> {
  const { endpoint, subresource } = call;
  const view = endpoint.strategy.subresources?.[subresource]?.admitted;
  if (!view) {
    const { resource, kind } = endpoint.placeOf("");
    const place = { resource, kind };
    return new UpdateAdmission(
      call,
      object,
      admissionAttributes(call, "UPDATE", object, old, { place }),
    );
  }
  return whenReady(inSpokenVersion(call, object), (next) =>
    whenReady(inSpokenVersion(call, old), (was) => {
      const shown = [view.show(next), view.show(was)] as const;
      const attributes = admissionAttributes(call, "UPDATE", ...shown);
      return new UpdateAdmission(call, object, attributes, view);
    }),
  );
}

/** The object itself where it is stored in that version, else a converted copy. */
const inSpokenVersion = (
  { endpoint }: Call,
  object: Readonly<AnyObject>,
): MaybePromise<AnyObject> =>
  endpoint.native
    ? (object as AnyObject)
    : endpoint.toServed(copyJson(object) as AnyObject);

class UpdateAdmission {
  readonly #view: AdmittedView | undefined;
  readonly #attributes: CallAttributes;

  constructor(
    private readonly call: Call,
    private readonly object: AnyObject,
    attributes: CallAttributes,
    view?: AdmittedView,
  ) {
    this.#view = view;
    this.#attributes = attributes;
  }

  /** The object as the mutating plug-ins leave it. Throws, or rejects with, ApiError 400 when they moved it. */
  admit(): MaybePromise<AnyObject> {
    return whenReady(admit(this.call, this.#attributes), () =>
      this.#admitted(this.#attributes),
    );
  }

  #admitted(attributes: CallAttributes): MaybePromise<AnyObject> {
    const view = this.#view;
    if (!view) return this.#unmoved(attributes.object!);
    return whenReady(inSpokenVersion(this.call, this.object), (spoken) => {
      view.take(spoken, attributes.object!);
      return this.call.endpoint.toStored(spoken);
    });
  }

  #unmoved(object: AnyObject): AnyObject {
    const { namespace } = this.object.metadata;
    if (namespace) object.metadata.namespace ||= namespace;
    if (object.metadata.namespace !== namespace)
      throw errors.badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    return object;
  }

  validate(object: AnyObject): MaybePromise<void> {
    const view = this.#view;
    const shown = view
      ? whenReady(inSpokenVersion(this.call, object), (one) => view.show(one))
      : object;
    return whenReady(shown, (one) => {
      this.#attributes.object = one;
      return validateAdmission(this.call, this.#attributes);
    });
  }
}
