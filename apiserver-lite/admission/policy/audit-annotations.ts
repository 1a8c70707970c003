// What policies write into the audit event of a request: the annotations of their own, and the first failed validation of
// those that audit.
import { stringified } from "../../../api/escaped-json.ts";
import type { StrategyContext } from "../../resources/strategy.ts";

const failureKey = "validation.policy.admission.k8s.io/validation_failure";
const maxValueBytes = 10 * 1024;

interface ValidationFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

export class PolicyAnnotations {
  /** Of the policy at hand, the distinct values of its bindings by key. */
  #values = new Map<string, string[]>();
  #hasFailure = false;

  constructor(private readonly context: StrategyContext) {}

  add(key: string, value: string): void {
    const text = shortened(value);
    const known = this.#values.get(key) ?? [];
    if (!known.includes(text)) this.#values.set(key, [...known, text]);
  }

  publish(policyName: string): void {
    for (const [key, values] of this.#values)
      this.context.annotate(`${policyName}/${key}`, values.join(", "));
    this.#values.clear();
  }

  /** An annotation is never written over: the first failure stays. */
  failure(failure: ValidationFailure): void {
    if (this.#hasFailure) return;
    this.#hasFailure = true;
    this.context.annotate(failureKey, stringified([failure]));
  }
}

function shortened(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length > maxValueBytes
    ? bytes.subarray(0, maxValueBytes).toString()
    : value;
}
