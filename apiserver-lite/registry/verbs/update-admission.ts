// Admission of an update: of the object itself, or of what its subresource shows instead (a Scale).
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Call } from "../call.ts";
import type { AdmittedView } from "../../resources/strategy.ts";
import { whenReady, type MaybePromise } from "../kinds/when-ready.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
  type CallAttributes,
} from "./write.ts";

export class UpdateAdmission {
  readonly #view: AdmittedView | undefined;
  readonly #attributes: CallAttributes;

  constructor(
    private readonly call: Call,
    private readonly object: AnyObject,
    old: Readonly<AnyObject>,
  ) {
    const { endpoint, subresource } = call;
    const view = endpoint.strategy.subresources?.[subresource]?.admitted;
    this.#view = view;
    if (view)
      this.#attributes = admissionAttributes(
        call,
        "UPDATE",
        view.show(object),
        view.show(old),
      );
    else {
      const { resource, kind } = endpoint.placeOf("");
      this.#attributes = admissionAttributes(call, "UPDATE", object, old, {
        place: { resource, kind },
      });
    }
  }

  /** The object as the mutating plug-ins leave it. Throws, or rejects with, ApiError 400 when they moved it. */
  admit(): MaybePromise<AnyObject> {
    return whenReady(admit(this.call, this.#attributes), () =>
      this.#admitted(this.#attributes),
    );
  }

  #admitted(attributes: CallAttributes): AnyObject {
    if (!this.#view) return this.#unmoved(attributes.object!);
    this.#view.take(this.object, attributes.object!);
    return this.object;
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
    this.#attributes.object = this.#view ? this.#view.show(object) : object;
    return validateAdmission(this.call, this.#attributes);
  }
}
