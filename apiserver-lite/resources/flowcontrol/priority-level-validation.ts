// Validation of priority levels: what is exempt by name alone, and shares and queues in their ranges.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
} from "../../../api/types/flowcontrol-v1.ts";
import { exactlyOneOf } from "../field-checks.ts";

const maxQueues = 10_000_000;
/** A hand is dealt from a hash of 64 bits, some of which stay unused. */
const maxEntropyBits = 60;

export function validatePriorityLevel({
  metadata,
  spec,
}: PriorityLevelConfiguration): FieldError[] {
  const type = spec?.type ?? "";
  const problems: FieldError[] = [];
  if ((type === "Exempt") !== (metadata.name === "exempt"))
    problems.push(
      fieldErrors.invalid(
        "spec.type",
        type,
        "type must be 'Exempt' if and only if name is 'exempt'",
      ),
    );
  const { limited, exempt } = spec ?? {};
  if (type === "Exempt") {
    if (exempt) problems.push(...shareProblems("spec.exempt", exempt));
    if (limited)
      problems.push(
        fieldErrors.forbidden(
          "spec.limited",
          "must be nil if the type is not Limited",
        ),
      );
  } else if (type === "Limited") {
    if (exempt)
      problems.push(
        fieldErrors.forbidden(
          "spec.exempt",
          "must be nil if the type is Limited",
        ),
      );
    problems.push(
      ...(limited
        ? limitedProblems("spec.limited", limited)
        : [
            fieldErrors.required(
              "spec.limited",
              "must not be empty when type is Limited",
            ),
          ]),
    );
  } else
    problems.push(...exactlyOneOf("spec.type", type, ["Exempt", "Limited"]));
  return problems;
}

function shareProblems(
  field: string,
  shares: { nominalConcurrencyShares?: number; lendablePercent?: number },
): FieldError[] {
  const { nominalConcurrencyShares: nominal = 0, lendablePercent = 0 } = shares;
  const problems: FieldError[] = [];
  if (nominal < 0)
    problems.push(
      fieldErrors.invalid(
        `${field}.nominalConcurrencyShares`,
        nominal,
        "must be a non-negative integer",
      ),
    );
  if (lendablePercent < 0 || lendablePercent > 100)
    problems.push(
      fieldErrors.invalid(
        `${field}.lendablePercent`,
        lendablePercent,
        "must be between 0 and 100, inclusive",
      ),
    );
  return problems;
}

function limitedProblems(
  field: string,
  limited: LimitedPriorityLevelConfiguration,
): FieldError[] {
  const { borrowingLimitPercent = 0, limitResponse } = limited;
  const problems = shareProblems(field, limited);
  if (borrowingLimitPercent < 0)
    problems.push(
      fieldErrors.invalid(
        `${field}.borrowingLimitPercent`,
        borrowingLimitPercent,
        "if specified, must be a non-negative integer",
      ),
    );
  const path = `${field}.limitResponse`;
  const type = limitResponse?.type ?? "";
  const queuing = limitResponse?.queuing;
  if (type === "Queue")
    problems.push(
      ...(queuing
        ? queuingProblems(`${path}.queuing`, queuing)
        : [
            fieldErrors.required(
              `${path}.queuing`,
              "must not be empty if limited.limitResponse.type is Limited",
            ),
          ]),
    );
  else if (type === "Reject") {
    if (queuing)
      problems.push(
        fieldErrors.forbidden(
          `${path}.queuing`,
          "must be nil if limited.limitResponse.type is not Limited",
        ),
      );
  } else
    problems.push(...exactlyOneOf(`${path}.type`, type, ["Queue", "Reject"]));
  return problems;
}

function queuingProblems(
  field: string,
  queuing: { queues?: number; handSize?: number; queueLengthLimit?: number },
): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  const problems: FieldError[] = [];
  const invalid = (part: string, value: number, text: string): unknown =>
    problems.push(fieldErrors.invalid(`${field}.${part}`, value, text));
  const positive = "must be positive";
  if (queueLengthLimit <= 0)
    invalid("queueLengthLimit", queueLengthLimit, positive);
  if (queues <= 0) invalid("queues", queues, positive);
  else if (queues > maxQueues)
    invalid("queues", queues, `must not be greater than ${maxQueues}`);
  const bits = Math.ceil(Math.log2(queues) * handSize);
  if (handSize <= 0) invalid("handSize", handSize, positive);
  else if (handSize > queues)
    invalid(
      "handSize",
      handSize,
      `should not be greater than queues (${queues})`,
    );
  else if (bits > maxEntropyBits)
    invalid(
      "handSize",
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxEntropyBits}`,
    );
  return problems;
}
