// Puts a program together: its bytes, names of places in it, and references to those.
import type { Architecture } from "./architecture.ts";
import { elfFile, int32 } from "./elf-file.ts";

/** The place of what has a name, before it is known: four bytes are left for it. */
export interface Reference {
  to: string;
  /** The four bytes, by the distance in bytes from their own first one. */
  encode: (distance: number) => number;
}

/** Bytes; a name for this place; a reference. */
export type Part = readonly number[] | string | Reference;

/** A text and the zero that ends it, under a name. */
export const text = (name: string, value: string): Part[] => [
  name,
  [...Buffer.from(`${value}\0`)],
];

function assemble(parts: readonly Part[]): Buffer {
  const places = new Map<string, number>();
  let length = 0;
  for (const part of parts)
    if (typeof part === "string") places.set(part, length);
    else length += "to" in part ? 4 : part.length;
  const bytes: number[] = [];
  for (const part of parts)
    if (typeof part === "string") continue;
    else if ("to" in part) {
      const place = places.get(part.to);
      if (place === undefined) throw new Error(`no place named ${part.to}`);
      bytes.push(...int32(part.encode(place - bytes.length)));
    } else bytes.push(...part);
  return Buffer.from(bytes);
}

/** The whole ELF file of the program. @throws Error for a reference to a place that has no name */
export function assembleProgram(
  architecture: Architecture,
  parts: readonly Part[],
): Buffer {
  return elfFile(architecture, assemble(parts));
}
