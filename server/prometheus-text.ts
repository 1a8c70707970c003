// One metric family in the Prometheus text format: HELP and TYPE once, a line a label set. Empty families give no text.

export type Labels = Readonly<Record<string, string>>;

export class Family {
  readonly #lines: string[] = [];
  constructor(
    readonly name: string,
    readonly type: "counter" | "gauge",
    readonly help: string,
  ) {}

  add(labels: Labels, value: number | undefined, time?: string): void {
    if (value === undefined || Number.isNaN(value)) return;
    const text = Object.entries(labels)
      .map(
        ([name, label]) =>
          `${name}="${label.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`))}"`,
      )
      .join(",");
    const epochMs = time === undefined ? NaN : Date.parse(time);
    this.#lines.push(
      `${this.name}${text === "" ? "" : `{${text}}`} ${value}${Number.isNaN(epochMs) ? "" : ` ${epochMs}`}`,
    );
  }

  toString(): string {
    if (this.#lines.length === 0) return "";
    return `# HELP ${this.name} ${this.help}\n# TYPE ${this.name} ${this.type}\n${this.#lines.join("\n")}\n`;
  }
}
