// --max-connection-bytes-per-sec: bytes pass at a steady rate; faster ones wait, with back-pressure to their source.
import { Transform } from "node:stream";

/** Pieces are small enough that a slow rate still looks steady. */
const PIECES_A_SECOND = 10;

export function createThrottle(bytesPerSecond: number): Transform {
  const pieceBytes = Math.max(1, Math.floor(bytesPerSecond / PIECES_A_SECOND));
  let freeAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const pass = (from: number): void => {
        if (from >= chunk.length) return done();
        const piece = chunk.subarray(from, from + pieceBytes);
        const nowMs = performance.now();
        const startMs = Math.max(nowMs, freeAtMs);
        freeAtMs = startMs + (piece.length / bytesPerSecond) * 1000;
        timer = setTimeout(() => {
          this.push(piece);
          pass(from + piece.length);
        }, startMs - nowMs);
      };
      pass(0);
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
}
