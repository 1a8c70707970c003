// Byte counts as quantities with binary suffixes, as messages show them.
const suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

/** The largest suffix that divides the whole number of bytes: 1048576 → "1Mi", 1000 → "1000". */
export function formatBinary(bytes: number): string {
  let value = Math.round(bytes);
  let step = 0;
  while (value !== 0 && value % 1024 === 0 && step < suffixes.length - 1) {
    value /= 1024;
    step++;
  }
  return `${value}${suffixes[step]}`;
}
