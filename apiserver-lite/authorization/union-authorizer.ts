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

/** The first that allows or denies decides; when none does, the answer is no, with all their reasons. */
export class UnionAuthorizer implements Authorizer {
  constructor(private readonly authorizers: readonly Authorizer[]) {}

  /** Synchronous as long as all who are asked are. */
  authorize(
    attributes: AccessAttributes,
  ): AccessDecision | Promise<AccessDecision> {
    return this.#ask(attributes, 0, []);
  }

  #ask(
    attributes: AccessAttributes,
    from: number,
    reasons: string[],
  ): AccessDecision | Promise<AccessDecision> {
    for (let index = from; index < this.authorizers.length; index++) {
      const answer = this.authorizers[index]!.authorize(attributes);
      if (answer instanceof Promise) {
        return answer.then((decision) =>
          settled(decision, reasons)
            ? decision
            : this.#ask(attributes, index + 1, reasons),
        );
      }
      if (settled(answer, reasons)) return answer;
    }
    return { decision: "no-opinion", reason: reasons.join("\n") };
  }
}

function settled(decision: AccessDecision, reasons: string[]): boolean {
  if (decision.decision !== "no-opinion") return true;
  if (decision.reason !== "") reasons.push(decision.reason);
  return false;
}
