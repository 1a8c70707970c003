// The ordered modes as one authorizer, with the superusers' group before them.
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";

export const SUPERUSER_GROUP = "system:masters";

export const alwaysAllow: Authorizer = {
  authorize: () => ({ decision: "allow", reason: "" }),
};
export const alwaysDeny: Authorizer = {
  authorize: () => ({
    decision: "no-opinion",
    reason: "Everything is forbidden.",
  }),
};

/** Members of system:masters may do everything, whatever the modes. */
export const superuserAuthorizer: Authorizer = {
  authorize: ({ user }) =>
    user.groups.includes(SUPERUSER_GROUP)
      ? { decision: "allow", reason: "" }
      : { decision: "no-opinion", reason: "" },
};

/** The first that allows or denies decides; when none does, the answer is no, with all their reasons and errors. */
export class UnionAuthorizer implements Authorizer {
  constructor(private readonly authorizers: readonly Authorizer[]) {}

  /** Synchronous as long as all who are asked are. */
  authorize(
    attributes: AccessAttributes,
  ): AccessDecision | Promise<AccessDecision> {
    return this.#ask(attributes, 0, { reasons: [], errors: [] });
  }

  #ask(
    attributes: AccessAttributes,
    from: number,
    heard: Heard,
  ): AccessDecision | Promise<AccessDecision> {
    for (let index = from; index < this.authorizers.length; index++) {
      const answer = this.authorizers[index]!.authorize(attributes);
      if (answer instanceof Promise) {
        return answer.then((decision) =>
          settled(decision, heard)
            ? decision
            : this.#ask(attributes, index + 1, heard),
        );
      }
      if (settled(answer, heard)) return answer;
    }
    const { reasons, errors } = heard;
    return {
      decision: "no-opinion",
      reason: reasons.join("\n"),
      ...(errors.length > 0 ? { error: listed(errors) } : {}),
    };
  }
}

/** What those said who did not decide. */
interface Heard {
  readonly reasons: string[];
  readonly errors: string[];
}

function settled(answer: AccessDecision, { reasons, errors }: Heard): boolean {
  if (answer.decision !== "no-opinion") return true;
  if (answer.reason !== "") reasons.push(answer.reason);
  if (answer.error !== undefined) errors.push(answer.error);
  return false;
}

/** Several in brackets and each once, as the reference shows them. */
function listed(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? different[0]! : `[${different.join(", ")}]`;
}
