// How the seats of a server are divided among its priority levels for the next period: each level gets a share in
// proportion to its demand, never less than its lower bound (what it does not lend) and never more than its upper bound
// (what it may borrow). Exempt levels take what they used. Pure arithmetic; no I/O.

export interface LevelDemand {
  readonly exempt: boolean;
  /** The nominal limit less what is lent. */
  readonly least: number;
  readonly nominal: number;
  /** The nominal limit and what may be borrowed. */
  readonly most: number;
  readonly highWatermark: number;
  readonly smoothed: number;
}

interface Division {
  /** Seats, in the order of the levels. */
  readonly limits: readonly number[];
  readonly targets: readonly number[];
  /** Seats for each seat that is demanded; 0: not even the least can be given. */
  readonly fairFraction: number;
}

/** @param nominalSum of the nominal limits of all levels */
export function divideSeats(
  nominalSum: number,
  levels: readonly LevelDemand[],
): Division {
  // What a level has in any case: what it used of its own seats.
  const own = levels.map(({ exempt, least, nominal, highWatermark }) =>
    Math.max(least, exempt ? highWatermark : Math.min(nominal, highWatermark)),
  );
  const targets = levels.map(({ smoothed }, at) =>
    Math.max(own[at]!, smoothed),
  );
  let left = nominalSum;
  let leastSum = 0;
  let ownSum = 0;
  for (const [at, { exempt, least }] of levels.entries()) {
    if (exempt) left -= own[at]!;
    else {
      leastSum += least;
      ownSum += own[at]!;
    }
  }
  const limitsBy = (limitOf: (level: LevelDemand, at: number) => number) =>
    levels.map((level, at) => (level.exempt ? own[at]! : limitOf(level, at)));
  if (left <= leastSum)
    return { limits: limitsBy(({ least }) => least), targets, fairFraction: 0 };
  if (left <= ownSum) {
    const part = (left - leastSum) / (ownSum - leastSum);
    return {
      limits: limitsBy(
        ({ least }, at) => least + Math.round((own[at]! - least) * part),
      ),
      targets,
      fairFraction: 0,
    };
  }
  const limited = levels.flatMap(({ exempt, most }, at) =>
    exempt ? [] : [{ at, target: targets[at]!, least: own[at]!, most }],
  );
  const { shares, fraction } = divide(nominalSum, limited);
  const limits = [...own];
  for (const [index, { at }] of limited.entries())
    limits[at] = Math.round(shares[index]!);
  return { limits, targets, fairFraction: fraction };
}

interface Bounded {
  readonly target: number;
  readonly least: number;
  readonly most: number;
}

/** A level without demand still counts a little, so that it shares what is not asked for. */
const leastTarget = 0.001;

/**
 * The one fraction at which the targets times the fraction, each kept within its bounds, add up to `sum`, and these
 * shares. The total never falls as the fraction rises and is straight between the fractions at which a bound begins or
 * ends to hold: the pair of neighbours around `sum` is found, and the answer lies on the line between them.
 */
function divide(
  sum: number,
  items: readonly Bounded[],
): { readonly shares: readonly number[]; readonly fraction: number } {
  const targetOf = ({ target }: Bounded): number =>
    Math.max(target, leastTarget);
  const shareOf = (item: Bounded, fraction: number): number =>
    Math.min(Math.max(targetOf(item) * fraction, item.least), item.most);
  const totalAt = (fraction: number): number =>
    items.reduce((total, item) => total + shareOf(item, fraction), 0);
  const corners = items
    .flatMap((item) => [
      item.least / targetOf(item),
      item.most / targetOf(item),
    ])
    .sort((a, b) => a - b);
  let low = corners[0] ?? 0;
  let fraction = corners.at(-1) ?? 0;
  for (const corner of corners) {
    if (totalAt(corner) < sum) low = corner;
    else {
      const from = totalAt(low);
      const to = totalAt(corner);
      fraction =
        to > from
          ? low + ((sum - from) / (to - from)) * (corner - low)
          : corner;
      break;
    }
  }
  return { shares: items.map((item) => shareOf(item, fraction)), fraction };
}
