// Answers about what the runtime may no longer have.
import { RuntimeError } from "../../../cri/runtime.ts";

/** undefined: it is gone. */
export async function orNotFound<T>(
  promise: Promise<T>,
): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "not-found")
      return undefined;
    throw error;
  }
}

export function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}
