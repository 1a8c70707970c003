// The ipBlocks of a rule as ranges of addresses, with what they except taken out. Invariant: the ranges of a family are in
// order and do not touch each other, as the kernel's sets of ranges want them.
import {
  addressNumber,
  addressText,
  cidrRange,
  familyOf,
  withoutLeadingZeros,
  type AddressFamily,
  type AddressRange,
} from "../../api/addresses/address-range.ts";
import type { IPBlock } from "../../api/types/networking-v1.ts";

export type AddressBlocks = readonly AddressRange[];

function rangeOf(cidr: string): AddressRange | undefined {
  return cidrRange(withoutLeadingZeros(cidr));
}

function without(range: AddressRange, hole: AddressRange): AddressRange[] {
  if (
    hole.family !== range.family ||
    hole.last < range.first ||
    hole.first > range.last
  )
    return [range];
  const { family } = range;
  return [
    ...(hole.first > range.first
      ? [{ family, first: range.first, last: hole.first - 1n }]
      : []),
    ...(hole.last < range.last
      ? [{ family, first: hole.last + 1n, last: range.last }]
      : []),
  ];
}

/** A block that can't be read, or excepts what can't be read, has no addresses. */
function rangesOf({ cidr, except = [] }: IPBlock): AddressRange[] {
  const whole = rangeOf(cidr);
  const holes = except.map(rangeOf);
  if (!whole || holes.includes(undefined)) return [];
  return holes.reduce<AddressRange[]>(
    (ranges, hole) => ranges.flatMap((range) => without(range, hole!)),
    [whole],
  );
}

export function addressBlocks(blocks: readonly IPBlock[]): AddressBlocks {
  const sorted = blocks
    .flatMap(rangesOf)
    .sort((a, b) =>
      a.family !== b.family
        ? a.family < b.family
          ? -1
          : 1
        : a.first < b.first
          ? -1
          : 1,
    );
  const merged: AddressRange[] = [];
  for (const range of sorted) {
    const before = merged.at(-1);
    if (before?.family === range.family && range.first <= before.last + 1n)
      merged[merged.length - 1] = {
        ...before,
        last: range.last > before.last ? range.last : before.last,
      };
    else merged.push(range);
  }
  return merged;
}

export function blocksHold(blocks: AddressBlocks, address: string): boolean {
  const family = familyOf(address);
  const number = addressNumber(address);
  return blocks.some(
    (range) =>
      range.family === family && range.first <= number && number <= range.last,
  );
}

/** The ranges of a family as elements of a set. */
export function blockElements(
  blocks: AddressBlocks,
  family: AddressFamily,
): string[] {
  return blocks
    .filter((range) => range.family === family)
    .map(({ first, last }) =>
      first === last
        ? addressText(first, family)
        : `${addressText(first, family)}-${addressText(last, family)}`,
    );
}
