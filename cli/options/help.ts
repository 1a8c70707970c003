// Help text of a program from its option table.
import {
  allOptions,
  specificationOptionName,
  unbuiltNote,
  type OptionSpec,
  type OptionTable,
} from "./table.ts";

function optionLine(spec: OptionSpec): string {
  const names = `${spec.short && spec.name !== spec.short ? `-${spec.short}, ` : "    "}--${spec.name}${spec.type === "bool" ? "" : ` ${spec.type}`}`;
  const other = specificationOptionName(spec.name);
  const notes = [
    ...(spec.default !== undefined && spec.default !== ""
      ? [`default ${spec.default}`]
      : []),
    ...(spec.values ? [`one of ${spec.values.join(", ")}`] : []),
    ...(other ? [`also --${other}`] : []),
    ...(spec.unbuilt ? [unbuiltNote(spec.unbuilt)] : []),
  ];
  return `  ${names.padEnd(52)} ${spec.doc}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
}

export function helpText(
  usage: string,
  about: string,
  table: OptionTable,
): string {
  const groups = table
    .map(({ title, options }) => ({
      title,
      shown: options.filter(({ hidden, fileOnly }) => !hidden && !fileOnly),
    }))
    .filter(({ shown }) => shown.length > 0);
  return `Usage: ${usage}\n\n${about}\n${groups.map(({ title, shown }) => `\n${title}:\n${shown.map(optionLine).join("\n")}\n`).join("")}`;
}

export function wantsHelp(
  argv: readonly string[],
  table: OptionTable,
): boolean {
  const end = argv.indexOf("--");
  const before = end < 0 ? argv : argv.slice(0, end);
  return (
    before.includes("--help") ||
    (before.includes("-h") &&
      !allOptions(table).some(({ short }) => short === "h"))
  );
}
