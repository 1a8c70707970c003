// The cells of a row as JSON bytes with a place for each age, so that they can be kept: an age is all in a row that changes
// while its object does not.
//
// Example: {"cells":["x","1/1","Running","0","␀1735689600000␀"],"object": becomes
// {"cells":["x","1/1","Running","0","5m"],"object": when it is filled in five minutes after that moment.
// Invariant: a filled template is no longer than the template.
import { humanDuration } from "../../api/duration.ts";
import type { AnyObject } from "../../api/object.ts";
import { agePlaces } from "./age.ts";
import type { Printer } from "./table.ts";

const mark = 0;
const zero = 0x30;
const minus = 0x2d;
/** Of a moment in milliseconds: with both marks it is longer than every age. */
const digits = 13;

/** The bytes from the row's brace to the start of its object, and `behind`. */
export function rowTemplate(
  printer: Pick<Printer, "cells">,
  object: Readonly<AnyObject>,
  behind = "",
): Buffer {
  const cells = JSON.stringify(printer.cells(object, Number.NaN));
  const places = cells.replace(
    agePlaces,
    (_place, sign: string, moment: string) =>
      `\0${sign}${moment.padStart(digits, "0")}\0`,
  );
  return Buffer.from(`{"cells":${places},"object":${behind}`);
}

/** Writes the row into `out` at `at`; returns the index behind it. @param now in milliseconds since the epoch */
export function fillTemplate(
  template: Buffer,
  now: number,
  out: Buffer,
  at: number,
): number {
  const { length } = template;
  for (let index = 0; index < length; index++) {
    const byte = template[index]!;
    if (byte !== mark) {
      out[at++] = byte;
      continue;
    }
    const negative = template[index + 1] === minus;
    if (negative) index++;
    let sinceMs = 0;
    for (index++; template[index] !== mark; index++)
      sinceMs = sinceMs * 10 + template[index]! - zero;
    const age = humanDuration(now - (negative ? -sinceMs : sinceMs));
    for (let each = 0; each < age.length; each++)
      out[at++] = age.charCodeAt(each);
  }
  return at;
}
