// Texts that make a regular expression backtrack, derived from the expression itself: pieces of text that its parts
// match, to be repeated; what has to stand before them so that the expression gets there; what behind them makes it fail.
import {
  parseRegExpLiteral,
  visitRegExpAST,
  type AST,
} from "@eslint-community/regexpp";

export interface HostileTexts {
  readonly before: readonly string[];
  /** Repeated many times. */
  readonly pieces: readonly string[];
  readonly behind: readonly string[];
}

/** Every printable character of ASCII, blanks, and some beyond. */
const pool = [
  ..."a0 \t\n\r\u0000",
  ...Array.from({ length: 0x7f - 0x21 }, (_, at) =>
    String.fromCharCode(0x21 + at),
  ),
  "\u00e9",
  "\u4e2d",
  "\ud800",
];

/** Worked example: `^\s*(\w+),$` has pieces " ", "a", ",", " a"…; before them "" and " a"; behind them "", "\0", ","…. */
export function hostileTexts(source: string, flags: string): HostileTexts {
  const literal = parseRegExpLiteral(`/${source || "(?:)"}/${flags}`);
  const sets: { test(character: string): boolean }[] = [];
  const sampler = new Sampler(flags);
  const pieces = new Set<string>();
  const before = new Set([""]);
  const behind = new Set(["", "\u0000", "!"]);
  visitRegExpAST(literal, {
    onCharacterSetEnter(node) {
      if (node.parent.type !== "CharacterClass")
        sets.push(sampler.tester(node));
    },
    onCharacterClassEnter: (node) => void sets.push(sampler.tester(node)),
    onCharacterEnter: ({ value }) => {
      const own = String.fromCodePoint(value);
      sets.push({ test: (character) => character === own });
    },
    onAlternativeEnter({ elements }) {
      for (let at = 0; at < elements.length; at++) {
        if (elements[at]!.type === "Character") continue;
        pieces.add(sampler.textOf(elements.slice(at, at + 1)));
        pieces.add(sampler.textOf(elements.slice(at, at + 2)));
        pieces.add(sampler.textOf(elements.slice(0, at)));
        pieces.add(sampler.textOf(elements.slice(0, at + 1)));
      }
      pieces.add(sampler.textOf(elements));
    },
    onQuantifierEnter(node) {
      if (node.max < 64) return;
      const [left, right] = sampler.around(node);
      before.add(left);
      behind.add(right);
      behind.add(`${right}\n!`);
    },
  });
  // One character of each kind: what the same parts match is alike.
  const kinds = new Map<string, string>();
  for (const character of pool) {
    const kind = sets.map((set) => +set.test(character)).join("");
    if (!kinds.has(kind)) kinds.set(kind, character);
  }
  for (const character of kinds.values()) pieces.add(character);
  pieces.delete("");
  return { before: [...before], pieces: [...pieces], behind: [...behind] };
}

class Sampler {
  constructor(private readonly flags: string) {}

  tester(node: AST.Node): RegExp {
    return new RegExp(
      `^(?:${node.raw})$`,
      `s${this.flags.replace(/[gysmd]/g, "")}`,
    );
  }

  textOf(elements: readonly AST.Element[]): string {
    return elements.map((element) => this.#element(element)).join("");
  }

  /** A text for all that comes before a node, and one for all that comes behind it. */
  around(node: AST.Node): [string, string] {
    let left = "";
    let right = "";
    for (let at = node; at.parent; at = at.parent) {
      const { parent } = at;
      if (parent.type === "Quantifier")
        left = this.#element(parent.element).repeat(parent.min) + left;
      if (parent.type !== "Alternative") continue;
      const index = parent.elements.indexOf(at as AST.Element);
      left = this.textOf(parent.elements.slice(0, index)) + left;
      right += this.textOf(parent.elements.slice(index + 1));
    }
    return [left, right];
  }

  #element(element: AST.Element): string {
    switch (element.type) {
      case "Character":
        return String.fromCodePoint(element.value);
      case "CharacterSet":
      case "CharacterClass":
      case "ExpressionCharacterClass": {
        const tester = this.tester(element);
        return pool.find((character) => tester.test(character)) ?? "";
      }
      case "Group":
      case "CapturingGroup":
        return this.textOf(element.alternatives[0]?.elements ?? []);
      case "Quantifier":
        return this.#element(element.element).repeat(
          Math.min(Math.max(element.min, 1), 64),
        );
      case "Backreference":
        return Array.isArray(element.resolved)
          ? ""
          : this.#element(element.resolved);
      case "Assertion":
        return "";
    }
  }
}
