// status.volumesInUse of the Node: what is staged here and was attached. A volume is listed before its driver is asked to
// mount it and taken off after it is unstaged, so that no controller detaches what is mounted.
import { sameJson } from "../../../api/objects/json-equality.ts";
import type { Client } from "../../../client/client.ts";
import { nodes } from "../../../client/resources.ts";

interface InUseOptions {
  readonly client: Client | undefined;
  readonly nodeName: string;
}

export class VolumesInUse {
  readonly #options: InUseOptions;
  readonly #names = new Set<string>();
  #written: readonly string[] | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: InUseOptions) {
    this.#options = options;
  }

  /** What was found on the disk. */
  restore(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  /** The Node is there, or there again: what it says is not known. */
  async registered(): Promise<void> {
    if (this.#names.size === 0) return;
    this.#written = undefined;
    await this.#write();
  }

  async add(name: string): Promise<void> {
    this.#names.add(name);
    await this.#write();
  }

  async remove(name: string): Promise<void> {
    if (this.#names.delete(name)) await this.#write();
  }

  #write(): Promise<void> {
    const turn = this.#turn.then(async () => {
      const { client, nodeName } = this.#options;
      const volumesInUse = [...this.#names].sort();
      if (!client || sameJson(this.#written, volumesInUse)) return;
      this.#written = undefined;
      await client
        .resource(nodes)
        .patch(
          nodeName,
          undefined,
          { type: "merge", body: { status: { volumesInUse } } },
          { subresource: "status" },
        );
      this.#written = volumesInUse;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
