// Options of the API server about its audit log and webhook.
import { group, option } from "../build-table.ts";

export const auditOptions = group(
  "Audit",
  option("audit-policy-file", "string", "", "Audit policy."),
  option(
    "audit-log-path",
    "string",
    "",
    "File of the audit log; - is standard output.",
  ),
  option("audit-log-mode", "string", "blocking", "How events are written.", {
    values: ["batch", "blocking", "blocking-strict"],
  }),
  option("audit-log-format", "string", "json", "Form of the events.", {
    values: ["json", "legacy"],
  }),
  option(
    "audit-log-version",
    "string",
    "audit.k8s.io/v1",
    "API version of the events.",
  ),
  option("audit-log-maxage", "int", "0", "Days old files are kept.", {
    min: 0,
  }),
  option("audit-log-maxbackup", "int", "0", "Old files kept.", { min: 0 }),
  option(
    "audit-log-maxsize",
    "int",
    "0",
    "Megabytes before the file is rotated.",
    { min: 0 },
  ),
  option("audit-log-compress", "bool", "false", "Compress rotated files."),
  option(
    "audit-log-batch-buffer-size",
    "int",
    "10000",
    "Events buffered in batch mode.",
    { min: 1 },
  ),
  option("audit-log-batch-max-size", "int", "1", "Largest batch.", { min: 1 }),
  option(
    "audit-log-batch-max-wait",
    "duration",
    "",
    "Longest wait for a batch to fill.",
  ),
  option(
    "audit-log-batch-throttle-enable",
    "bool",
    "false",
    "Throttle batches.",
  ),
  option("audit-log-batch-throttle-qps", "float", "", "Batches a second.", {
    min: 0,
  }),
  option("audit-log-batch-throttle-burst", "int", "", "Batches at once.", {
    min: 0,
  }),
  option(
    "audit-log-truncate-enabled",
    "bool",
    "false",
    "Cut large events and batches.",
  ),
  option(
    "audit-log-truncate-max-batch-size",
    "int",
    "10485760",
    "Bytes of a batch.",
    { min: 1 },
  ),
  option(
    "audit-log-truncate-max-event-size",
    "int",
    "102400",
    "Bytes of an event.",
    { min: 1 },
  ),
  option(
    "audit-webhook-config-file",
    "string",
    "",
    "Kubeconfig of the audit webhook.",
  ),
  option("audit-webhook-mode", "string", "batch", "How events are sent.", {
    values: ["batch", "blocking", "blocking-strict"],
  }),
  option(
    "audit-webhook-version",
    "string",
    "audit.k8s.io/v1",
    "API version of the events.",
  ),
  option(
    "audit-webhook-initial-backoff",
    "duration",
    "10s",
    "Wait before the first retry.",
  ),
  option(
    "audit-webhook-batch-buffer-size",
    "int",
    "10000",
    "Events buffered.",
    { min: 1 },
  ),
  option("audit-webhook-batch-max-size", "int", "400", "Largest batch.", {
    min: 1,
  }),
  option(
    "audit-webhook-batch-max-wait",
    "duration",
    "30s",
    "Longest wait for a batch to fill.",
  ),
  option(
    "audit-webhook-batch-throttle-enable",
    "bool",
    "true",
    "Throttle batches.",
  ),
  option(
    "audit-webhook-batch-throttle-qps",
    "float",
    "10",
    "Batches a second.",
    { min: 0 },
  ),
  option(
    "audit-webhook-batch-throttle-burst",
    "int",
    "15",
    "Batches at once.",
    { min: 0 },
  ),
  option(
    "audit-webhook-truncate-enabled",
    "bool",
    "false",
    "Cut large events and batches.",
  ),
  option(
    "audit-webhook-truncate-max-batch-size",
    "int",
    "10485760",
    "Bytes of a batch.",
    { min: 1 },
  ),
  option(
    "audit-webhook-truncate-max-event-size",
    "int",
    "102400",
    "Bytes of an event.",
    { min: 1 },
  ),
);
