// The encryption of stored values by the file of --encryption-provider-config. With automatic reload the file is followed: a
// good new version takes the place of the old one, a bad one is logged, counted and changes nothing.
import { hostname } from "node:os";
import type { Logger } from "pino";
import {
  apiServerId,
  EncryptionMetrics,
  EncryptionRules,
  ValueEncryption,
} from "../../../../apiserver-lite/index.ts";
import type { Clock } from "../../../../api/clock.ts";
import type { Family } from "../../../../api/metrics/family.ts";
import { trimEnd, trimStart } from "../../../../api/patterns/trim.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { FollowedFile } from "../../followed-file.ts";
import { readOptionFile } from "../../option-files.ts";
import { readEncryptionConfig } from "./encryption-config.ts";

const option = "encryption-provider-config";
const leastCheckMs = 10_000;
const checkAgainMs = 100;
const reloadOption = "encryption-provider-config-automatic-reload";

interface Parts {
  readonly values: OptionValues;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly served?: {
    readonly featureGates?: Readonly<Record<string, boolean>>;
  };
}

/** Counts for /healthz and /readyz. */
interface KmsCheck {
  readonly name: string;
  readonly on: readonly ("healthz" | "readyz")[];
  readonly timeoutMs: number;
  check(): Promise<void>;
}

interface Encryption {
  /** Undefined without a configuration. */
  readonly sealOf: ValueEncryption["sealOf"] | undefined;
  readonly checks: readonly KmsCheck[];
  start(): void;
  stop(): void;
  families(): readonly Family[];
}

const none: Encryption = {
  sealOf: undefined,
  checks: [],
  start: () => undefined,
  stop: () => undefined,
  families: () => [],
};

/** Rejects with a UsageError for a file that can't be used: nothing is stored in clear because of it. */
export async function readEncryption(parts: Parts): Promise<Encryption> {
  const { values, clock, logger, served } = parts;
  const file = values.optionalText(option);
  const follow = values.flag(reloadOption);
  if (!file) {
    if (follow)
      throw new UsageError(`--${reloadOption} must be set with --${option}`);
    return none;
  }
  const metrics = new EncryptionMetrics(apiServerId(hostname()));
  const rulesOf = async (text: string): Promise<EncryptionRules> => {
    const rules = await readEncryptionConfig(text, file, {
      gate: served?.featureGates?.["KMSv1"] ?? false,
      reload: follow,
    });
    try {
      return await EncryptionRules.of(rules, rootOf(values), {
        ...{ metrics, clock, logger },
      });
    } catch (error) {
      throw new UsageError(`${file}: ${(error as Error).message}`);
    }
  };
  const text = readOptionFile(option, file);
  const first = await rulesOf(text);
  const encryption = new ValueEncryption(first);
  metrics.applied(text);
  const replaced = new Set<EncryptionRules>();
  const followed = new FollowedFile({
    ...{ file, text, clock },
    async use(changed) {
      const rules = await rulesOf(changed);
      const before = encryption.rules;
      try {
        await untilWell(rules, clock);
      } catch (error) {
        rules.close();
        throw error;
      }
      if (followed.stopped) return rules.close();
      rules.start();
      encryption.use(rules);
      // Questions to its plug-ins that are under way are answered.
      replaced.add(before);
      clock.after(2 * before.callsMs, () => {
        before.close();
        replaced.delete(before);
      });
      metrics.applied(changed);
      metrics.reloaded("success", clock.now());
      logger.info({ file }, "the encryption file was reloaded");
    },
    failed(err) {
      metrics.reloaded("failure", clock.now());
      logger.error(
        { err, file },
        "the encryption file can't be reloaded: the version before stays in force",
      );
    },
  });
  return {
    sealOf: encryption.sealOf,
    checks: first.asks || follow ? [kmsCheck(encryption)] : [],
    start: () => {
      encryption.rules.start();
      if (follow) followed.start();
    },
    stop: () => {
      followed.stop();
      for (const rules of [...replaced, encryption.rules]) rules.close();
    },
    families: () => metrics.families(),
  };
}

/** With a slow plug-in as long as its calls may take: its state, and a new key. */
const kmsCheck = (encryption: ValueEncryption): KmsCheck => ({
  name: "kms-providers",
  on: ["healthz", "readyz"],
  get timeoutMs() {
    return Math.max(leastCheckMs, 2 * encryption.rules.callsMs + leastCheckMs);
  },
  check: () => encryption.rules.check(),
});

/** Rejects when the plug-ins of new rules are not well in time. */
async function untilWell(rules: EncryptionRules, clock: Clock): Promise<void> {
  const endMs = clock.monotonic() + Math.max(leastCheckMs, 2 * rules.callsMs);
  for (;;)
    try {
      return await rules.check();
    } catch (error) {
      if (clock.monotonic() >= endMs)
        throw new Error(
          `health check for new transformers failed: ${(error as Error).message}`,
          { cause: error },
        );
      await new Promise<void>((resolve) =>
        clock.after(checkAgainMs, () => resolve()),
      );
    }
}

/** What keys begin with in etcd, where they are authenticated as other servers see them. */
function rootOf(values: OptionValues): string {
  if (values.list("etcd-servers").length === 0) return "/registry";
  const prefix = trimStart(trimEnd(values.text("etcd-prefix"), "/"), "/");
  return prefix === "" ? "" : `/${prefix}`;
}
