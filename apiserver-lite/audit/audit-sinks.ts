// Sinks around sinks: several at once, one whose failures do not matter, one that makes large events smaller.
import type { Logger } from "pino";
import type { AuditEvent, AuditSink } from "./audit-event.ts";

/** Every event goes to each of them. */
export function allSinks(sinks: readonly AuditSink[]): AuditSink {
  if (sinks.length === 1) return sinks[0]!;
  return {
    write(events) {
      const results = sinks.map((sink) => sink.write(events));
      return results.some((result) => result instanceof Promise)
        ? Promise.all(results).then((all) => all.every(Boolean))
        : results.every(Boolean);
    },
    async close() {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** A request goes on although its event could not be recorded. */
export function lenientSink(sink: AuditSink): AuditSink {
  return {
    write(events) {
      const result = sink.write(events);
      return result instanceof Promise ? result.then(() => true) : true;
    },
    close: () => sink.close(),
  };
}

/**
 * An event whose JSON is longer than maxEventBytes loses its bodies; is it still too long, it is not recorded. No batch
 * is longer than maxBatchBytes.
 */
export function truncatingSink(
  sink: AuditSink,
  {
    maxEventBytes,
    maxBatchBytes,
    logger,
  }: { maxEventBytes: number; maxBatchBytes: number; logger: Logger },
): AuditSink {
  return {
    write(events) {
      const batches: AuditEvent[][] = [[]];
      let bytes = 0;
      for (const original of events) {
        let event = original;
        let size = sizeOf(event);
        if (size > maxEventBytes && /^Request/.test(event.level)) {
          event = withoutBodies(event);
          size = sizeOf(event);
        }
        if (size > maxEventBytes) {
          logger.error(
            { auditID: event.auditID },
            "event is too large even after truncating",
          );
          continue;
        }
        if (bytes > 0 && bytes + size > maxBatchBytes) {
          batches.push([]);
          bytes = 0;
        }
        bytes += size;
        batches.at(-1)!.push(event);
      }
      const results = batches
        .filter((batch) => batch.length > 0)
        .map((batch) => sink.write(batch));
      return results.some((result) => result instanceof Promise)
        ? Promise.all(results).then((all) => all.every(Boolean))
        : results.every(Boolean);
    },
    close: () => sink.close(),
  };
}

function sizeOf(event: AuditEvent): number {
  return Buffer.byteLength(JSON.stringify(event)) + 1;
}

function withoutBodies(event: AuditEvent): AuditEvent {
  const { requestObject: _, responseObject: __, ...rest } = event;
  return {
    ...rest,
    annotations: { ...rest.annotations, "audit.k8s.io/truncated": "true" },
  };
}
