// kubectl's JSONPath templates: `{.items[*].metadata.name}`, `{range .items[*]}{.metadata.name}{"\n"}{end}`, filters
// `[?(@.type=="Ready")]`, slices, unions, `..`, keys in quotes or with escaped dots. Results of one path are joined by spaces.
import { UsageError } from "../options/table.ts";

type Step =
  | { type: "field"; name: string }
  | { type: "wildcard" }
  | { type: "recursive" }
  | { type: "slice"; from?: number; to?: number; step: number; single: boolean }
  | { type: "union"; parts: Step[] }
  | { type: "filter"; left: Operand; operator?: string; right?: Operand };
type Operand = { path: Step[]; root: boolean } | { value: unknown };
type Node =
  | { text: string }
  | { path: Step[]; root: boolean }
  | { range: Step[]; root: boolean; body: Node[] };

function fail(template: string, why: string): never {
  throw new UsageError(`error parsing jsonpath ${template}, ${why}`);
}

/** Splits a template into text and the contents of its braces, quotes respected. */
function pieces(template: string): ({ text: string } | { code: string })[] {
  const out: ({ text: string } | { code: string })[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{", at);
    if (open < 0) break;
    if (open > at) out.push({ text: template.slice(at, open) });
    let quote = "";
    let end = open + 1;
    for (; end < template.length; end++) {
      const char = template[end]!;
      if (quote) {
        if (char === "\\") end++;
        else if (char === quote) quote = "";
      } else if (char === '"' || char === "'") quote = char;
      else if (char === "}") break;
    }
    if (end >= template.length) fail(template, "unclosed action");
    out.push({ code: template.slice(open + 1, end).trim() });
    at = end + 1;
  }
  if (at < template.length) out.push({ text: template.slice(at) });
  return out;
}

function unquote(text: string): string {
  return text
    .slice(1, -1)
    .replace(
      /\\(.)/g,
      (_, char: string) => ({ n: "\n", t: "\t", r: "\r" })[char] ?? char,
    );
}

function parsePath(
  text: string,
  template: string,
): { path: Step[]; root: boolean } {
  const path: Step[] = [];
  let at = 0;
  let root = false;
  if (text[0] === "$") {
    root = true;
    at = 1;
  } else if (text[0] === "@") at = 1;
  else if (text[0] !== "." && text[0] !== "[") text = `.${text}`;
  while (at < text.length) {
    const char = text[at]!;
    if (char === "." && text[at + 1] === ".") {
      path.push({ type: "recursive" });
      at++;
      if (text[at + 1] === "[") at++;
    } else if (char === ".") {
      let name = "";
      for (at++; at < text.length && !/[.[\]]/.test(text[at]!); at++) {
        if (text[at] === "\\") at++;
        name += text[at] ?? "";
      }
      if (name === "*") path.push({ type: "wildcard" });
      else if (name !== "") path.push({ type: "field", name: name.trim() });
    } else if (char === "[") {
      let depth = 0;
      let quote = "";
      let end = at;
      for (; end < text.length; end++) {
        const each = text[end]!;
        if (quote) quote = each === quote ? "" : quote;
        else if (each === '"' || each === "'") quote = each;
        else if (each === "[") depth++;
        else if (each === "]" && --depth === 0) break;
      }
      if (end >= text.length) fail(template, "unterminated array");
      path.push(parseBracket(text.slice(at + 1, end).trim(), template));
      at = end + 1;
    } else fail(template, `unrecognized character in action: ${char}`);
  }
  return { path, root };
}

function parseBracket(text: string, template: string): Step {
  if (text === "*") return { type: "wildcard" };
  const filter = /^\?\((.*)\)$/s.exec(text);
  if (filter) {
    const match = /^(.+?)\s*(==|!=|<=|>=|<|>|=~)\s*(.+)$/s.exec(
      filter[1]!.trim(),
    );
    const operand = (each: string): Operand =>
      /^['"]/.test(each)
        ? { value: unquote(each) }
        : /^[@$.]/.test(each)
          ? parsePath(each, template)
          : {
              value:
                each === "true"
                  ? true
                  : each === "false"
                    ? false
                    : Number(each),
            };
    return match
      ? {
          type: "filter",
          left: operand(match[1]!.trim()),
          operator: match[2]!,
          right: operand(match[3]!.trim()),
        }
      : { type: "filter", left: operand(filter[1]!.trim()) };
  }
  if (/^(['"]).*\1$/s.test(text) && !text.includes(","))
    return { type: "field", name: unquote(text) };
  if (text.includes(","))
    return {
      type: "union",
      parts: text.split(",").map((part) => parseBracket(part.trim(), template)),
    };
  const slice = /^(-?\d+)?(:(-?\d+)?(:(\d+))?)?$/.exec(text);
  if (!slice) fail(template, `invalid array index ${text}`);
  const [, from, colon, to, , step] = slice!;
  return {
    type: "slice",
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(to === undefined ? {} : { to: Number(to) }),
    step: step === undefined ? 1 : Number(step) || 1,
    single: colon === undefined,
  };
}

function parseTemplate(template: string): Node[] {
  const root: Node[] = [];
  const stack: Node[][] = [root];
  for (const piece of pieces(template)) {
    const into = stack[stack.length - 1]!;
    if ("text" in piece) into.push(piece);
    else if (piece.code === "end") {
      if (stack.length === 1) fail(template, "not in range, nothing to end");
      stack.pop();
    } else if (/^range\b/.test(piece.code)) {
      const body: Node[] = [];
      const { path, root: fromRoot } = parsePath(
        piece.code.slice(5).trim(),
        template,
      );
      into.push({ range: path, root: fromRoot, body });
      stack.push(body);
    } else if (/^(['"]).*\1$/s.test(piece.code))
      into.push({ text: unquote(piece.code) });
    else if (piece.code !== "") into.push(parsePath(piece.code, template));
  }
  if (stack.length > 1) fail(template, "unclosed range");
  return root;
}

class Missing extends Error {}

interface Evaluation {
  root: unknown;
  allowMissing: boolean;
}

function descendants(value: unknown): unknown[] {
  if (value === null || typeof value !== "object") return [];
  return [value, ...Object.values(value).flatMap(descendants)];
}

function stepInto(
  value: unknown,
  step: Step,
  evaluation: Evaluation,
  lenient: boolean,
): unknown[] {
  switch (step.type) {
    case "field": {
      const found =
        value !== null && typeof value === "object"
          ? (value as Record<string, unknown>)[step.name]
          : undefined;
      if (found === undefined || !Object.hasOwn(value as object, step.name)) {
        if (lenient || evaluation.allowMissing) return [];
        throw new Missing(`${step.name} is not found`);
      }
      return [found];
    }
    case "wildcard":
      return value !== null && typeof value === "object"
        ? Object.values(value)
        : [];
    case "recursive":
      return descendants(value);
    case "union":
      return step.parts.flatMap((part) =>
        stepInto(value, part, evaluation, lenient),
      );
    case "slice": {
      if (!Array.isArray(value)) return [];
      const { length } = value;
      const from = step.from ?? 0;
      const start = from < 0 ? from + length : from;
      if (step.single) {
        if (start < 0 || start >= length) {
          if (lenient || evaluation.allowMissing) return [];
          throw new Missing(
            `array index out of bounds: index ${from}, length ${length}`,
          );
        }
        return [value[start]];
      }
      const end =
        step.to === undefined
          ? length
          : step.to < 0
            ? step.to + length
            : Math.min(step.to, length);
      const out: unknown[] = [];
      for (let index = Math.max(0, start); index < end; index += step.step)
        out.push(value[index]);
      return out;
    }
    case "filter":
      return (Array.isArray(value) ? value : []).filter((item) =>
        passes(item, step, evaluation),
      );
  }
}

function passes(
  item: unknown,
  step: Extract<Step, { type: "filter" }>,
  evaluation: Evaluation,
): boolean {
  const resolve = (operand: Operand): unknown[] =>
    "value" in operand
      ? [operand.value]
      : walk(
          operand.root ? evaluation.root : item,
          operand.path,
          evaluation,
          true,
        );
  const left = resolve(step.left);
  if (!step.operator) return left.length > 0;
  if (left.length === 0) return false;
  const a = left[0];
  const b = resolve(step.right!)[0];
  switch (step.operator) {
    case "==":
      return a === b;
    case "!=":
      return a !== b;
    case "=~":
      return new RegExp(String(b)).test(String(a));
    case "<":
      return (a as number) < (b as number);
    case ">":
      return (a as number) > (b as number);
    case "<=":
      return (a as number) <= (b as number);
    default:
      return (a as number) >= (b as number);
  }
}

function walk(
  value: unknown,
  path: readonly Step[],
  evaluation: Evaluation,
  lenient = false,
): unknown[] {
  let values = [value];
  let below = lenient;
  for (const step of path) {
    values = values.flatMap((each) => stepInto(each, step, evaluation, below));
    if (step.type === "recursive") below = true;
  }
  return values;
}

const shown = (value: unknown): string =>
  typeof value === "string"
    ? value
    : value === null || value === undefined
      ? ""
      : JSON.stringify(value);

function render(
  nodes: readonly Node[],
  current: unknown,
  evaluation: Evaluation,
): string {
  return nodes
    .map((node) => {
      if ("text" in node) return node.text;
      const start = node.root ? evaluation.root : current;
      if ("range" in node) {
        return walk(start, node.range, evaluation)
          .map((each) => render(node.body, each, evaluation))
          .join("");
      }
      return walk(start, node.path, evaluation).map(shown).join(" ");
    })
    .join("");
}

function evaluate<T>(
  template: string,
  data: unknown,
  allowMissing: boolean,
  then: (evaluation: Evaluation) => T,
): T {
  try {
    return then({ root: data, allowMissing });
  } catch (error) {
    if (error instanceof Missing)
      throw new UsageError(
        `error executing jsonpath "${template}": ${error.message}`,
      );
    throw error;
  }
}

/** Renders a template over one object or list. Throws UsageError for a bad template, or a missing key when not allowed. */
export function renderJsonPath(
  template: string,
  data: unknown,
  allowMissing = true,
): string {
  const nodes = parseTemplate(template);
  return evaluate(template, data, allowMissing, (evaluation) =>
    render(nodes, data, evaluation),
  );
}

/** All values of the template's paths: jsonpath-as-json, --sort-by, custom-columns, wait --for=jsonpath. */
export function jsonPathValues(
  template: string,
  data: unknown,
  allowMissing = true,
): unknown[] {
  const text = template.includes("{") ? template : `{${template}}`;
  return evaluate(template, data, allowMissing, (evaluation) =>
    parseTemplate(text).flatMap((node) =>
      "path" in node ? walk(data, node.path, evaluation) : [],
    ),
  );
}
