// Carries out what a plan says about pods: creates and deletes them, and keeps the expectations in step, so that the next
// sync waits until the informer has shown all of it.
import type { KubeObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Expectations } from "./expectations.ts";
import { isNamespaceTerminating, slowStartBatch } from "./pod-control.ts";
import type { PodControl } from "./pod-control.ts";

export interface PodWrites {
  readonly create: readonly Pod[];
  readonly remove: readonly Pod[];
}

export class PodWriter {
  constructor(
    private readonly control: PodControl,
    private readonly expectations: Expectations,
  ) {}

  /**
   * Creates in growing batches, then deletes all at once. Never rejects.
   * @returns the first failure; undefined: all was done. A create in a namespace that is being deleted is no failure
   */
  async apply(
    key: string,
    owner: KubeObject,
    { create, remove }: PodWrites,
  ): Promise<unknown> {
    if (create.length + remove.length === 0) return undefined;
    this.expectations.expect(
      key,
      create.length,
      remove.map((pod) => pod.metadata.uid ?? ""),
    );
    const failed = await this.#create(key, owner, create);
    return (await this.#remove(key, owner, remove)) ?? failed;
  }

  async #create(
    key: string,
    owner: KubeObject,
    list: readonly Pod[],
  ): Promise<unknown> {
    const { successes, error } = await slowStartBatch(
      list.length,
      async (index) => {
        try {
          await this.control.create(list[index]!, owner);
        } catch (caught) {
          if (!isNamespaceTerminating(caught)) throw caught;
          // It will never come: there is nothing to wait for and nothing to try again.
          this.expectations.creationObserved(key);
        }
      },
    );
    for (let lost = successes; lost < list.length; lost++)
      this.expectations.creationObserved(key);
    return error;
  }

  async #remove(
    key: string,
    owner: KubeObject,
    list: readonly Pod[],
  ): Promise<unknown> {
    let failed: unknown;
    await Promise.all(
      list.map(async (pod) => {
        try {
          await this.control.delete(pod, owner);
        } catch (error) {
          this.expectations.deletionObserved(key, pod.metadata.uid ?? "");
          failed ??= error;
        }
      }),
    );
    return failed;
  }
}
