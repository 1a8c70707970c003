// Admission: named plugins that see every write after authorization. Mutating ones run first, in order, then validating.
import type { UserInfo } from "../../api/contracts.ts";
import type {
  AnyObject,
  GroupVersionKind,
  GroupVersionResource,
} from "../../api/object.ts";
import type { StrategyContext } from "../resources/strategy.ts";

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options object of the request (CreateOptions, DeleteOptions …). */
  readonly options: object;
  /** May be changed by `admit`; undefined for DELETE. */
  object: AnyObject | undefined;
  readonly oldObject: Readonly<AnyObject> | undefined;
}

export interface AdmissionPlugin {
  /** The reference's name: NamespaceLifecycle, ServiceAccount … */
  readonly name: string;
  /** `admit` writes complete values: the kind's defaults need not be set again. */
  readonly writesWhole?: boolean;
  /** Changes attributes.object, or rejects with an ApiError. */
  admit?(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void;
  /** Rejects with an ApiError. */
  validate?(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void;
}
