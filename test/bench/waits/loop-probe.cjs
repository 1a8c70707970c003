// Preloaded into the measured server (NODE_OPTIONS=--require): reports the event loop's delay, the collector's pauses and
// the memory since the last question, to whoever connects to the socket named by ORBIT_BENCH_PROBE.
"use strict";
const { openSync, readSync } = require("node:fs");
const { subscribe } = require("node:diagnostics_channel");
const net = require("node:net");
const {
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
} = require("node:perf_hooks");
const { isMainThread } = require("node:worker_threads");

const path = process.env.ORBIT_BENCH_PROBE;
delete process.env.NODE_OPTIONS;
if (path && isMainThread) {
  const resolutionMs = 1;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let pauses = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      pauses.push([entry.detail.kind, entry.duration, entry.startTime]);
    if (pauses.length > 10000) pauses = pauses.slice(-5000);
  }).observe({ entryTypes: ["gc"] });
  // The main thread's own time on a processor between two turns of the loop: the same on a busy machine.
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(64);
  /** On a processor, and waiting for one. */
  const schedMs = () =>
    buffer
      .toString("latin1", 0, readSync(schedstat, buffer, 0, 64, 0))
      .split(" ", 2)
      .map((ns) => Number(ns) / 1e6);
  const cpuMs = () => schedMs()[0];
  let lastCpuMs = cpuMs();
  let turnMaxMs = 0;
  let turns = [];
  setInterval(() => {
    const nowMs = cpuMs();
    turnMaxMs = Math.max(turnMaxMs, nowMs - lastCpuMs);
    if (turns.length < 100_000) turns.push(nowMs - lastCpuMs);
    lastCpuMs = nowMs;
  }, 1).unref();
  // When the prober's requests were parsed and answered, by the clock of all processes of the machine.
  let seen = {};
  const clockMs = () => Number(process.hrtime.bigint()) / 1e6;
  subscribe("http.server.request.start", ({ request }) => {
    const number = request.headers["x-probe"];
    if (number) seen[number] = { parsedMs: clockMs() };
  });
  subscribe("http.server.response.finish", ({ request }) => {
    const times = seen[request.headers["x-probe"]];
    if (times) times.writtenMs = clockMs();
  });
  let since = performance.now();
  let waitedMs = schedMs()[1];
  const ms = (ns) => Math.max(0, ns / 1e6 - resolutionMs);
  // What comes at any time while the loop is busy waits for the rest of a turn: longer than this in one case of a hundred.
  const waitP99Ms = () => {
    turns.sort((a, b) => b - a);
    const limit = turns.reduce((sum, each) => sum + each, 0) / 100;
    let over = 0;
    let count = 0;
    for (const each of turns) {
      if (over - count * each > limit) break;
      over += each;
      count++;
    }
    return count > 0 ? Math.max(0, (over - limit) / count) : 0;
  };
  const server = net.createServer((socket) => {
    const now = performance.now();
    const recent = pauses.filter(([, , start]) => start >= since);
    const memory = process.memoryUsage();
    const waited = schedMs()[1];
    socket.on("error", () => undefined);
    socket.end(
      JSON.stringify({
        loopMaxMs: ms(delay.max),
        turnCpuMaxMs: turnMaxMs,
        turnWaitP99Ms: waitP99Ms(),
        gcCount: recent.length,
        runDelayMs: waited - waitedMs,
        loopP99Ms: ms(delay.percentile(99)),
        gcMaxMs: recent.reduce((most, [, each]) => Math.max(most, each), 0),
        gcTotalMs: recent.reduce((sum, [, each]) => sum + each, 0),
        memory,
        seen,
      }),
    );
    since = now;
    waitedMs = waited;
    pauses = [];
    turnMaxMs = 0;
    turns = [];
    seen = {};
    delay.reset();
  });
  server.listen(path);
  server.unref();
}
