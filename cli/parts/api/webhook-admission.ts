// What the plug-ins of admission webhooks are given: their clients, which show the credentials of the kubeconfigs in the
// admission configuration, and their metrics. Plug-ins without a kubeconfig and conversion webhooks share clients that
// show nothing: those credentials are for admission webhooks only.
import * as path from "node:path";
import type { Logger } from "pino";
import {
  type AdmissionSurroundings,
  type ClusterState,
  credentialsFor,
  type Loopback,
  type MatchConditionMetrics,
  WebhookClients,
  WebhookMetrics,
} from "../../../apiserver-lite/index.ts";
import type { WebhookClientsOptions } from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { Tracer } from "../../../api/tracing/tracer.ts";
import type { Family } from "../../../api/metrics/family.ts";
import {
  type KubeconfigUsers,
  parseKubeconfigUsers,
} from "../../../client/kubeconfig.ts";
import { UsageError } from "../../options/table.ts";
import { readOptionFile } from "../option-files.ts";
import type { PluginConfigs } from "./admission-plugin-configs.ts";

interface ServerContext {
  readonly state: ClusterState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly loopback: Loopback | undefined;
  /** How connections leave; undefined: directly. */
  readonly egress?: WebhookClientsOptions["egress"];
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

export class WebhookAdmission {
  readonly #metrics: WebhookMetrics;
  readonly #clients: WebhookClients[] = [];
  #plain: WebhookClients | undefined;

  private constructor(
    conditions: MatchConditionMetrics,
    private readonly mutating: KubeconfigUsers | undefined,
    private readonly validating: KubeconfigUsers | undefined,
  ) {
    this.#metrics = new WebhookMetrics(conditions);
  }

  /**
   * Throws UsageError for a kubeconfig that can't be read.
   * @param conditions of webhooks and of policies; reported here
   */
  static async create(
    configs: PluginConfigs,
    conditions: MatchConditionMetrics,
  ): Promise<WebhookAdmission> {
    return new WebhookAdmission(
      conditions,
      await usersIn(configs.mutatingWebhookKubeconfig),
      await usersIn(configs.validatingWebhookKubeconfig),
    );
  }

  parts({
    state,
    clock,
    logger,
    loopback,
    tracer,
    egress,
  }: ServerContext): NonNullable<AdmissionSurroundings["webhooks"]> {
    const shared = { state, clock, loopback, tracer, egress };
    const clientsOf = (users: KubeconfigUsers | undefined): WebhookClients => {
      if (!users) return this.plainClients(shared);
      const credentials = (place: string) => credentialsFor(users, place);
      return this.#add(new WebhookClients({ ...shared, credentials }));
    };
    return {
      ...{ state, clock, logger },
      metrics: this.#metrics,
      clients: clientsOf(this.mutating),
      validatingClients: clientsOf(this.validating),
    };
  }

  /** The same at each call; they show no credentials. */
  plainClients(server: Omit<ServerContext, "logger">): WebhookClients {
    return (this.#plain ??= this.#add(new WebhookClients(server)));
  }

  families(): readonly Family[] {
    return this.#metrics.families();
  }

  close(): void {
    for (const clients of this.#clients) clients.close();
  }

  #add(clients: WebhookClients): WebhookClients {
    this.#clients.push(clients);
    return clients;
  }
}

async function usersIn(
  file: string | undefined,
): Promise<KubeconfigUsers | undefined> {
  if (!file) return undefined;
  const text = readOptionFile("admission-control-config-file", file);
  try {
    return await parseKubeconfigUsers(text, path.dirname(file));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}
