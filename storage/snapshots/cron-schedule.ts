// The times of a cron expression, in UTC. node-cron parses and validates the expression and says whether a day matches
// (L, W, # and their like); the search over days is done here, from any given time, so that a test's clock works.
//
// Accepted is what node-cron accepts: five fields, or six with seconds first; names, ranges, steps, lists, `?`, `L`,
// `15W`, `2#3` and the nicknames (@daily). Day of month and day of week must both match.

export interface CronSchedule {
  /** The first time after `afterMs` (epoch milliseconds). */
  next(afterMs: number): number;
}

/** A 29 February may be eight years away (1896, 1904; 2096, 2104). */
const HORIZON_DAYS = 8 * 366 + 1;
const DAY_MS = 86_400_000;

/** Rejects with an Error whose message says what is wrong with the expression, field by field. */
export async function parseCronSchedule(
  expression: string,
): Promise<CronSchedule> {
  const { createTask, validateDetailed } = await import("node-cron");
  const { errors, fields } = validateDetailed(expression);
  if (errors.length > 0 || !fields)
    throw new Error(
      errors.map(({ field, message }) => `${field}: ${message}`).join("; "),
    );
  // Never started: it only compares.
  const task = createTask(expression, () => undefined, { timezone: "UTC" });
  await task.destroy();
  const months = new Set(fields.month);
  const inDayMs = timesOfDay(fields);
  const find = (afterMs: number): number | undefined => {
    const firstDayMs = Math.floor(afterMs / DAY_MS) * DAY_MS;
    for (let day = 0; day < HORIZON_DAYS; day++) {
      const dayMs = firstDayMs + day * DAY_MS;
      if (!months.has(new Date(dayMs).getUTCMonth() + 1)) continue;
      if (!task.match(new Date(dayMs + inDayMs[0]!))) continue;
      const at = inDayMs.find((ms) => dayMs + ms > afterMs);
      if (at !== undefined) return dayMs + at;
    }
    return undefined;
  };
  if (find(Date.UTC(2024, 0, 1)) === undefined)
    throw new Error("it never comes: no day of any year matches");
  return { next: (afterMs) => find(afterMs)! };
}

/** Milliseconds after midnight, ascending; at most 86,400 of them. */
function timesOfDay(fields: {
  readonly hour: readonly number[];
  readonly minute: readonly number[];
  readonly second: readonly number[];
}): number[] {
  return fields.hour
    .flatMap((hour) =>
      fields.minute.flatMap((minute) =>
        fields.second.map(
          (second) => ((hour * 60 + minute) * 60 + second) * 1000,
        ),
      ),
    )
    .sort((a, b) => a - b);
}
