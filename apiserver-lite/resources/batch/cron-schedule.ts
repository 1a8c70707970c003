// Checks the schedule of a CronJob: five fields with the reference's grammar (`*`, `?`, lists, ranges, steps, names of
// months and days), or a descriptor such as @hourly and @every 1h30m.
import { parseDurationMs } from "../../../api/duration.ts";

const descriptors = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);
const months = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields = [
  { low: 0, high: 59, names: [] as string[], first: 0 },
  { low: 0, high: 23, names: [] as string[], first: 0 },
  { low: 1, high: 31, names: [] as string[], first: 0 },
  { low: 1, high: 12, names: months, first: 1 },
  { low: 0, high: 6, names: days, first: 0 },
];

/** What is wrong with it, or undefined. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.trim();
  if (text === "") return "empty spec string";
  if (text.startsWith("@")) {
    if (descriptors.has(text)) return undefined;
    if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
    try {
      parseDurationMs(text.slice("@every ".length));
      return undefined;
    } catch (error) {
      return `failed to parse duration ${text}: ${(error as Error).message}`;
    }
  }
  const parts = text.split(/\s+/);
  if (parts.length !== fields.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`;
  }
  for (const [index, part] of parts.entries()) {
    for (const range of part.split(",")) {
      const problem = rangeProblemOf(range, fields[index]!);
      if (problem) return problem;
    }
  }
  return undefined;
}

const notANumber = (text: string): string =>
  `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;

function rangeProblemOf(
  text: string,
  field: (typeof fields)[number],
): string | undefined {
  const [range = "", step, ...more] = text.split("/");
  if (more.length > 0) return `too many slashes: ${text}`;
  if (step !== undefined && !/^[0-9]+$/.test(step)) return notANumber(step);
  if (step !== undefined && Number(step) === 0)
    return `step of range should be a positive number: ${text}`;
  if (range === "*" || range === "?") return undefined;
  const ends = range.split("-");
  if (ends.length > 2) return `too many hyphens: ${text}`;
  const numbers = ends.map((end) => {
    const named = field.names.indexOf(end.toLowerCase());
    return named >= 0
      ? named + field.first
      : /^[0-9]+$/.test(end)
        ? Number(end)
        : Number.NaN;
  });
  if (numbers.some(Number.isNaN))
    return notANumber(ends[numbers.findIndex(Number.isNaN)]!);
  const low = numbers[0]!;
  const high = numbers[1] ?? (step === undefined ? low : field.high);
  if (low < field.low)
    return `beginning of range (${low}) below minimum (${field.low}): ${text}`;
  if (high > field.high)
    return `end of range (${high}) above maximum (${field.high}): ${text}`;
  if (low > high)
    return `beginning of range (${low}) beyond end of range (${high}): ${text}`;
  return undefined;
}
