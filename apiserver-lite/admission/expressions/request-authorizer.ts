// The authorizer as expressions ask it: each question of a request once. Expressions can't wait: a question whose answer
// takes time fails at first, and the policy is evaluated again when the answers are there.
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../../api/contracts.ts";

export class RequestAuthorizer implements Authorizer {
  readonly #authorizer: Authorizer;
  readonly #answers = new Map<string, AccessDecision | Error>();
  readonly #asked = new Map<string, Promise<AccessDecision>>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** Throws what the authorizer failed with. */
  authorize(attributes: AccessAttributes): AccessDecision {
    const key = JSON.stringify(attributes);
    const known = this.#answers.get(key);
    if (known instanceof Error) throw known;
    if (known) return known;
    const answer = this.#authorizer.authorize(attributes);
    if (answer instanceof Promise) {
      this.#asked.set(key, answer);
      throw new Error("the authorizer has not answered yet");
    }
    this.#answers.set(key, answer);
    return answer;
  }

  /** Were questions asked whose answers are not there? */
  get waits(): boolean {
    return this.#asked.size > 0;
  }

  async settle(): Promise<void> {
    const asked = [...this.#asked];
    this.#asked.clear();
    for (const [key, answer] of asked)
      this.#answers.set(
        key,
        await answer.catch((error: unknown) =>
          error instanceof Error ? error : new Error(String(error)),
        ),
      );
  }
}
