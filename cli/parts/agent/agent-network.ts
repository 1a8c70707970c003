// The network of a node whose agent runs alone: its parts follow the API server with the agent's own client, or without one
// the manifests directory, and begin when the node has its ranges of pods. They never keep the agent from starting: static
// pods run without any API server.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import { services } from "../../../client/resources.ts";
import type { MemoryObjects } from "../../../client/memory-objects.ts";
import { writePrivateFile } from "../../../http-kit/certificates/private-files.ts";
import { Started } from "../../cluster/started.ts";
import type { OptionValues } from "../../options/parse.ts";
import { LocalNetwork, localNetworkPlan } from "../network/local-network.ts";
import type { NodeNetworkContext } from "../network/network-context.ts";
import { agentNetworkPlan, type NetworkPlan } from "../network/network-plan.ts";
import { NodeRangesSource } from "../network/node-ranges.ts";
import { checkWireguard } from "../network/wireguard-check.ts";
import { agentConfig } from "./agent-config.ts";
import { recordKernelSetting } from "./machine-files.ts";

/** Pods of an agent without cluster, whose options name no range. */
const standaloneRange = "10.42.0.0/24";
const answerTimeoutMs = 5000;

interface AgentNetworkOptions {
  values: OptionValues;
  /** Undefined: the manifests directory has all there is. */
  client: Client | undefined;
  joined: boolean;
  clusterIdentity: string;
  dataDirectory: string;
  clock: Clock;
  logger: Logger;
}

export class AgentNetwork {
  readonly ranges: NodeRangesSource;
  /** Empty: the Node will be given them. */
  readonly podCidrs: readonly string[];
  readonly #options: AgentNetworkOptions;
  readonly #plan: NetworkPlan | undefined;
  readonly #started: Started;
  readonly #local: LocalNetwork | undefined;
  #stopped = false;

  constructor(options: AgentNetworkOptions) {
    const { values, client, logger, joined } = options;
    this.#options = options;
    this.#started = new Started(logger);
    const given = values.optionalText("pod-cidr")?.split(",");
    this.podCidrs = given ?? (client ? [] : [standaloneRange]);
    const { nodeName, nodeIPs = [] } = agentConfig(values);
    this.#plan = client
      ? agentNetworkPlan(values, { nodeName, nodeIPs, joined })
      : localNetworkPlan(values, {
          nodeName,
          nodeIPs,
          podRanges: this.podCidrs,
        });
    if (!client && this.#plan)
      this.#local = new LocalNetwork(this.#plan, this.#shared);
    this.ranges = new NodeRangesSource(
      this.podCidrs,
      {
        clusterRanges: values.list("cluster-cidr"),
        clock: options.clock,
        logger: logger.child({ part: "pod-network" }),
        onKernelSetting: (file, before) =>
          recordKernelSetting(options.dataDirectory, file, before),
      },
      this.#plan?.routes,
    );
    if (this.#plan?.policy) this.ranges.guard.expect();
  }

  /** Without a client: what the agent fills from its manifests directory. */
  get localObjects(): MemoryObjects | undefined {
    return this.#local?.objects;
  }

  /** Rejects with what the machine lacks. */
  async check(): Promise<void> {
    await checkWireguard(this.#plan);
  }

  /** The agent's options, with the cluster's DNS Service and domain where this node serves them and none are given. */
  async agentValues(): Promise<OptionValues> {
    const { values } = this.#options;
    if (this.#local || !this.#plan?.dns || values.isSet("cluster-dns"))
      return values;
    const address = await this.#dnsAddress();
    return values.under(
      new Map<string, string | readonly string[]>([
        ...(address === undefined ? [] : [["cluster-dns", [address]] as const]),
        ...(values.isSet("cluster-domain")
          ? []
          : [["cluster-domain", this.#plan.dns.domain] as const]),
      ]),
    );
  }

  /** Begins in the background. */
  start(): void {
    const { client, logger } = this.#options;
    const plan = this.#plan;
    if (!plan) return;
    void this.ranges.known
      .then(async (podRanges) => {
        const node = { ...this.ranges, podRanges };
        if (this.#local) await this.#local.start(node);
        if (this.#stopped) return;
        if (client) {
          const { startNodeNetwork } =
            await import("../network/node-network.ts");
          await startNodeNetwork(
            { ...this.#shared, clientFor: () => client },
            plan,
            node,
          );
        }
        // What began after the stop would go on.
        if (this.#stopped) await this.#started.stop();
        else logger.info({ podRanges }, "the node's network runs");
      })
      .catch((error: unknown) =>
        logger.error({ err: error }, "the node's network could not start"),
      );
  }

  get #shared(): Omit<NodeNetworkContext, "clientFor"> {
    const { clock, logger, clusterIdentity, dataDirectory } = this.#options;
    const started = this.#started;
    return { clock, logger, clusterIdentity, dataDirectory, started };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#local?.stop();
    await this.#started.stop();
    await this.ranges.stop();
  }

  /** Of the kube-dns Service; while the API server does not answer the one that was seen last. */
  async #dnsAddress(): Promise<string | undefined> {
    const { client, dataDirectory, logger } = this.#options;
    const file = path.join(dataDirectory, "cluster-dns");
    let timer: NodeJS.Timeout | undefined;
    try {
      const service = await Promise.race([
        client!.resource(services).get("kube-dns", "kube-system"),
        new Promise<never>((_, reject) => {
          timer = setTimeout(
            () => reject(new Error("the API server does not answer")),
            answerTimeoutMs,
          );
        }),
      ]);
      const address = service.spec?.clusterIP;
      if (address && address !== "None") {
        writePrivateFile(file, `${address}\n`);
        return address;
      }
    } catch (error) {
      logger.warn({ err: error }, "the Service kube-dns can't be read");
    } finally {
      clearTimeout(timer);
    }
    try {
      return fs.readFileSync(file, "utf8").trim() || undefined;
    } catch {
      return undefined;
    }
  }
}
