// Whether a regular expression of RE2's syntax matches anywhere in a text, found in steps: a text of megabytes does not
// hold the event loop. The states are those of the library's automaton, which it makes when they are first needed and
// keeps; the loop over the text is here, because the library's cannot pause.
//
// Invariants: time is linear in the text. A state costs memory, so when the automaton's is full its states are dropped and
// made again; an automaton that does little else takes as long as its expression is large for each character.
import type { RE2JS } from "re2js";
import type { Steps } from "../queueing/steps.ts";

interface State {
  readonly isMatch: boolean;
  readonly next: readonly (State | null)[] | null;
}

/** What is used of re2js's DFA, which its types leave out. */
interface Automaton {
  readonly numClasses: number;
  runeClass(rune: number): number;
  start(input: object, position: number): State | null;
  /** Null: its memory is full. */
  step(state: State, cls: number, rune: number, anchor: number): State | null;
  resetCache(state: State): State | null;
}

/** The whole of a text, at whose start a match begins. */
const atStart = {
  /** Begin of the text and of a line, and no word before it. */
  context: () => 0x01 | 0x04,
};
const unanchored = 0;
const endOfText = -1;
/** Of a step. */
const charactersPerStep = 16_384;
/** Where states have to be made: one may take as long as thousands of characters. */
const stepMs = 1;

/** The expression takes too long or too much memory on this text. */
export class PatternTooCostly extends Error {
  constructor() {
    super("the regular expression takes too long");
  }
}

/** Whether there is a match, in steps of about half a millisecond. Throws PatternTooCostly. @param maxMs of all steps together */
export function* matching(
  pattern: RE2JS,
  text: string,
  maxMs = 3000,
): Steps<boolean> {
  const automaton = automatonOf(pattern);
  let state = automaton.start(atStart, 0);
  if (!state) throw new PatternTooCostly();
  if (state.isMatch) return true;
  let spentMs = 0;
  let begunMs = performance.now();
  let stepEnd = charactersPerStep;
  for (let at = 0; at < text.length;) {
    const rune = text.codePointAt(at)!;
    const cls = automaton.runeClass(rune);
    let next: State | null = state.next?.[cls] ?? null;
    if (!next) {
      next = stepOf(automaton, state, cls, rune);
      if (performance.now() - begunMs > stepMs) stepEnd = at;
    }
    if (next.isMatch) return true;
    state = next;
    at += rune > 0xffff ? 2 : 1;
    if (at < stepEnd) continue;
    spentMs += performance.now() - begunMs;
    if (spentMs > maxMs) throw new PatternTooCostly();
    yield;
    begunMs = performance.now();
    stepEnd = at + charactersPerStep;
  }
  return stepOf(automaton, state, automaton.numClasses, endOfText).isMatch;
}

function stepOf(
  automaton: Automaton,
  state: State,
  cls: number,
  rune: number,
): State {
  const next = automaton.step(state, cls, rune, unanchored);
  if (next) return next;
  const kept = automaton.resetCache(state);
  const again = kept && automaton.step(kept, cls, rune, unanchored);
  if (!again) throw new PatternTooCostly();
  return again;
}

function automatonOf(pattern: RE2JS): Automaton {
  const engine = Reflect.get(pattern, "re2Input") as object;
  return Reflect.get(engine, "dfa") as Automaton;
}
