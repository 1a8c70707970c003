// Of one request, over both rounds of the mutating plug-ins: which policies (with their bindings and parameters) were
// evaluated and are to be evaluated again, as something changed the object after them.
import type { AnyObject } from "../../../../api/object.ts";
import { sameJson } from "../../../../api/objects/json-equality.ts";
import { copyJson } from "../../../../api/patch/json-value.ts";
import type { AdmissionAttributes } from "../../plugin.ts";

export class Reinvocation {
  /** Evaluated, and to be evaluated again when the object changes. */
  readonly #reinvocable = new Set<string>();
  readonly #again = new Set<string>();
  /** The object after the first round, undefined where there is no second. */
  #left: Readonly<AnyObject> | undefined;

  /** Called before the policies of a round: in the second, other plug-ins may have changed the object. */
  begin({ round, object }: AdmissionAttributes): void {
    if (round === 1 && !sameJson(this.#left, object)) this.changed();
  }

  /** Is that one for this round? */
  has({ round }: AdmissionAttributes, id: string): boolean {
    return round === 0 || this.#again.has(id);
  }

  /** The object was changed: by policies, or by plug-ins after them. */
  changed(): void {
    for (const id of this.#reinvocable) this.#again.add(id);
    this.#reinvocable.clear();
  }

  evaluated(id: string): void {
    this.#reinvocable.add(id);
  }

  /** Called behind the policies of the first round. */
  end({ object }: AdmissionAttributes): void {
    this.#left = object && (copyJson(object) as AnyObject);
  }
}
