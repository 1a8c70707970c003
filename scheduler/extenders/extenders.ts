// All extenders of a scheduler, asked one after the other: those first that may not fail. Each filters what the one before
// left; points are added up; what one leaves of the candidates for preemption is what the next one sees. The failure of an
// ignorable extender is logged, that of another one fails the try.
import type { Logger } from "pino";
import type { Pod } from "../../api/types/core-v1.ts";
import type { ExtenderConfiguration } from "../configuration/configuration-types.ts";
import type { NodeInfo } from "../node-info.ts";
import { maxScore, type Rejection } from "../plugin.ts";
import type { Candidate } from "../preemption.ts";
import { HttpExtender } from "./http-extender.ts";

/** As a plug-in's name where nodes were rejected. */
export const extenderPlugin = "Extender";
/** What extenders give to a node at most. */
const maxPoints = 10;

export class Extenders {
  readonly #extenders: readonly HttpExtender[];
  readonly #asking = new AbortController();

  constructor(
    configurations: readonly ExtenderConfiguration[],
    private readonly logger: Logger,
  ) {
    const all = configurations.map(
      (each) => new HttpExtender(each, this.#asking.signal),
    );
    this.#extenders = [
      ...all.filter(({ ignorable }) => !ignorable),
      ...all.filter(({ ignorable }) => ignorable),
    ];
  }

  /** Whether any has a say in where the pod goes. */
  decideOn(pod: Pod): boolean {
    return this.#extenders.some(
      (each) =>
        (each.filters || each.prioritizes || each.preempts) &&
        each.isInterested(pod),
    );
  }

  /** The nodes that are left; the others are put into `rejections`. */
  async filter(
    pod: Pod,
    nodes: readonly NodeInfo[],
    rejections: Map<NodeInfo, Rejection>,
  ): Promise<readonly NodeInfo[]> {
    let left = nodes;
    for (const extender of this.#extenders) {
      if (left.length === 0) break;
      if (!extender.filters || !extender.isInterested(pod)) continue;
      const given = left;
      const result = await this.#orIgnored(extender, pod, () =>
        extender.filter(pod, given),
      );
      if (!result) continue;
      const { feasible, failed, unresolvable } = result;
      for (const node of given) {
        const fatal = unresolvable.get(node.name);
        const why = fatal ?? failed.get(node.name);
        if (why !== undefined)
          rejections.set(node, {
            plugin: extenderPlugin,
            reasons: [why],
            unresolvable: fatal !== undefined,
          });
      }
      left = feasible;
    }
    return left;
  }

  /** By the names of nodes, on the plug-ins' scale. An extender that fails gives none. */
  async points(
    pod: Pod,
    nodes: readonly NodeInfo[],
  ): Promise<ReadonlyMap<string, number>> {
    const asked = this.#extenders.filter(
      (each) => each.prioritizes && each.isInterested(pod),
    );
    const totals = new Map<string, number>();
    await Promise.all(
      asked.map(async (extender) => {
        try {
          for (const [name, points] of await extender.prioritize(pod, nodes))
            totals.set(
              name,
              (totals.get(name) ?? 0) +
                points * extender.weight * (maxScore / maxPoints),
            );
        } catch (err) {
          this.logger.debug({ err, extender: extender.name }, "no points");
        }
      }),
    );
    return totals;
  }

  /** What is left of the candidates for preemption. */
  async preempt(
    pod: Pod,
    candidates: readonly Candidate[],
  ): Promise<readonly Candidate[]> {
    let left = candidates;
    for (const extender of this.#extenders) {
      if (left.length === 0) break;
      if (!extender.preempts || !extender.isInterested(pod)) continue;
      const given = new Map(left.map((each) => [each.node.name, each]));
      const result = await this.#orIgnored(extender, pod, () =>
        extender.preempt(pod, given),
      );
      if (!result) continue;
      left = [...result].flatMap(([name, victims]) => {
        if (victims.victims.length > 0)
          return [{ ...victims, node: given.get(name)!.node }];
        if (extender.ignorable) return [];
        throw new Error(
          `expected at least one victim pod on node ${JSON.stringify(name)}`,
        );
      });
    }
    return left;
  }

  /** False: none binds the pod. */
  async bind(pod: Pod, nodeName: string): Promise<boolean> {
    for (const extender of this.#extenders) {
      if (!extender.binds || !extender.isInterested(pod)) continue;
      const done = await this.#orIgnored(extender, pod, async () => {
        await extender.bind(pod, nodeName);
        return true;
      });
      if (done) return true;
    }
    return false;
  }

  /** Ends all calls but bindings, now and later. */
  stopAsking(): void {
    this.#asking.abort();
  }

  async close(): Promise<void> {
    for (const extender of this.#extenders) await extender.close();
  }

  async #orIgnored<Result>(
    { ignorable, name }: HttpExtender,
    { metadata }: Pod,
    call: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await call();
    } catch (err) {
      if (!ignorable) throw err;
      const pod = `${metadata.namespace}/${metadata.name}`;
      this.logger.info({ err, extender: name, pod }, "skips an extender");
      return undefined;
    }
  }
}
