// The bytes of a document, as they are written.

/** The same bytes in pieces of this size, but for the last one. */
export function* pieces(
  parts: readonly Uint8Array[],
  pieceBytes = 64 * 1024,
): Generator<Uint8Array, void> {
  let left = parts.reduce((sum, { length }) => sum + length, 0);
  let piece = Buffer.allocUnsafeSlow(Math.min(left, pieceBytes));
  let at = 0;
  for (const part of parts)
    for (let from = 0; from < part.length;) {
      const taken = part.subarray(from, from + piece.length - at);
      piece.set(taken, at);
      from += taken.length;
      at += taken.length;
      if (at < piece.length) continue;
      yield piece;
      left -= piece.length;
      piece = Buffer.allocUnsafeSlow(Math.min(left, pieceBytes));
      at = 0;
    }
}
