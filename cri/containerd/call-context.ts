// What every group of calls to containerd shares.
import type { Clock } from "../../api/clock.ts";
import { RuntimeError } from "../runtime.ts";
import type { Connection } from "./connection.ts";
import type { EventSource } from "./events.ts";

export interface CallContext {
  readonly connection: Connection;
  /** Deadline of an ordinary call. */
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  /** Of the event source. */
  readonly whileEnding: EventSource["whileEnding"];
}

/** A sandbox may have to unpack an image and call slow network plug-ins. */
export const sandboxTimeoutFactor = 2;

export async function ignoreNotFound(action: Promise<unknown>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "not-found")
      throw error;
  }
}
