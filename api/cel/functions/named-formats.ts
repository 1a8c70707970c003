// Formats by name: `format.dns1123Label().validate(x)` names what is wrong with a text.
import type { Library } from "../checking/declarations.ts";
import { method, ofText } from "./opaque.ts";
import { urlProblem } from "./urls.ts";
import {
  dns1035Problems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../names.ts";
import { objectType } from "../checking/types.ts";
import { parseDate, parseTimestamp } from "../values/time.ts";
import { ArrayList, OpaqueValue, Optional } from "../values/value.ts";

const typeName = "kubernetes.NamedFormat";
export const formatType = objectType(typeName);

class FormatValue extends OpaqueValue {
  readonly type = formatType;
  constructor(
    readonly name: string,
    readonly problems: (text: string) => readonly string[],
    /** The length of the pattern that the cost of a check is counted by. */
    readonly maxPatternSize: number,
  ) {
    super();
  }
  override equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

/** The beginning of a generated name may end with a dash. */
const asPrefix =
  (problems: (text: string) => readonly string[]) =>
  (text: string): readonly string[] =>
    problems(
      text.length > 1 && text.endsWith("-") ? `${text.slice(0, -2)}a` : text,
    );

const when = (good: boolean, problem: string): readonly string[] =>
  good ? [] : [problem];

const uuid =
  /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const list = [
  ["dns1123Label", "DNS1123Label", dnsLabelProblems, 30],
  ["dns1123Subdomain", "DNS1123Subdomain", dnsSubdomainProblems, 60],
  ["dns1035Label", "DNS1035Label", dns1035Problems, 30],
  ["qualifiedName", "QualifiedName", qualifiedNameProblems, 60],
  ["dns1123LabelPrefix", "DNS1123LabelPrefix", asPrefix(dnsLabelProblems), 30],
  [
    "dns1123SubdomainPrefix",
    "DNS1123SubdomainPrefix",
    asPrefix(dnsSubdomainProblems),
    60,
  ],
  ["dns1035LabelPrefix", "DNS1035LabelPrefix", asPrefix(dns1035Problems), 30],
  ["labelValue", "LabelValue", labelValueProblems, 40],
  [
    "uri",
    "URI",
    (text: string) => {
      const problem = urlProblem(text);
      return problem === undefined ? [] : [problem];
    },
    842,
  ],
  [
    "uuid",
    "uuid",
    (text: string) => when(uuid.test(text), "does not match the UUID format"),
    74,
  ],
  [
    "byte",
    "byte",
    (text: string) => when(base64.test(text), "invalid base64"),
    96,
  ],
  [
    "date",
    "date",
    (text: string) => when(parseDate(text) !== undefined, "invalid date"),
    91,
  ],
  [
    "datetime",
    "datetime",
    (text: string) =>
      when(
        parseTimestamp(text.toUpperCase()) !== undefined,
        "invalid datetime",
      ),
    91,
  ],
] as const;

const formats = new Map(
  list.map(([key, name, problems, size]) => [
    key as string,
    new FormatValue(name, problems, size),
  ]),
);

export const formatLibrary: Library = {
  ...Object.fromEntries(
    [...formats].map(([key, format]) => [
      `format.${key}`,
      [
        {
          id: `format.${key}`,
          args: "",
          result: typeName,
          call: () => format,
        },
      ],
    ]),
  ),
  "format.named": [
    ofText("format-named", `optional(${typeName})`, (name) => {
      const format = formats.get(name);
      return format ? new Optional(format) : Optional.none;
    }),
  ],
  validate: [
    method<FormatValue>(
      "format-validate",
      `${typeName}, string`,
      "optional(list(string))",
      (format, text: string) => {
        const problems = format.problems(text);
        return problems.length === 0
          ? Optional.none
          : new Optional(new ArrayList(problems));
      },
    ),
  ],
};
