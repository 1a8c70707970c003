// The audit log and webhook from their options. Without a policy nothing is recorded, as with the reference.
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import {
  allSinks,
  AuditBatch,
  AuditLog,
  Auditor,
  type AuditPolicy,
  type AuditSink,
  AuditWebhook,
  checkAuditPolicy,
  lenientSink,
  truncatingSink,
} from "../../../apiserver-lite/index.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readOptionFile } from "../option-files.ts";

const DAY_MS = 24 * 3600 * 1000;
const MEGABYTE = 1024 * 1024;
/** Without --audit-log-maxsize. */
const DEFAULT_MAX_MEGABYTES = 100;

export async function createAudit(
  values: OptionValues,
  clock: Clock,
  logger: Logger,
  dial?: Dial,
): Promise<Auditor | undefined> {
  const policy = await readPolicy(values);
  const file = values.optionalText("audit-log-path");
  const webhook = values.optionalText("audit-webhook-config-file");
  if (!policy) {
    for (const [name, given] of [
      ["log", file],
      ["webhook", webhook],
    ])
      if (given)
        logger.warn(
          `No audit policy file provided, no events will be recorded for ${name} backend`,
        );
    return undefined;
  }
  const sinks: AuditSink[] = [];
  if (file) sinks.push(logSink(file, values, clock, logger));
  if (webhook)
    sinks.push(await webhookSink(webhook, values, clock, logger, dial));
  return sinks.length > 0
    ? new Auditor(policy, allSinks(sinks), clock)
    : undefined;
}

async function readPolicy(
  values: OptionValues,
): Promise<AuditPolicy | undefined> {
  const file = values.optionalText("audit-policy-file");
  if (!file) return undefined;
  const text = readOptionFile("audit-policy-file", file);
  const { parseYamlBody } = await import("../../../api/codec/yaml.ts");
  try {
    return checkAuditPolicy(parseYamlBody(Buffer.from(text)).value);
  } catch (error) {
    throw new UsageError(
      `loading audit policy file: ${(error as Error).message}: from file ${file}`,
    );
  }
}

function logSink(
  file: string,
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): AuditSink {
  const megabytes = values.number("audit-log-maxsize") || DEFAULT_MAX_MEGABYTES;
  try {
    const log = new AuditLog({
      path: file,
      legacy: values.text("audit-log-format") === "legacy",
      maxBytes: megabytes * MEGABYTE,
      maxBackups: values.number("audit-log-maxbackup"),
      maxAgeMs: values.number("audit-log-maxage") * DAY_MS,
      compress: values.flag("audit-log-compress"),
      clock,
      logger,
    });
    return truncated(
      "log",
      inMode("log", log, values, clock, logger),
      values,
      logger,
    );
  } catch (error) {
    throw new UsageError(`--audit-log-path: ${(error as Error).message}`);
  }
}

async function webhookSink(
  file: string,
  values: OptionValues,
  clock: Clock,
  logger: Logger,
  dial: Dial | undefined,
): Promise<AuditSink> {
  const { parseKubeconfig } = await import("../../../client/kubeconfig.ts");
  const text = readOptionFile("audit-webhook-config-file", file);
  let connection;
  try {
    connection = await parseKubeconfig(text, path.dirname(file));
  } catch (error) {
    throw new UsageError(
      `initializing audit webhook: ${(error as Error).message}`,
    );
  }
  const webhook = new AuditWebhook({
    ...{ connection, dial },
    initialBackoffMs: values.number("audit-webhook-initial-backoff"),
    clock,
    logger,
  });
  const cut = truncated("webhook", webhook, values, logger);
  return inMode("webhook", cut, values, clock, logger);
}

/** The mode's buffer, or none. */
function inMode(
  name: "log" | "webhook",
  sink: AuditSink,
  values: OptionValues,
  clock: Clock,
  logger: Logger,
): AuditSink {
  const mode = values.text(`audit-${name}-mode`);
  if (mode === "blocking-strict") return sink;
  if (mode === "blocking") return lenientSink(sink);
  const of = (option: string): number =>
    values.number(`audit-${name}-batch-${option}`);
  return new AuditBatch(sink, {
    bufferSize: of("buffer-size"),
    maxBatchSize: of("max-size"),
    maxWaitMs: of("max-wait"),
    throttle: values.flag(`audit-${name}-batch-throttle-enable`)
      ? {
          qps: of("throttle-qps") || 10,
          burst: of("throttle-burst") || 15,
        }
      : undefined,
    clock,
    logger,
  });
}

function truncated(
  name: "log" | "webhook",
  sink: AuditSink,
  values: OptionValues,
  logger: Logger,
): AuditSink {
  if (!values.flag(`audit-${name}-truncate-enabled`)) return sink;
  return truncatingSink(sink, {
    maxEventBytes: values.number(`audit-${name}-truncate-max-event-size`),
    maxBatchBytes: values.number(`audit-${name}-truncate-max-batch-size`),
    logger,
  });
}
