// Percentiles and the CPU and memory of server processes, read from /proc.
import { readFileSync } from "node:fs";

/** The p-quantile (0..1) of unsorted values; NaN when there are none. */
export function quantile(values: readonly number[], p: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!;
}

export interface Usage {
  cpuSeconds: number;
  residentMebibytes: number;
}

/** User and system time (all threads) and resident memory, summed over the processes. */
export function usageOf(pids: readonly number[]): Usage {
  let ticks = 0;
  let pages = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11]) + Number(fields[12]);
    pages += Number(fields[21]);
  }
  return {
    cpuSeconds: ticks / 100,
    residentMebibytes: (pages * 4096) / 1048576,
  };
}

export interface Row {
  name: string;
  [figure: string]: number | string;
}

/** Prints rows as an aligned table, the way every bench reports. */
export function printRows(rows: readonly Row[]): void {
  if (rows.length === 0) return;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: number | string | undefined): string =>
    value === undefined
      ? ""
      : typeof value === "number"
        ? String(Number(value.toPrecision(4)))
        : value;
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => cell(row[column]).length)),
  );
  const line = (cells: string[]): string =>
    cells
      .map((text, i) => text.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  console.log(line(columns));
  for (const row of rows)
    console.log(line(columns.map((column) => cell(row[column]))));
}
