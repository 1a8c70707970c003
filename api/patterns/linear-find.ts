// The matches of a regular expression of RE2's syntax in a text, found in steps: where each begins and ends, the leftmost
// first, and of those the one that the expression prefers. The program is the library's; it is run here on all threads at
// once (a thread is an instruction and where its match began), because the library's own run cannot pause.
//
// Worked example, `ab|a` in "xab": at x the only thread dies; at a two threads begin at 1, in the order of preference; `a`
// has matched at 2, which ends threads behind it, but not `ab` before it; that one matches 1 to 3.
// Invariants: no instruction has two threads at one place, so time is linear in the text for each match.
import type { RE2JS } from "re2js";
import type { Steps } from "../queueing/steps.ts";
import { matching, PatternTooCostly } from "./linear-match.ts";

/** What is used of re2js's program, which its types leave out. */
interface Instruction {
  readonly op: number;
  readonly out: number;
  /** The other branch, or the conditions of an empty match. */
  readonly arg: number;
  matchRune(rune: number): boolean;
}
interface Program {
  readonly start: number;
  numInst(): number;
  getInst(index: number): Instruction;
}

/** The library's numbers of instructions. */
const op = {
  alternative: 1,
  alternativeOfMatch: 2,
  capture: 3,
  condition: 4,
  fail: 5,
  match: 6,
  nothing: 7,
};
/** The library's bits of conditions. */
const lineBegins = 1;
const lineEnds = 2;
const textBegins = 4;
const textEnds = 8;
const wordBoundary = 16;
const noWordBoundary = 32;

const newline = 10;
/** Instructions that are looked at in one step: about half a millisecond. */
const visitsPerStep = 20_000;
const defaultMaxMs = 3000;

interface Found {
  readonly start: number;
  readonly end: number;
}

/**
 * The matches of a text that do not overlap, without empty ones right behind another, in steps of about half a
 * millisecond. @param most of them. Throws PatternTooCostly. @param maxMs of all steps together
 */
export function* finding(
  pattern: RE2JS,
  text: string,
  most = Infinity,
  maxMs = defaultMaxMs,
): Steps<string[]> {
  const found: string[] = [];
  if (most <= 0 || !(yield* matching(pattern, text, maxMs))) return found;
  const search = new Search(programOf(pattern), text, maxMs);
  let end = -1;
  for (let at = 0; at <= text.length && found.length < most;) {
    const match = yield* search.next(at);
    if (!match) break;
    const isEmpty = match.start === match.end;
    if (!isEmpty || match.start !== end)
      found.push(text.slice(match.start, match.end));
    ({ end } = match);
    at = isEmpty ? end + widthAt(text, end) : end;
  }
  return found;
}

/** Threads in the order of preference. */
class Threads {
  count = 0;
  /** Instructions, and where the match of each began. */
  readonly at: Int32Array;
  readonly begun: Int32Array;
  readonly #places: Int32Array;

  constructor(size: number) {
    this.at = new Int32Array(size);
    this.begun = new Int32Array(size);
    this.#places = new Int32Array(size);
  }

  /** False: the instruction is there already. */
  add(instruction: number, begun: number): boolean {
    const place = this.#places[instruction]!;
    if (place < this.count && this.at[place] === instruction) return false;
    this.#places[instruction] = this.count;
    this.at[this.count] = instruction;
    this.begun[this.count++] = begun;
    return true;
  }
}

class Search {
  readonly #instructions: readonly Instruction[];
  #now: Threads;
  #next: Threads;
  readonly #stack: number[] = [];
  #visits = 0;
  #leftMs: number;

  constructor(
    private readonly program: Program,
    private readonly text: string,
    maxMs: number,
  ) {
    const size = program.numInst();
    this.#instructions = Array.from({ length: size }, (_, index) =>
      program.getInst(index),
    );
    this.#now = new Threads(size);
    this.#next = new Threads(size);
    this.#leftMs = maxMs;
  }

  /** The first match that begins at a place or behind it. */
  *next(from: number): Steps<Found | undefined> {
    const { text, program } = this;
    let begunMs = performance.now();
    let found: Found | undefined;
    let conditions = conditionsAt(text, from);
    this.#now.count = 0;
    for (let at = from; ;) {
      if (!found) this.#follow(this.#now, program.start, at, conditions);
      if (this.#now.count === 0) return found;
      const rune = text.codePointAt(at) ?? -1;
      const behind = at + (rune > 0xffff ? 2 : 1);
      conditions = rune < 0 ? 0 : conditionsAt(text, behind);
      found = this.#advance(rune, at, behind, conditions) ?? found;
      if (rune < 0) return found;
      at = behind;
      if (this.#visits < visitsPerStep) continue;
      this.#visits = 0;
      this.#leftMs -= performance.now() - begunMs;
      if (this.#leftMs < 0) throw new PatternTooCostly();
      yield;
      begunMs = performance.now();
    }
  }

  /** All threads read one character. Returns the match that is preferred to those before. */
  #advance(
    rune: number,
    at: number,
    behind: number,
    conditions: number,
  ): Found | undefined {
    const now = this.#now;
    const next = this.#next;
    next.count = 0;
    let found: Found | undefined;
    this.#visits += now.count;
    for (let index = 0; index < now.count; index++) {
      const instruction = this.#instructions[now.at[index]!]!;
      if (instruction.op === op.match) {
        found = { start: now.begun[index]!, end: at };
        // What is less preferred ends.
        break;
      }
      if (rune < 0 || instruction.op <= op.nothing) continue;
      if (instruction.matchRune(rune))
        this.#follow(next, instruction.out, now.begun[index]!, conditions);
    }
    this.#now = next;
    this.#next = now;
    return found;
  }

  /** Adds a thread for each instruction that is reached without a character. */
  #follow(
    threads: Threads,
    first: number,
    begun: number,
    conditions: number,
  ): void {
    const stack = this.#stack;
    stack.push(first);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (!threads.add(at, begun)) continue;
      this.#visits++;
      const instruction = this.#instructions[at]!;
      switch (instruction.op) {
        case op.alternative:
        case op.alternativeOfMatch:
          stack.push(instruction.arg, instruction.out);
          break;
        case op.capture:
        case op.nothing:
          stack.push(instruction.out);
          break;
        case op.condition:
          if ((instruction.arg & ~conditions) === 0)
            stack.push(instruction.out);
      }
    }
  }
}

/** What holds between the characters before and behind a place. */
function conditionsAt(text: string, at: number): number {
  let conditions = 0;
  if (at === 0) conditions |= textBegins | lineBegins;
  else if (text.charCodeAt(at - 1) === newline) conditions |= lineBegins;
  if (at >= text.length) conditions |= textEnds | lineEnds;
  else if (text.charCodeAt(at) === newline) conditions |= lineEnds;
  return (
    conditions |
    (isWord(text, at - 1) === isWord(text, at) ? noWordBoundary : wordBoundary)
  );
}

/** Letters and digits of ASCII, and the underscore. */
function isWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95
  );
}

const widthAt = (text: string, at: number): number =>
  (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;

function programOf(pattern: RE2JS): Program {
  const engine = Reflect.get(pattern, "re2Input") as object;
  return Reflect.get(engine, "prog") as Program;
}
