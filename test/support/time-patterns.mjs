// Runs regular expressions on long texts and prints how much processor time they take, one JSON line an expression: its
// own process, so that one that never ends can be killed, and so that what else the machine does is not counted.
//   node time-patterns.mjs < cases      a case a line: {"source", "flags", "before", "pieces", "behind"}
// Each text is tried with 24 and 8,000 characters first; with 100,000 only those that begin with what is repeated, and those
// that took notably long.
import * as readline from "node:readline";

const tinyLength = 24;
const shortLength = 8_000;
const middleLength = 25_000;
const fullLength = 100_000;
/** Of 8,000 characters: a hundred times what a linear expression takes, a tenth of what a quadratic one does. */
const suspiciousMs = 1;

/** More shows enough. */
const maxMs = 100;

function run(pattern, text) {
  const started = process.cpuUsage();
  pattern.once.lastIndex = 0;
  pattern.once.exec(text);
  text.replace(pattern.all, "");
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** The collector's threads count too: what is a little too much is tried again. */
function leastOf(pattern, text) {
  let cpuMs = run(pattern, text);
  for (let more = 0; more < 3 && cpuMs > maxMs && cpuMs < 5 * maxMs; more++)
    cpuMs = Math.min(cpuMs, run(pattern, text));
  return cpuMs;
}

function wallMs(pattern, text) {
  const started = performance.now();
  pattern.once.lastIndex = 0;
  pattern.once.exec(text);
  text.replace(pattern.all, "");
  return performance.now() - started;
}

function textOf(before, piece, behind, length) {
  return before + piece.repeat(Math.ceil(length / piece.length)) + behind;
}

function worst({ source, flags, before, pieces, behind }) {
  const pattern = {
    once: new RegExp(source, flags),
    all: new RegExp(source, flags.includes("g") ? flags : `${flags}g`),
  };
  for (let warm = 0; warm < 3; warm++)
    wallMs(pattern, "warm \u00e9 \u4e2d".slice(warm));
  let found = { cpuMs: 0, of: "" };
  for (const left of before)
    for (const piece of pieces)
      for (const right of behind) {
        // What doubles with every character would not end in this world.
        const tiny = textOf(left, piece, right, tinyLength);
        if (wallMs(pattern, tiny) > 5 && run(pattern, tiny) > 5)
          return {
            cpuMs: Number.MAX_VALUE,
            of: JSON.stringify([left, piece, right]),
          };
        const short = textOf(left, piece, right, shortLength);
        const suspicious =
          wallMs(pattern, short) > suspiciousMs &&
          wallMs(pattern, short) > suspiciousMs;
        if (!suspicious && (left !== "" || right !== "\u0000")) continue;
        let cpuMs = leastOf(pattern, textOf(left, piece, right, middleLength));
        // Sixteen times as much would follow, or four times where it is linear.
        if (cpuMs <= maxMs)
          cpuMs = leastOf(pattern, textOf(left, piece, right, fullLength));
        if (cpuMs > found.cpuMs)
          found = { cpuMs, of: JSON.stringify([left, piece, right]) };
        if (cpuMs > maxMs) return found;
      }
  return found;
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ begun: given.id })}\n`);
  process.stdout.write(
    `${JSON.stringify({ id: given.id, ...worst(given) })}\n`,
  );
}
