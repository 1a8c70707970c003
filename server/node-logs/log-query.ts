// The query of /logs/?query=… (the reference's node log query): services of the journal or one file, with times, a number
// of lines, a boot and a pattern. Problems are reported in the reference's text: first all of what can't be read (400), else
// all of what makes no sense (406).

export interface LogQuery {
  readonly services: readonly string[];
  /** Below the log directory; then there are no services and no options. */
  readonly file: string | undefined;
  readonly options: {
    /** RFC 3339 */
    readonly sinceTime?: string;
    readonly untilTime?: string;
    readonly tailLines?: number;
    /** 0 this boot, -1 the one before … */
    readonly boot?: number;
    /** PCRE2, as journalctl takes it. */
    readonly pattern?: string;
  };
}

const maxServices = 4;
const maxTailLines = 100_000;
const maxPatternLength = 4096;
const maxNameLength = 100;

/** Why a query is refused: the code of the answer, and each problem. */
export interface LogQueryRefusal {
  readonly code: 400 | 406;
  readonly problems: readonly string[];
}

type Report = (field: string, value: unknown, what: string) => void;

function reportInto(problems: string[]): Report {
  return (field, value, what) =>
    void problems.push(
      `${field}: Invalid value: ${JSON.stringify(value)}: ${what}`,
    );
}

export function parseLogQuery(
  query: URLSearchParams,
): LogQuery | LogQueryRefusal {
  const unreadable: string[] = [];
  const problems: string[] = [];
  const malformed = reportInto(unreadable);
  const invalid = reportInto(problems);
  const asked = query.getAll("query");
  const files = asked.filter((each) => /[/\\]/.test(each));
  const services = asked.filter(
    (each) => each.trim() !== "" && !/[/\\]/.test(each),
  );
  const options = readOptions(query, malformed, invalid);
  if (files.length + services.length === 0)
    malformed("query", asked, "query cannot be empty");
  for (const service of services)
    if (!/^[a-zA-Z0-9_.:@-]+$/.test(service) || service.startsWith("-"))
      invalid("query", service, "input contains unsupported characters");
    else if (service.length > maxNameLength)
      invalid("query", service, `length must be less than ${maxNameLength}`);
  if (services.length > maxServices)
    problems.push(
      `query: Too many: ${services.length}: must have at most ${maxServices} items`,
    );
  if (files.length > 0 && services.length > 0)
    invalid("query", asked, "cannot specify a file and service");
  else if (files.length > 1)
    invalid("query", files, "cannot specify more than one file");
  else if (files.length === 1 && Object.keys(options).length > 0)
    invalid("query", files, "cannot specify file with options");
  if (unreadable.length > 0) return { code: 400, problems: unreadable };
  if (problems.length > 0) return { code: 406, problems };
  return { services, file: files[0], options };
}

function readOptions(
  query: URLSearchParams,
  malformed: Report,
  invalid: Report,
): LogQuery["options"] {
  const given = (name: string): string | undefined =>
    query.get(name) || undefined;
  const time = (name: string): string | undefined => {
    const text = given(name);
    if (
      text !== undefined &&
      (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(
        text,
      ) ||
        Number.isNaN(Date.parse(text)))
    )
      malformed(name, text, "invalid time format");
    return text;
  };
  const whole = (
    name: string,
    least: number,
    most: number,
    what: string,
  ): number | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    if (!/^[+-]?\d+$/.test(text)) {
      malformed(
        name,
        text,
        `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
      return undefined;
    }
    const value = Number(text);
    if (value < least || value > most) invalid(name, value, what);
    return value;
  };
  const sinceTime = time("sinceTime");
  const untilTime = time("untilTime");
  if (sinceTime && untilTime && Date.parse(sinceTime) > Date.parse(untilTime))
    invalid("untilTime", untilTime, "must be after `sinceTime`");
  const tailLines = whole(
    "tailLines",
    0,
    maxTailLines,
    `must be between 0 and ${maxTailLines}, inclusive`,
  );
  const boot = whole("boot", -100_000, 0, "must be less than 1");
  const pattern = given("pattern");
  if (pattern !== undefined && pattern.length > maxPatternLength)
    invalid("pattern", "", `length must be less than ${maxPatternLength}`);
  return {
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(untilTime === undefined ? {} : { untilTime }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(boot === undefined ? {} : { boot }),
    ...(pattern === undefined ? {} : { pattern }),
  };
}
