// A part of a configuration file while it is read: typed looks at its fields, and problems that name file, line and field.
// All problems of a file are collected and reported at once.
import {
  isMap,
  parseDocument,
  type ConfigurationDocument,
} from "../options/kubelet-configuration/configuration-document.ts";
import { UsageError } from "../options/table.ts";
import { normaliseApiVersion } from "../../api/dialect.ts";

interface Place {
  readonly file: string;
  readonly document: ConfigurationDocument;
  readonly problems: string[];
}

export class ConfigurationSection {
  private constructor(
    private readonly place: Place,
    readonly path: string,
    readonly value: unknown,
  ) {}

  /** Runs `read` on a file's document. Throws a UsageError with every problem that was found. */
  static async read<T>(
    text: string,
    file: string,
    read: (section: ConfigurationSection) => T | Promise<T>,
  ): Promise<T> {
    const document = await parseDocument(text, file);
    const problems: string[] = [];
    const place = { file, document, problems };
    const result = await read(
      new ConfigurationSection(place, "", document.value),
    );
    if (problems.length > 0) throw new UsageError(problems.join("\n"));
    return result;
  }

  problem(what: string, path = this.path): void {
    const { file, document, problems } = this.place;
    problems.push(
      `${file}:${document.lineOf(path)}: ${path === "" ? "" : `${path}: `}${what}`,
    );
  }

  /** The fields; a problem for what is no map and for fields beside these. */
  fields(known: readonly string[]): Readonly<Record<string, unknown>> {
    const { value } = this;
    if (value === undefined || value === null) return {};
    if (!isMap(value)) {
      this.problem("must be a map");
      return {};
    }
    for (const name of Object.keys(value))
      if (!known.includes(name))
        this.problem("unknown field", this.pathOf(name));
    return value;
  }

  /** The same for an object of a kind, in either dialect; undefined: it is none of these. */
  object(
    kind: string,
    apiVersions: readonly string[],
    known: readonly string[],
  ): Readonly<Record<string, unknown>> | undefined {
    const { value } = this;
    const given = isMap(value) ? value : {};
    const apiVersion = normaliseApiVersion(String(given["apiVersion"] ?? ""));
    if (given["kind"] !== kind) {
      this.problem(
        `must be ${kind}, not ${JSON.stringify(given["kind"])}`,
        this.pathOf("kind"),
      );
      return undefined;
    }
    if (!apiVersions.includes(apiVersion)) {
      this.problem(
        `must be ${apiVersions.join(" or ")}, not ${JSON.stringify(given["apiVersion"])}`,
        this.pathOf("apiVersion"),
      );
      return undefined;
    }
    return this.fields(["apiVersion", "kind", ...known]);
  }

  child(name: string): ConfigurationSection {
    const value = isMap(this.value) ? this.value[name] : undefined;
    return new ConfigurationSection(this.place, this.pathOf(name), value);
  }

  items(name: string): ConfigurationSection[] {
    const { path, value } = this.child(name);
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.problem("must be a list", path);
      return [];
    }
    return value.map(
      (each, index) =>
        new ConfigurationSection(this.place, `${path}[${index}]`, each),
    );
  }

  /** "" where it is not given. */
  text(name: string): string {
    return this.#typed(name, "string", "a string") ?? "";
  }

  /** 0 where it is not given. */
  integer(name: string): number {
    const value = this.#typed(name, "number", "a whole number") ?? 0;
    if (Number.isSafeInteger(value)) return value;
    this.problem("must be a whole number", this.pathOf(name));
    return 0;
  }

  flag(name: string): boolean {
    return this.#typed(name, "boolean", "true or false") ?? false;
  }

  texts(name: string): string[] {
    return this.items(name).flatMap((item) => {
      if (typeof item.value === "string") return [item.value];
      item.problem("must be a string");
      return [];
    });
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  #typed<K extends keyof Types>(
    name: string,
    type: K,
    what: string,
  ): Types[K] | undefined {
    const { value, path } = this.child(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value === type) return value as Types[K];
    this.problem(`must be ${what}`, path);
    return undefined;
  }
}

interface Types {
  string: string;
  number: number;
  boolean: boolean;
}
