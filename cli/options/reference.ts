// docs/options.md, from the tables. tools/generate-options-doc.mjs writes it; a test checks that it is up to date.
import { agentOptions } from "./agent.ts";
import { apiServerOptions } from "./apiserver.ts";
import { controllerManagerOptions } from "./controller-manager.ts";
import { patchOptions } from "./ctl.ts";
import { proxyOptions } from "./proxy.ts";
import { schedulerOptions } from "./scheduler.ts";
import { serverOptions } from "./server.ts";
import {
  specificationOptionName,
  unbuiltNote,
  type OptionSpec,
  type OptionTable,
} from "./table.ts";

export const programs: readonly {
  name: string;
  about: string;
  table: OptionTable;
}[] = [
  {
    name: "orbit server",
    about: "A whole cluster on one machine.",
    table: serverOptions.slice(0, 1),
  },
  {
    name: "orbit apiserver",
    about: "The API server; `orbit server` takes these too.",
    table: apiServerOptions,
  },
  {
    name: "orbit controller-manager",
    about: "The controllers.",
    table: controllerManagerOptions,
  },
  { name: "orbit scheduler", about: "The scheduler.", table: schedulerOptions },
  { name: "orbit proxy", about: "The service proxy.", table: proxyOptions },
  {
    name: "orbit agent",
    about:
      "The node agent. A path in the last column is the field of the KubeletConfiguration in --config.",
    table: agentOptions,
  },
  {
    name: "orbitctl patch",
    about: "The patch command, with the options every orbitctl command has.",
    table: patchOptions,
  },
];

const cell = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

function row(spec: OptionSpec): string {
  const other = specificationOptionName(spec.name);
  const names = spec.fileOnly
    ? [spec.file!]
    : [
        `--${spec.name}`,
        ...(other ? [`--${other}`] : []),
        ...(spec.aliases ?? []).map((name) => `--${name}`),
      ];
  if (spec.short) names.push(`-${spec.short}`);
  const limits = [
    ...(spec.values ? [`one of ${spec.values.join(", ")}`] : []),
    ...(spec.min !== undefined
      ? [`at least ${spec.type === "duration" ? `${spec.min} ms` : spec.min}`]
      : []),
    ...(spec.max !== undefined
      ? [`at most ${spec.type === "duration" ? `${spec.max} ms` : spec.max}`]
      : []),
  ];
  const meaning = `${spec.doc}${limits.length > 0 ? ` (${limits.join("; ")})` : ""}`;
  const notes = [
    ...(spec.fileOnly
      ? ["configuration file only"]
      : spec.file
        ? [`\`${spec.file}\``]
        : []),
    ...(spec.unbuilt ? [unbuiltNote(spec.unbuilt)] : []),
  ];
  return `| ${names.map((name) => `\`${name}\``).join(" ")} | ${spec.type} | ${cell(spec.default ?? "")} | ${cell(meaning)} | ${notes.join(", ")} |`;
}

export function optionsReference(): string {
  const parts = programs.map(({ name, about, table }) => {
    const groups = table.map(
      ({ title, options }) =>
        `### ${title}\n\n| option | type | default | meaning | notes |\n| --- | --- | --- | --- | --- |\n${options.map(row).join("\n")}\n`,
    );
    return `## ${name}\n\n${about}\n\n${groups.join("\n")}`;
  });
  return `# Options\n\nGenerated from the option tables in \`cli/options/\` by \`node tools/generate-options-doc.mjs\`; don't edit. Both names of an option mean the same. \`no effect yet\`: the option is accepted and checked, but changes nothing so far.\n\n${parts.join("\n")}`;
}
