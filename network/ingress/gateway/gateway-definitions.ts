// Follows the definitions of the Gateway API: its objects are served from when all that is needed is established until one
// of them goes. The code for it is loaded then: clusters without these definitions do not pay for it.
import type { Logger } from "pino";
import { isConditionTrue } from "../../../api/objects/conditions.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";
import type { Client } from "../../../client/client.ts";
import type { Informer } from "../../../client/informer.ts";
import { customResourceDefinitions } from "../../../client/resources.ts";
import type { GatewaySource } from "./gateway-source.ts";

const group = "gateway.networking.k8s.io";
const needed = ["gatewayclasses", "gateways", "httproutes"];
const grants = "referencegrants";

interface GatewayDefinitionsOptions {
  readonly client: Client;
  /** @param grantVersion of ReferenceGrants; undefined: they are not installed */
  readonly create: (
    module: { readonly GatewaySource: typeof GatewaySource },
    grantVersion: string | undefined,
  ) => GatewaySource;
  readonly logger: Logger;
}

export class GatewayDefinitions {
  readonly #options: GatewayDefinitionsOptions;
  readonly #definitions: Informer<CustomResourceDefinition>;
  #dispose: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  /** What the source was made for; undefined: there is none. */
  #servedFor: string | undefined;
  #source: GatewaySource | undefined;
  #stopped = false;

  constructor(options: GatewayDefinitionsOptions) {
    this.#options = options;
    this.#definitions = options.client.informer(customResourceDefinitions);
  }

  /** Undefined: the definitions are not all there. */
  get source(): GatewaySource | undefined {
    return this.#source;
  }

  start(): void {
    const look = ({ spec }: CustomResourceDefinition): void => {
      if (spec.group === group) this.#look();
    };
    this.#dispose = this.#definitions.addHandler({
      onAdd: look,
      onUpdate: (_old, now) => look(now),
      onDelete: look,
    });
  }

  async stop(): Promise<void> {
    this.#dispose();
    this.#stopped = true;
    this.#look();
    await this.#running;
  }

  /** The version to read: v1, or else v1beta1; undefined: it is not served. */
  #versionOf(plural: string): string | undefined {
    const found = this.#definitions.lister.get(`${plural}.${group}`);
    if (
      !found ||
      found.metadata.deletionTimestamp ||
      !isConditionTrue(found.status?.conditions ?? [], "Established")
    )
      return undefined;
    const served = found.spec.versions
      .filter((each) => each.served)
      .map((each) => each.name);
    return ["v1", "v1beta1"].find((each) => served.includes(each));
  }

  #look(): void {
    this.#running = this.#running.then(async () => {
      try {
        await this.#sync();
      } catch (error) {
        this.#options.logger.error(
          { err: error },
          "the Gateway API could not be served",
        );
      }
    });
  }

  async #sync(): Promise<void> {
    const grantVersion = this.#versionOf(grants);
    const complete =
      !this.#stopped && needed.every((each) => this.#versionOf(each) === "v1");
    const wanted = complete ? `grants ${grantVersion}` : undefined;
    if (wanted === this.#servedFor) return;
    const before = this.#source;
    this.#source = undefined;
    this.#servedFor = wanted;
    await before?.stop();
    if (wanted === undefined) return;
    const module = await import("./gateway-source.ts");
    const source = this.#options.create(module, grantVersion);
    this.#source = source;
    await source.start();
  }
}
