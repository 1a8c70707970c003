// The audit log from its options. Without a policy nothing is recorded, as with the reference.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { AuditLog } from "../../apiserver-lite/audit/audit-log.ts";
import { Auditor } from "../../apiserver-lite/audit/auditor.ts";
import { checkAuditPolicy } from "../../apiserver-lite/audit/policy.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { readOptionFile } from "./agent-certificate.ts";

const DAY_MS = 24 * 3600 * 1000;
const MEGABYTE = 1024 * 1024;

export interface AuditPart {
  readonly auditor: Auditor;
  close(): void;
}

export async function createAudit(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): Promise<AuditPart | undefined> {
  const file = values.optionalText("audit-log-path");
  if (!file) return undefined;
  const policyFile = values.optionalText("audit-policy-file");
  if (!policyFile) {
    logger.warn(
      "No audit policy file provided, no events will be recorded for log backend",
    );
    return undefined;
  }
  const text = readOptionFile("audit-policy-file", policyFile);
  const { parseYamlBody } = await import("../../api/codec/yaml.ts");
  let policy;
  try {
    policy = checkAuditPolicy(parseYamlBody(Buffer.from(text)).value);
  } catch (error) {
    throw new UsageError(
      `--audit-policy-file: ${policyFile}: ${(error as Error).message}`,
    );
  }
  let log: AuditLog;
  try {
    log = new AuditLog({
      path: file,
      batch: values.text("audit-log-mode") === "batch",
      legacy: values.text("audit-log-format") === "legacy",
      bufferSize: values.number("audit-log-batch-buffer-size"),
      batchSize: values.number("audit-log-batch-max-size"),
      batchWaitMs: values.isSet("audit-log-batch-max-wait")
        ? values.number("audit-log-batch-max-wait")
        : 0,
      maxBytes: values.number("audit-log-maxsize") * MEGABYTE,
      maxBackups: values.number("audit-log-maxbackup"),
      maxAgeMs: values.number("audit-log-maxage") * DAY_MS,
      clock,
      logger,
    });
  } catch (error) {
    throw new UsageError(`--audit-log-path: ${(error as Error).message}`);
  }
  return { auditor: new Auditor(policy, log, clock), close: () => log.close() };
}
