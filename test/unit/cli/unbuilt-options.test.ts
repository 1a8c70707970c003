// No option that restricts fails open: every one of every table that has no effect yet refuses the start by name, as flag
// and as field of the configuration file; and the number of options without effect only falls.
import * as fs from "node:fs";
import * as path from "node:path";
import { readAgentOptions } from "../../../cli/agent.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { classify, group, option } from "../../../cli/options/build-table.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { kubeletFields } from "../../../cli/options/kubelet-configuration/kubelet-fields.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { programs } from "../../../cli/options/reference.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import {
  allOptions,
  type OptionSpec,
  type OptionTable,
} from "../../../cli/options/table.ts";
import { parseOptionValue } from "../../../cli/options/values/value.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

/** Rows of docs/options.md that say `no effect yet`. A fall is recorded here; a rise is a mistake. */
const CEILING = 3;

const tables: readonly [string, OptionTable][] = [
  ...programs
    .filter(({ name }) => name !== "orbit server")
    .map(({ name, table }): [string, OptionTable] => [name, table]),
  ["orbit server", serverOptions],
];

/** A valid text that asks for something else than `accepted` and the default. */
function otherValue(spec: OptionSpec): string {
  const taken = [
    spec.default,
    spec.unbuilt?.kind === "restricts" ? spec.unbuilt.accepted : undefined,
  ].flatMap((text) =>
    text === undefined ? [] : [JSON.stringify(parseOptionValue(spec, text))],
  );
  const candidates = [
    ...(spec.values ?? []),
    ...{
      string: ["https://example.test/x"],
      strings: ["one"],
      repeated: ["one,two"],
      int: ["7", "1"],
      float: ["0.01", "7"],
      bool: ["true", "false"],
      duration: ["90s", "50ms"],
      map: ["A=true", "a.b=1"],
      quantity: ["7Mi"],
    }[spec.type],
  ];
  const free = candidates.find((text) => {
    try {
      return !taken.includes(JSON.stringify(parseOptionValue(spec, text)));
    } catch {
      return false;
    }
  });
  // Both values of a boolean may be taken: the accepted one is what the program does, the default is what is refused.
  return free ?? spec.default!;
}

const restricting = (): [string, string, OptionTable, OptionSpec][] =>
  tables.flatMap(([program, table]) =>
    allOptions(table)
      .filter((spec) => spec.unbuilt?.kind === "restricts")
      .map((spec): [string, string, OptionTable, OptionSpec] => [
        program,
        spec.name,
        table,
        spec,
      ]),
  );

test.each(restricting())(
  "%s --%s refuses the start",
  (_program, name, table, spec) => {
    const text = otherValue(spec);
    expect(() =>
      parseOptions(table, [`--${name}=${text}`]).refuseUnbuilt(),
    ).toThrow(
      `--${name}: not implemented yet, and what restricts is never ignored`,
    );
    // What it does anyway may be asked for, and an empty text is the same as nothing.
    const { accepted } = spec.unbuilt as { accepted?: string };
    const same = accepted ?? "";
    if (accepted !== undefined || /string|repeated|map/.test(spec.type))
      parseOptions(table, [`--${name}=${same}`]).refuseUnbuilt();
  },
);

test("what is harmless is warned about", () => {
  const table = classify(
    [group("G", option("quiet", "bool", "false", ""))],
    [],
    {
      restricts: {},
      harmless: ["quiet"],
      moot: {},
    },
  );
  const values = parseOptions(table, ["--quiet"]);
  values.refuseUnbuilt();
  expect(values.withoutEffect()).toEqual(["quiet"]);
});

test("all that is refused is named at once, and what works is not", () => {
  const table = classify(
    [
      group(
        "G",
        option("works", "bool", "false", ""),
        option("first", "string", "", ""),
        option("second", "int", "5", ""),
        option("third", "bool", "true", ""),
      ),
    ],
    ["works"],
    {
      restricts: { first: "", second: "5", third: "false" },
      harmless: [],
      moot: {},
    },
  );
  const refuse = (...argv: string[]) =>
    parseOptions(table, argv).refuseUnbuilt();
  expect(() => refuse("--works", "--first=x", "--second=6")).toThrow(
    /^--first: .*; --second: /,
  );
  // The default is refused where the program does something else.
  expect(() => refuse("--third")).toThrow(/^--third: /);
  refuse("--works", "--first=", "--second=5", "--third=false");
});

test("every option of a table needs a class", () => {
  const table = [group("G", option("new", "bool", "false", ""))];
  expect(() =>
    classify(table, [], { restricts: {}, harmless: [], moot: {} }),
  ).toThrow("options without a class: new");
  expect(() =>
    classify(table, ["new"], { restricts: {}, harmless: ["new"], moot: {} }),
  ).toThrow("option listed twice: new");
});

describe("KubeletConfiguration", () => {
  const directories = useTempDirectories();
  const text = (body: object): string =>
    JSON.stringify(
      {
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "KubeletConfiguration",
        ...body,
      },
      null,
      1,
    );
  /** {a: {b: value}} of `a.b`. */
  const nested = (field: string, value: unknown): object =>
    field
      .split(".")
      .reduceRight<unknown>(
        (inner, part) => ({ [part]: inner }),
        value,
      ) as object;
  const lineOf = (body: string, field: string): number =>
    body
      .split("\n")
      .findIndex((line) => line.includes(`"${field.split(".").at(-1)!}":`)) + 1;
  const jsonValue = (spec: OptionSpec): unknown => {
    const value = otherValue(spec);
    switch (spec.type) {
      case "bool":
        return value === "true";
      case "int":
      case "float":
        return Number(value);
      case "strings":
      case "repeated":
        return [value];
      case "map":
        return { a: "1" };
      default:
        return value;
    }
  };
  const fields: [string, unknown][] = [
    ...allOptions(agentOptions).flatMap((spec): [string, unknown][] =>
      spec.file && spec.unbuilt?.kind === "restricts"
        ? [[spec.file, jsonValue(spec)]]
        : [],
    ),
    ...Object.entries(kubeletFields).flatMap(
      ([field, { kind }]): [string, unknown][] =>
        kind === "restricts" ? [[field, "something else"]] : [],
    ),
  ];

  test.each(fields)("%s: %j refuses the start", async (field, value) => {
    const file = path.join(directories(), "k.yaml");
    const body = text(nested(field, value));
    fs.writeFileSync(file, body);
    await expect(readAgentOptions([`--config=${file}`])).rejects.toThrow(
      `${file}:${lineOf(body, field)}: ${field}: ${kubeletFields[field]?.refusal ?? "not implemented yet, and what restricts is never ignored"}`,
    );
  });

  test("what the agent does anyway is accepted", async () => {
    const accepted = Object.entries(kubeletFields).flatMap(
      ([field, { accepted: values = [] }]) =>
        values.map((value) => nested(field, value)),
    );
    for (const body of [...accepted, { failSwapOn: false, evictionSoft: {} }])
      settingsOf(
        await configurationFields(text(body), "k.yaml", agentOptions),
        agentOptions,
      );
  });
});

test("docs/options.md has no more options without effect than were recorded, and a fall is recorded", () => {
  const text = fs.readFileSync(
    path.join(__dirname, "../../../docs/options.md"),
    "utf8",
  );
  const rows = text
    .split("\n")
    .filter(
      (line) => line.startsWith("| `--") && line.includes("no effect yet"),
    );
  expect(rows).toHaveLength(CEILING);
});
