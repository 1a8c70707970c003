// The text of docs/POD-FIELDS.md: the table of fields, each looked for in the room that acts on it, and the types of volumes
// by the plug-ins that are there.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

function* sources(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (entry.name.endsWith(".ts")) yield file;
  }
}

const withoutComments = (text) =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

/** The names of a room's code. */
function wordsOf(root, room) {
  const words = new Set();
  for (const file of sources(path.join(root, room)))
    for (const [word] of withoutComments(readFileSync(file, "utf8")).matchAll(
      /[A-Za-z_$][\w$]*/g,
    ))
      words.add(word);
  return words;
}

/** The names that the plug-ins of volumes serve, as texts in their code. */
function volumeNames(root) {
  const names = new Set();
  for (const file of sources(path.join(root, "agent/volumes")))
    for (const [, name] of withoutComments(readFileSync(file, "utf8")).matchAll(
      /"(\w+)"/g,
    ))
      names.add(name);
  return names;
}

/** @throws Error for a field that works, it is said, but that no code of its room names */
export function podFieldsDocument(root, sections) {
  const rooms = new Map();
  const names = (room) => {
    if (!rooms.has(room)) rooms.set(room, wordsOf(root, room));
    return rooms.get(room);
  };
  const served = volumeNames(root);
  const row =
    (title) =>
    ([name, { state, by, note = "" }]) => {
      const isVolume = title === "volumes";
      if (isVolume && served.has(name) !== (state === "works"))
        throw new Error(
          `tools/pod-fields/table.ts says of volumes of type ${name}: ${state}`,
        );
      if (!isVolume && !names(by).has(name))
        throw new Error(`${by} does not name the field ${name}`);
      return `| \`${name}\` | ${state} | ${by} | ${note} |`;
    };
  const tables = sections.map(({ title, fields }) =>
    [
      `## ${title}`,
      "",
      "| field | state | acted on by | remarks |",
      "| --- | --- | --- | --- |",
      ...Object.entries(fields).map(row(title)),
    ].join("\n"),
  );
  return `# Fields of a pod

Written by \`node tools/generate-pod-fields.mjs\` from \`tools/pod-fields/table.ts\` and the code. **works**: it has its effect; **partly**: what is missing is said; **refused**: by name, with the reason that is said; **dropped**: the API server leaves it out, as the reference does while its gate is off.

${tables.join("\n\n")}
`;
}
