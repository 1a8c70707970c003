// The part of Go's text/template that kubectl users write: {{.a.b}}, {{range .items}}…{{else}}…{{end}}, {{if}}…{{else if}}…,
// {{with}}, $variables, index, len, printf (%s %v %d %q), print, println, eq ne lt le gt ge, and or not, pipes, {{- -}}.
import { UsageError } from "../options/table.ts";

type Node =
  | { text: string }
  | { action: string }
  | {
      block: "range" | "if" | "with";
      head: string;
      body: Node[];
      otherwise: Node[];
    };

const bad = (why: string): never => {
  throw new UsageError(`error parsing template: ${why}`);
};

function parse(template: string): Node[] {
  const root: Node[] = [];
  const stack: {
    into: Node[];
    node?: Extract<Node, { block: string }>;
    chained?: boolean;
  }[] = [{ into: root }];
  let trimNext = false;
  let at = 0;
  const addText = (text: string, trimEnd: boolean): void => {
    let shown = trimNext ? text.trimStart() : text;
    if (trimEnd) shown = shown.trimEnd();
    if (shown) stack[stack.length - 1]!.into.push({ text: shown });
    trimNext = false;
  };
  for (const match of template.matchAll(
    /\{\{(-\s)?((?:"(?:[^"\\]|\\.)*"|`[^`]*`|(?!\}\}).)*?)(\s-)?\}\}/gs,
  )) {
    addText(template.slice(at, match.index), match[1] !== undefined);
    at = match.index + match[0].length;
    trimNext = match[3] !== undefined;
    const code = match[2]!.trim();
    if (code.startsWith("/*")) continue;
    const top = stack[stack.length - 1]!;
    const open = /^(range|if|with)\b\s*(.*)$/s.exec(code);
    if (open) {
      const node = {
        block: open[1] as "if",
        head: open[2]!,
        body: [],
        otherwise: [],
      };
      top.into.push(node);
      stack.push({ into: node.body, node });
    } else if (code === "else" || code.startsWith("else ")) {
      if (!top.node) bad("unexpected {{else}}");
      top.into = top.node!.otherwise;
      const chained = /^else\s+if\s+(.*)$/s.exec(code);
      if (chained) {
        const node = {
          block: "if" as const,
          head: chained[1]!,
          body: [],
          otherwise: [],
        };
        top.into.push(node);
        stack.push({ into: node.body, node, chained: true });
      }
    } else if (code === "end") {
      let ended = stack.pop()!;
      if (!ended.node) bad("unexpected {{end}}");
      while (ended.chained) ended = stack.pop()!;
    } else top.into.push({ action: code });
  }
  if (stack.length > 1) bad("unexpected EOF");
  if (template.indexOf("{{", at) >= 0) bad("unclosed action");
  addText(template.slice(at), false);
  return root;
}

interface Scope {
  dot: unknown;
  variables: Map<string, unknown>;
  allowMissing: boolean;
}

const missing = Symbol("no value");
const truthy = (value: unknown): boolean =>
  value !== missing &&
  value !== null &&
  value !== undefined &&
  value !== false &&
  value !== 0 &&
  value !== "" &&
  !(typeof value === "object" && Object.keys(value).length === 0);

function shown(value: unknown): string {
  if (value === missing || value === undefined || value === null)
    return "<no value>";
  if (Array.isArray(value)) return `[${value.map(shown).join(" ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${entries.map(([key, each]) => `${key}:${shown(each)}`).join(" ")}]`;
  }
  return String(value);
}

function field(value: unknown, path: string, scope: Scope): unknown {
  let current = value;
  for (const name of path.split(".").filter(Boolean)) {
    const next =
      current !== null &&
      typeof current === "object" &&
      Object.hasOwn(current, name)
        ? (current as Record<string, unknown>)[name]
        : missing;
    if (next === missing && !scope.allowMissing)
      throw new UsageError(
        `error executing template: map has no entry for key "${name}"`,
      );
    current = next;
  }
  return current;
}

function words(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let word = "";
  for (const [token] of text.matchAll(
    /"(?:[^"\\]|\\.)*"|`[^`]*`|\s+|[()]|[^\s()"`]+/g,
  )) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (depth === 0 && /^\s+$/.test(token)) {
      if (word) out.push(word);
      word = "";
    } else word += token;
  }
  if (word) out.push(word);
  return out;
}

function operand(word: string, scope: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word) as string;
  if (word.startsWith("`")) return word.slice(1, -1);
  if (word.startsWith("(")) {
    const close = word.lastIndexOf(")");
    return field(
      pipeline(word.slice(1, close), scope),
      word.slice(close + 1),
      scope,
    );
  }
  if (word === "true" || word === "false") return word === "true";
  if (word === "nil") return null;
  if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word);
  if (word === ".") return scope.dot;
  if (word.startsWith(".")) return field(scope.dot, word, scope);
  const variable = /^(\$\w*)(.*)$/.exec(word);
  if (variable)
    return field(scope.variables.get(variable[1]!), variable[2]!, scope);
  return bad(`function "${word}" not defined`);
}

const compare = (a: unknown, b: unknown): number =>
  (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;

const functions: Readonly<Record<string, (args: unknown[]) => unknown>> = {
  index: (args) =>
    args
      .slice(1)
      .reduce(
        (value, key) =>
          (value as Record<string, unknown> | null)?.[key as string] ?? missing,
        args[0],
      ),
  len: ([value]) =>
    typeof value === "string"
      ? value.length
      : Object.keys((value as object | null) ?? {}).length,
  printf: ([format, ...args]) =>
    String(format).replace(
      /%(-?\d*)([svdq%])/g,
      (_, width: string, verb: string) => {
        if (verb === "%") return "%";
        const value = args.shift();
        const text = verb === "q" ? JSON.stringify(value) : shown(value);
        return width.startsWith("-")
          ? text.padEnd(-Number(width))
          : text.padStart(Number(width || 0));
      },
    ),
  print: (args) => args.map(shown).join(""),
  println: (args) => `${args.map(shown).join(" ")}\n`,
  eq: ([first, ...rest]) => rest.some((each) => each === first),
  ne: ([a, b]) => a !== b,
  lt: ([a, b]) => compare(a, b) < 0,
  le: ([a, b]) => compare(a, b) <= 0,
  gt: ([a, b]) => compare(a, b) > 0,
  ge: ([a, b]) => compare(a, b) >= 0,
  and: (args) => args.find((each) => !truthy(each)) ?? args[args.length - 1],
  or: (args) => args.find(truthy) ?? args[args.length - 1],
  not: ([value]) => !truthy(value),
  exists: ([value, ...path]) =>
    path.reduce(
      (each, key) => (each as Record<string, unknown> | null)?.[key as string],
      value,
    ) !== undefined,
  base64decode: ([value]) => Buffer.from(String(value), "base64").toString(),
};

function pipeline(text: string, scope: Scope): unknown {
  const commands: string[][] = [[]];
  for (const word of words(text)) {
    if (word === "|") commands.push([]);
    else commands[commands.length - 1]!.push(word);
  }
  let value: unknown;
  commands.forEach((command, index) => {
    const [name, ...rest] = command;
    if (name === undefined) bad("missing value for command");
    const call = functions[name!];
    const args = rest.map((word) => operand(word, scope));
    if (index > 0) args.push(value);
    value = call ? call(args) : operand(name!, scope);
  });
  return value;
}

function render(nodes: readonly Node[], scope: Scope): string {
  let out = "";
  for (const node of nodes) {
    if ("text" in node) out += node.text;
    else if ("action" in node) {
      const assign = /^(\$\w+)\s*:?=\s*(.*)$/s.exec(node.action);
      if (assign) scope.variables.set(assign[1]!, pipeline(assign[2]!, scope));
      else out += shown(pipeline(node.action, scope));
    } else out += renderBlock(node, scope);
  }
  return out;
}

function renderBlock(
  node: Extract<Node, { block: string }>,
  scope: Scope,
): string {
  const names = /^(\$\w+)(?:\s*,\s*(\$\w+))?\s*:=\s*(.*)$/s.exec(node.head);
  const value = pipeline(names ? names[3]! : node.head, scope);
  const inner = (dot: unknown, key?: unknown): string => {
    const variables = new Map(scope.variables);
    if (names) {
      if (names[2]) variables.set(names[1]!, key).set(names[2], dot);
      else variables.set(names[1]!, dot);
    }
    return render(node.body, {
      ...scope,
      dot: node.block === "if" ? scope.dot : dot,
      variables,
    });
  };
  if (!truthy(value)) return render(node.otherwise, scope);
  if (node.block !== "range") return inner(value);
  if (Array.isArray(value))
    return value.map((each, index) => inner(each, index)).join("");
  return Object.entries(value as object)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => inner(each, key))
    .join("");
}

/** Renders a template over one object. Throws UsageError for a bad template, or a missing key when not allowed. */
export function renderGoTemplate(
  template: string,
  data: unknown,
  allowMissing = true,
): string {
  return render(parse(template), {
    dot: data,
    variables: new Map([["$", data]]),
    allowMissing,
  });
}
