// The node's CSINode object: a driver's id of the node, how many volumes it takes and where the node lies; the latter as
// labels of the Node as well. Drivers come and go one at a time. What a driver says of the node is bounded before the Node is
// changed, and taken off again where the CSINode is refused: one annotation holds the ids of all drivers, and one of them must
// not fill it.
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "../../../api/errors.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import type { CSINode, CSINodeDriver } from "../../../api/types/storage-v1.ts";
import type { Client } from "../../../client/client.ts";
import { csiNodes, nodes } from "../../../client/resources.ts";
import type { NodeInfoAnswer } from "./csi-protocol.ts";
import { ownValue } from "../../../api/objects/own-value.ts";

const nodeIdAnnotation = "csi.volume.kubernetes.io/nodeid";
const attempts = 5;
/** As a CSINode may have it. */
const maxNodeIdLength = 256;
/** Labels of the Node; drivers have a few. */
const maxSegments = 64;

interface CsiNodeOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** undefined while the Node is not in the API. */
  readonly owner: () => OwnerReference | undefined;
}

export class CsiNodeObject {
  readonly #options: CsiNodeOptions;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: CsiNodeOptions) {
    this.#options = options;
  }

  /** Without drivers, where there is none: schedulers read from it that the agent knows CSI. */
  ensure(): Promise<void> {
    return this.#change((drivers) => drivers);
  }

  async add(driver: string, info: NodeInfoAnswer): Promise<void> {
    if (info.node_id === "")
      throw new Error(
        "error adding CSI driver node info: driver nodeID must not be empty",
      );
    if (info.node_id.length > maxNodeIdLength)
      throw new Error(
        `error adding CSI driver node info: driver nodeID must be ${maxNodeIdLength} characters or less`,
      );
    const segments = info.accessible_topology?.segments ?? {};
    if (Object.keys(segments).length > maxSegments)
      throw new Error(
        `error adding CSI driver node info: driver reports more than ${maxSegments} topology segments`,
      );
    const entry: CSINodeDriver = {
      name: driver,
      nodeID: info.node_id,
      topologyKeys: Object.keys(segments).sort(),
      ...(info.max_volumes_per_node > 0
        ? {
            allocatable: {
              count: Math.min(info.max_volumes_per_node, 0x7fffffff),
            },
          }
        : {}),
    };
    await this.#changeNode(driver, info.node_id, segments);
    try {
      await this.#change((drivers) => [
        ...drivers.filter(({ name }) => name !== driver),
        entry,
      ]);
    } catch (error) {
      await this.#changeNode(driver, undefined, {}).catch(() => undefined);
      throw error;
    }
  }

  async remove(driver: string): Promise<void> {
    await this.#change((drivers) =>
      drivers.filter(({ name }) => name !== driver),
    );
    await this.#changeNode(driver, undefined, {});
  }

  #change(
    next: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[],
  ): Promise<void> {
    const turn = this.#turn.then(() => this.#write(next));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #write(
    next: (drivers: readonly CSINodeDriver[]) => readonly CSINodeDriver[],
  ): Promise<void> {
    const { client, nodeName, owner } = this.#options;
    const api = client.resource(csiNodes);
    for (let attempt = 1; ; attempt++)
      try {
        const known = await api.get(nodeName).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        });
        const drivers = [...next(known?.spec.drivers ?? [])];
        if (known) {
          if (drivers.length > 0 || (known.spec.drivers ?? []).length > 0)
            await api.update({ ...known, spec: { drivers } });
          return;
        }
        const node = owner();
        if (!node) throw new Error("the node is not registered yet");
        const made: CSINode = {
          apiVersion: "storage.k8s.io/v1",
          kind: "CSINode",
          metadata: { name: nodeName, ownerReferences: [node] },
          spec: { drivers },
        };
        await api.create(made);
        return;
      } catch (error) {
        const raced = isConflict(error) || isAlreadyExists(error);
        if (!raced || attempt >= attempts) throw error;
      }
  }

  /** @param id undefined: the driver is gone; its labels stay, as volumes may refer to them */
  async #changeNode(
    driver: string,
    id: string | undefined,
    segments: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { client, nodeName } = this.#options;
    const { metadata } = await client.resource(nodes).get(nodeName);
    for (const [key, value] of Object.entries(segments)) {
      const known = ownValue(metadata.labels, key);
      if (known !== undefined && known !== value)
        throw new Error(
          `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${known}"`,
        );
    }
    const ids = nodeIds({ metadata });
    if (id === undefined) delete ids[driver];
    else ids[driver] = id;
    const text = Object.keys(ids).length > 0 ? JSON.stringify(ids) : null;
    const known = metadata.annotations?.[nodeIdAnnotation] ?? null;
    const isLabelled = Object.keys(segments).every(
      (key) => ownValue(metadata.labels, key) !== undefined,
    );
    if (text === known && isLabelled) return;
    await client.resource(nodes).patch(nodeName, undefined, {
      type: "merge",
      body: {
        metadata: {
          labels: segments,
          annotations: { [nodeIdAnnotation]: text },
        },
      },
    });
  }
}

function nodeIds({ metadata }: Pick<Node, "metadata">): Record<string, string> {
  try {
    const found: unknown = JSON.parse(
      metadata.annotations?.[nodeIdAnnotation] ?? "{}",
    );
    return typeof found === "object" && found !== null
      ? (found as Record<string, string>)
      : {};
  } catch {
    return {};
  }
}
