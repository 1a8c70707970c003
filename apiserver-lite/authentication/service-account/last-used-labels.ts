// Writes the days of legacy tokens' last use into their Secrets, behind the requests that used them: one write a Secret at
// a time, a bounded number at once. A write that fails is made again by the next use.
import type { Logger } from "pino";
import type { AnyObject } from "../../../api/object.ts";
import type { Transport } from "../../../client/transport.ts";
import { lastUsedLabel } from "./legacy-token-authenticator.ts";

/** At once; a use beyond them is noted by the next one. */
const maxWrites = 32;

export class LastUsedLabels {
  readonly #writing = new Map<string, Promise<void>>();
  #transport: Pick<Transport, "request"> | undefined;

  constructor(private readonly logger: Logger) {}

  /** Until then nothing is written: the server does not take requests yet. */
  start(transport: Pick<Transport, "request">): void {
    this.#transport = transport;
  }

  note(secret: Readonly<AnyObject>, date: string): void {
    const { name, namespace = "", uid = "" } = secret.metadata;
    const transport = this.#transport;
    if (!transport || this.#writing.has(uid) || this.#writing.size >= maxWrites)
      return;
    const write = transport
      .request({
        verb: "patch",
        resource: { group: "", version: "v1", resource: "secrets" },
        namespace,
        name,
        patch: {
          type: "merge",
          body: { metadata: { uid, labels: { [lastUsedLabel]: date } } },
        },
      })
      .then(
        () => undefined,
        (error: unknown) =>
          this.logger.warn(
            { err: error, secret: `${namespace}/${name}` },
            "can't note the use of a legacy token",
          ),
      )
      .finally(() => this.#writing.delete(uid));
    this.#writing.set(uid, write);
  }

  async stop(): Promise<void> {
    this.#transport = undefined;
    await Promise.all(this.#writing.values());
  }
}
