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
import { trimEnd, trimStart } from "../../../../api/trim.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { FollowedFile } from "../followed-file.ts";
import { readOptionFile } from "../../option-files.ts";
import { readEncryptionConfig } from "./encryption-config.ts";

const option = "encryption-provider-config";
const reloadOption = "encryption-provider-config-automatic-reload";

interface Parts {
  readonly values: OptionValues;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Encryption {
  /** Undefined without a configuration. */
  readonly sealOf: ValueEncryption["sealOf"] | undefined;
  start(): void;
  stop(): void;
  families(): readonly Family[];
}

const none: Encryption = {
  sealOf: undefined,
  start: () => undefined,
  stop: () => undefined,
  families: () => [],
};

/** Rejects with a UsageError for a file that can't be used: nothing is stored in clear because of it. */
export async function readEncryption(parts: Parts): Promise<Encryption> {
  const { values, clock, logger } = parts;
  const file = values.optionalText(option);
  const follow = values.flag(reloadOption);
  if (!file) {
    if (follow)
      throw new UsageError(`--${reloadOption} must be set with --${option}`);
    return none;
  }
  const metrics = new EncryptionMetrics(apiServerId(hostname()));
  const rulesOf = async (text: string): Promise<EncryptionRules> => {
    const rules = await readEncryptionConfig(text, file);
    try {
      return await EncryptionRules.of(rules, rootOf(values), metrics);
    } catch (error) {
      throw new UsageError(`${file}: ${(error as Error).message}`);
    }
  };
  const text = readOptionFile(option, file);
  const encryption = new ValueEncryption(await rulesOf(text));
  const followed = new FollowedFile({
    ...{ file, text, clock },
    async use(changed) {
      encryption.use(await rulesOf(changed));
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
    start: () => {
      if (follow) followed.start();
    },
    stop: () => followed.stop(),
    families: () => metrics.families(),
  };
}

/** What keys begin with in etcd, where they are authenticated as other servers see them. */
function rootOf(values: OptionValues): string {
  if (values.list("etcd-servers").length === 0) return "/registry";
  const prefix = trimStart(trimEnd(values.text("etcd-prefix"), "/"), "/");
  return prefix === "" ? "" : `/${prefix}`;
}
