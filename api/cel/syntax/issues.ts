// What is wrong with an expression: each issue has the place in the text, and the list is shown as the reference shows
// it to clients: `ERROR: <input>:1:6: message`, the line, and a mark below the place.

interface Issue {
  /** Index into the expression's UTF-16 text; -1 where the issue belongs to no place. */
  readonly at: number;
  readonly message: string;
}

/** Later issues are only counted. */
const maxIssues = 100;
/** Longer lines are not repeated below the message. */
const maxShownLine = 16_384;

/** An expression and its issues; thrown or returned by compilation, never empty. */
export class Issues {
  readonly #expression: string;
  readonly #found: Issue[] = [];
  #count = 0;
  #instantiation: string | undefined;

  constructor(expression: string) {
    this.#expression = expression;
  }

  get empty(): boolean {
    return this.#count === 0;
  }

  get list(): readonly Issue[] {
    return this.#found;
  }

  report(at: number, message: string): void {
    if (this.#count++ < maxIssues) this.#found.push({ at, message });
  }

  /** The expression is well typed, but one of its constants cannot be used; nothing else is reported then. */
  refuse(problem: string): void {
    this.#count++;
    this.#instantiation = problem;
  }

  /** What `refuse` said; the reference names it apart from issues of compilation. */
  get instantiation(): string | undefined {
    return this.#instantiation;
  }

  /** All issues in the order of their places, as clients see them. */
  toString(): string {
    if (this.#instantiation !== undefined)
      return `program instantiation failed: ${this.#instantiation}`;
    const placed = this.#found.map((issue) => ({
      ...issue,
      ...lineAndColumn(this.#expression, issue.at),
    }));
    placed.sort((a, b) => a.line - b.line || a.column - b.column);
    const shown = placed.map(
      ({ line, column, message }) =>
        `ERROR: <input>:${line}:${column + 1}: ${message}${snippet(this.#expression, line, column)}`,
    );
    if (this.#count > maxIssues)
      shown.push(`${this.#count - maxIssues} more errors were truncated`);
    return shown.join("\n");
  }
}

/** The line from 1 on, the column from 0 on in code points; both less by one for no place. */
function lineAndColumn(
  text: string,
  at: number,
): { line: number; column: number } {
  if (at < 0) return { line: -1, column: -1 };
  const before = text.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  return {
    line: before.split("\n").length,
    column: [...before.slice(start)].length,
  };
}

function snippet(text: string, line: number, column: number): string {
  const found = text.split("\n")[line - 1];
  if (line < 1 || found === undefined || found.length > maxShownLine) return "";
  const shown = found.replaceAll("\t", " ");
  // Characters that take more than one byte are marked by wide characters.
  const points = [...shown];
  const marks = points
    .slice(0, column)
    .map((point) => (point > "\u007f" ? "\uff0e" : "."));
  const mark = (points[column] ?? "") > "\u007f" ? "\uff3e" : "^";
  return `\n | ${shown}\n | ${marks.join("")}${mark}`;
}
