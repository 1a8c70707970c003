// The texts of times in API objects: RFC 3339 in UTC, whole seconds, or six digits of a second in micro times.

/** As the API writes it, on a day that every month has: most times that are sent were read before. */
const plainTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** Is it surely the text that `normaliseTime` makes of it? */
export function isPlainTime(text: string): boolean {
  return text.length === 20 && plainTime.test(text);
}

/** As the API writes it; undefined for anything else. */
export function normaliseTime(
  text: string,
  micro: boolean,
): string | undefined {
  const match =
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/.exec(
      text,
    );
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", zone] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
    return undefined;
  let seconds = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const ms = Date.parse(`${seconds}Z`);
  // A day that does not exist (30 February) would roll over.
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(day))
    return undefined;
  if (zone !== "Z") {
    const minutes = Number(zone!.slice(1, 3)) * 60 + Number(zone!.slice(4, 6));
    seconds = new Date(ms - (zone![0] === "-" ? -minutes : minutes) * 60_000)
      .toISOString()
      .slice(0, 19);
  }
  return micro
    ? `${seconds}.${fraction.slice(0, 6).padEnd(6, "0")}Z`
    : `${seconds}Z`;
}
