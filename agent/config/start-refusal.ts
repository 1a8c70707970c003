// The agent can't start with its settings on this machine, or with what it recorded there. The message says what to do.

export class StartRefusal extends Error {
  override readonly name: string = "StartRefusal";
}

/** What is wrong with settings, found while parts are made of them, as a StartRefusal. */
export function refusing<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StartRefusal((error as Error).message, { cause: error });
  }
}
