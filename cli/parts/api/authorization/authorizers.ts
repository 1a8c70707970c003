// The authorizers of an API server in their order, from --authorization-mode with its options or from the file of
// --authorization-config, which is followed: a good new version takes the place of the old one, a bad one is logged,
// counted and changes nothing.
//
// Invariants: the chain is exchanged as a whole, so that a request is decided by one version; a version that leaves out an
// authorizer of the server's own, or brings one that was not there at the start, is a bad one.
import { hostname } from "node:os";
import * as path from "node:path";
import type { Logger } from "pino";
import {
  AbacAuthorizer,
  alwaysAllow,
  alwaysDeny,
  apiServerId,
  AuthorizationMetrics,
  createAuthorizationWebhook,
  parsePolicyFile,
  superuserAuthorizer,
  UnionAuthorizer,
} from "../../../../apiserver-lite/index.ts";
import type { Clock } from "../../../../api/clock.ts";
import type { Authorizer } from "../../../../api/contracts.ts";
import type { Family } from "../../../../api/metrics/family.ts";
import { parseKubeconfig } from "../../../../client/kubeconfig.ts";
import { JsonWebhook } from "../../../../client/webhook/json-webhook.ts";
import type { Dial } from "../../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { FollowedFile } from "../../followed-file.ts";
import { readOptionFile } from "../../option-files.ts";
import {
  builtInName,
  readAuthorizationConfig,
  type AuthorizerEntry,
  type AuthorizerType,
  type WebhookEntry,
} from "./authorization-config.ts";

const option = "authorization-config";
const webhookFile = "authorization-webhook-config-file";
const policyFile = "authorization-policy-file";
const webhookTimeoutMs = 30_000;

/** Those that know the cluster's objects. */
interface StateAuthorizers {
  readonly rbac: Authorizer;
  /** Undefined where the type is off. */
  readonly node: Authorizer | undefined;
}

interface Parts {
  readonly values: OptionValues;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
}

/** One version of the configuration with the connections of its webhooks, by their names. */
interface Version {
  readonly entries: readonly AuthorizerEntry[];
  readonly webhooks: ReadonlyMap<string, JsonWebhook>;
}

/** @throws UsageError */
export async function readAuthorizers(parts: Parts): Promise<Authorizers> {
  const { values } = parts;
  const file = values.optionalText(option);
  if (!file) {
    const entries = entriesOfModes(values);
    return new Authorizers(
      parts,
      await connect(entries, webhookFile, parts.dial),
      undefined,
    );
  }
  for (const name of ["authorization-mode", ...webhookOptions])
    if (values.isSet(name))
      throw new UsageError(
        `--${option} can not be specified when --authorization-mode or --authorization-webhook-* flags are defined`,
      );
  const text = readOptionFile(option, file);
  const entries = await readAuthorizationConfig(text, file);
  return new Authorizers(parts, await connect(entries, option, parts.dial), {
    file,
    text,
  });
}

const webhookOptions = [
  webhookFile,
  "authorization-webhook-version",
  "authorization-webhook-cache-authorized-ttl",
  "authorization-webhook-cache-unauthorized-ttl",
];

/** Throws a UsageError: a mode needs its file, and a file its mode. */
function entriesOfModes(values: OptionValues): readonly AuthorizerEntry[] {
  const modes = values.list("authorization-mode") as AuthorizerType[];
  for (const [mode, name] of [
    ["ABAC", policyFile],
    ["Webhook", webhookFile],
  ] as const) {
    const hasMode = modes.includes(mode);
    const hasFile = values.optionalText(name) !== undefined;
    if (hasMode && !hasFile)
      throw new UsageError(`--authorization-mode=${mode} needs --${name}`);
    if (hasFile && !hasMode)
      throw new UsageError(`--${name} needs --authorization-mode=${mode}`);
  }
  return modes.map((type) =>
    type === "Webhook"
      ? { type, name: "default", webhook: webhookOfOptions(values) }
      : { type, name: builtInName(type) },
  );
}

const webhookOfOptions = (values: OptionValues): WebhookEntry => ({
  kubeconfigFile: values.text(webhookFile),
  timeoutMs: webhookTimeoutMs,
  version: values.text("authorization-webhook-version") as "v1" | "v1beta1",
  authorizedTtlMs: values.number("authorization-webhook-cache-authorized-ttl"),
  unauthorizedTtlMs: values.number(
    "authorization-webhook-cache-unauthorized-ttl",
  ),
  onFailure: "no-opinion",
  conditions: [],
});

/** Throws a UsageError for a kubeconfig that can't be used. */
async function connect(
  entries: readonly AuthorizerEntry[],
  optionName: string,
  dial: Dial | undefined,
): Promise<Version> {
  const webhooks = new Map<string, JsonWebhook>();
  for (const entry of entries) {
    if (entry.type !== "Webhook") continue;
    const { kubeconfigFile: file, timeoutMs } = entry.webhook;
    const text = readOptionFile(optionName, file);
    try {
      const connection = await parseKubeconfig(text, path.dirname(file));
      webhooks.set(
        entry.name,
        new JsonWebhook(connection, { timeoutMs, dial }),
      );
    } catch (error) {
      throw new UsageError(
        `--${optionName}: ${file}: ${(error as Error).message}`,
      );
    }
  }
  return { entries, webhooks };
}

function abacOf(values: OptionValues): Authorizer {
  const file = values.optionalText(policyFile);
  if (!file) throw new UsageError(`the authorizer ABAC needs --${policyFile}`);
  const text = readOptionFile(policyFile, file);
  try {
    return new AbacAuthorizer(parsePolicyFile(text, file));
  } catch (error) {
    throw new UsageError(`--${policyFile}: ${(error as Error).message}`);
  }
}

export class Authorizers {
  /** As at the start: a reload can't change which of the server's own there are. */
  readonly types: ReadonlySet<AuthorizerType>;
  readonly #parts: Parts;
  readonly #file: string | undefined;
  readonly #metrics = new AuthorizationMetrics(apiServerId(hostname()));
  readonly #abac: Authorizer | undefined;
  readonly #followed: FollowedFile | undefined;
  #version: Version;
  #state: StateAuthorizers | undefined;
  #chain: Authorizer = alwaysDeny;
  /** Whose connections may still be in use. */
  readonly #former = new Set<Version>();

  constructor(
    parts: Parts,
    version: Version,
    source: { readonly file: string; readonly text: string } | undefined,
  ) {
    const { values, clock, logger } = parts;
    this.#parts = parts;
    this.#file = source?.file;
    this.#version = version;
    this.types = new Set(version.entries.map(({ type }) => type));
    this.#abac = this.types.has("ABAC") ? abacOf(values) : undefined;
    if (!source) return;
    if (!this.#abac && values.optionalText(policyFile) !== undefined)
      throw new UsageError(`--${policyFile} needs the authorizer ABAC`);
    this.#followed = new FollowedFile({
      ...{ ...source, clock },
      use: (text) => this.#reload(text),
      failed: (err) => {
        this.#metrics.reloaded("failure", clock.now());
        logger.error(
          { err, file: source.file },
          "the authorization file can't be reloaded: the version before stays in force",
        );
      },
    });
  }

  /** The whole chain, of whatever version; everything is refused before. */
  attach(state: StateAuthorizers): Authorizer {
    this.#state = state;
    this.#chain = this.#chainOf(this.#version, state);
    return { authorize: (attributes) => this.#chain.authorize(attributes) };
  }

  start(): void {
    if (!this.#followed) return;
    this.#metrics.reloaded("success", this.#parts.clock.now());
    this.#followed.start();
  }

  families(): readonly Family[] {
    return this.#metrics.families();
  }

  async close(): Promise<void> {
    this.#followed?.stop();
    await Promise.all([this.#version, ...this.#former].map(closeAll));
  }

  async #reload(text: string): Promise<void> {
    const { clock, logger } = this.#parts;
    const file = this.#file!;
    const entries = await readAuthorizationConfig(text, file, this.types);
    for (const { type } of entries)
      if (type !== "Webhook" && type !== "AlwaysDeny" && !this.types.has(type))
        throw new UsageError(
          `authorizer type ${type} is not allowed if it was not enabled at initial server startup`,
        );
    const version = await connect(entries, option, this.#parts.dial);
    if (this.#followed!.stopped || !this.#state) return closeAll(version);
    const before = this.#version;
    this.#chain = this.#chainOf(version, this.#state);
    this.#version = version;
    this.#metrics.reloaded("success", clock.now());
    logger.info({ file }, "the authorization file was reloaded");
    // Questions that were put to the webhooks before are still answered.
    this.#former.add(before);
    clock.after(webhookTimeoutMs, () => {
      if (this.#followed!.stopped) return;
      this.#former.delete(before);
      void closeAll(before);
    });
  }

  #chainOf(
    { entries, webhooks }: Version,
    state: StateAuthorizers,
  ): Authorizer {
    const chain = entries.map((entry) => {
      const { type, name } = entry;
      const authorizer =
        type === "Webhook"
          ? this.#webhook(name, entry.webhook, webhooks.get(name)!)
          : this.#builtIn(type, state);
      return this.#metrics.counting(type, name, authorizer);
    });
    return new UnionAuthorizer([superuserAuthorizer, ...chain]);
  }

  #builtIn(
    type: Exclude<AuthorizerType, "Webhook">,
    { rbac, node }: StateAuthorizers,
  ): Authorizer {
    switch (type) {
      case "AlwaysAllow":
        return alwaysAllow;
      case "AlwaysDeny":
        return alwaysDeny;
      case "RBAC":
        return rbac;
      case "Node":
        return node!;
      case "ABAC":
        return this.#abac!;
    }
  }

  #webhook(
    name: string,
    entry: WebhookEntry,
    connection: JsonWebhook,
  ): Authorizer {
    const { clock, logger } = this.#parts;
    return createAuthorizationWebhook(
      { ...entry, name },
      {
        post: (body) => connection.post(body),
        ...{ metrics: this.#metrics, clock, logger },
      },
    );
  }
}

async function closeAll({ webhooks }: Version): Promise<void> {
  await Promise.all([...webhooks.values()].map((each) => each.close()));
}
