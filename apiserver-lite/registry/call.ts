// One call of the registry: who asks, for what, with which options. It is the context strategies and admission get.
import type { Clock } from "../../api/clock.ts";
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import type { AnyObject } from "../../api/object.ts";
import type { FieldValidation } from "../../api/codec/json.ts";
import {
  finish,
  paced,
  started,
  type Pause,
  type Steps,
} from "../../api/queueing/steps.ts";
import type { AuditTrail } from "../audit/auditor.ts";
import { forbiddenError } from "../authorization/refusal.ts";
import type { LoopWork } from "../loop/loop-watch.ts";
import type { Endpoint } from "./endpoint.ts";
import type { MaybePromise } from "./kinds/when-ready.ts";
import type { Registry } from "./registry.ts";
import type { StrategyContext } from "../resources/strategy.ts";

export interface CallOptions {
  readonly user: UserInfo;
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** Empty: derived from the user agent. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  readonly fieldValidation?: FieldValidation;
  readonly force?: boolean;
  readonly query?: URLSearchParams;
  /** Asked for verbs beside the request's own: `create` when an update or an apply creates. Undefined: the caller is past authorization (in process). */
  readonly authorizer?: Authorizer | undefined;
  /** Undefined when the request is not audited. */
  readonly trail?: Pick<AuditTrail, "annotate" | "received"> | undefined;
  /** Where warnings go; calls made of this one's options share it. Default: a list of its own. */
  readonly warnings?: string[];
}

/** What is written step by step, each in a turn of the loop of its own: a step takes some milliseconds at this size. */
export const largeBytes = 128 * 1024;

const maxManagerBytes = 128;
/** More than fit into the 4096 bytes of an answer's Warning headers. */
const maxWarnings = 256;

/** What can be printed of a user agent up to its first "/"; Node gives the header's bytes as Latin-1. */
function managerOf(userAgent: string): string {
  const [agent] = Buffer.from(userAgent, "latin1").toString().split("/", 1);
  if (/^[\x20-\x7e]*$/.test(agent!)) return agent!.slice(0, maxManagerBytes);
  let manager = "";
  for (const character of agent!.replace(
    /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu,
    "",
  )) {
    if (Buffer.byteLength(manager + character) > maxManagerBytes) break;
    manager += character;
  }
  return manager;
}

export class Call implements StrategyContext, LoopWork {
  readonly warnings: string[];
  readonly user: UserInfo;
  readonly endpoint: Endpoint;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly query: URLSearchParams;
  /** Of the body, or of the stored object that it changes, as far as it is known. */
  bytes = 0;
  /** The object may have nulls that its schema does not allow: it is validated with them and written without. */
  hasNulls = false;

  constructor(
    readonly registry: Registry,
    readonly options: CallOptions,
  ) {
    this.warnings = options.warnings ?? [];
    this.user = options.user;
    this.endpoint = options.endpoint;
    this.namespace = options.namespace;
    this.name = options.name;
    this.subresource = options.subresource ?? "";
    this.dryRun = options.dryRun ?? false;
    this.clock = registry.clock;
    this.query = options.query ?? new URLSearchParams();
  }

  get apiVersion(): string {
    return this.endpoint.apiVersion;
  }

  get tenant(): string {
    return this.user.name;
  }

  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined {
    return this.registry.read(group, resource, namespace, name);
  }

  list(
    group: string,
    resource: string,
    namespace = "",
  ): readonly Readonly<AnyObject>[] {
    return this.registry.list(group, resource, namespace);
  }

  /**
   * Between two steps of a write: for a large object a promise of the loop's next turn. The object is the caller's own
   * all the while; state that it read before may have changed since.
   */
  nextTurn(): Promise<void> | undefined {
    return this.bytes > largeBytes
      ? this.registry.slices.next(this)
      : undefined;
  }

  /** The result of all steps: of a large object's a promise, each step in a turn of the loop of its own. */
  inTurns<T>(steps: Steps<T>): MaybePromise<T> {
    return this.bytes > largeBytes
      ? paced(steps, () => this.registry.slices.next(this))
      : finish(steps);
  }

  /** The result of steps that may be long: at once unless they hold the loop for a slice. */
  shared<T>(steps: Steps<T> | undefined): MaybePromise<T> | undefined {
    return steps && started(steps, this.pauses());
  }

  pauses(): Pause {
    return this.registry.slices.pauses(this);
  }

  warn(text: string): void {
    if (this.warnings.length < maxWarnings && !this.warnings.includes(text))
      this.warnings.push(text);
  }

  /** Adds as many warnings as an answer has room for; the iteration ends there. */
  warnEach(texts: Iterable<string>): void {
    for (const text of texts) {
      if (this.warnings.length >= maxWarnings) return;
      this.warn(text);
    }
  }

  /** Throws ApiError 403 when the caller, who was authorized for another verb, may not do this with the object. */
  async authorize(verb: string): Promise<void> {
    const { user, namespace, name, subresource, endpoint } = this;
    const { group, version, resource } = endpoint.info;
    const attributes = {
      user,
      verb,
      path: "",
      resourceRequest: true,
      group,
      version,
      resource,
      subresource,
      namespace,
      name,
    };
    const answer = await this.options.authorizer?.authorize(attributes);
    if (answer && answer.decision !== "allow")
      throw forbiddenError(attributes, answer.reason);
  }

  /** For the log: what the loop works for. */
  get method(): string {
    return "registry";
  }

  get url(): string {
    const { endpoint, namespace, name, subresource } = this;
    const { group, version, resource } = endpoint.info;
    const parts = [group ? `/apis/${group}` : "/api", version];
    if (namespace !== "") parts.push("namespaces", namespace);
    parts.push(resource, name, subresource);
    return parts.filter(Boolean).join("/");
  }

  annotate(
    name: string,
    value: string | (() => string),
    level?: "Metadata" | "Request",
  ): void {
    this.options.trail?.annotate(name, value, level);
  }

  /** `fieldManager`, or the user agent up to its first "/". */
  get manager(): string {
    const { fieldManager, userAgent = "" } = this.options;
    if (fieldManager) return fieldManager;
    return managerOf(userAgent) || "unknown";
  }
}
