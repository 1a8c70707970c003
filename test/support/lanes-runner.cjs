// Jest's own runner with two lanes that go on side by side. Suites with containers, daemons and rules of the machine
// (the projects "machine" and "docker") run one after the other: two of them at once on two cores time out. All others run beside them
// in a process of their own, one at a time while the first lane is busy.
// ORBIT_TEST_UNTIL (seconds since 1970) is for a run that must end by a given time: no file is begun later, what says most about
// the program comes first, and what was left out is reported. Without it all files run.
const { default: TestRunner } = require("jest-runner");

const untilMs = Number(process.env.ORBIT_TEST_UNTIL || Infinity) * 1000;
const hasLimit = untilMs < Infinity;
/** Files that are begun beside the machine's without another look at the clock, as each batch has processes of its own. */
const batchSize = () => (untilMs - Date.now() > 300_000 ? 16 : 2);

const nameOf = ({ context }) => context.config.displayName.name;

/** Those of one project before the others, else as jest has them. */
const first = (name, tests) =>
  [true, false].flatMap((is) =>
    tests.filter((test) => (nameOf(test) === name) === is),
  );

/** Runs all of them, or those that can be begun in time. @returns how many were not */
async function runInTime(tests, run, size) {
  if (!hasLimit) {
    if (tests.length > 0) await run(tests);
    return 0;
  }
  const left = [...tests];
  while (left.length > 0 && Date.now() < untilMs)
    await run(left.splice(0, size()));
  return left.length;
}

module.exports = class LanesRunner extends TestRunner {
  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.workers = globalConfig.maxWorkers;
    this.newLane = (maxWorkers) =>
      new TestRunner({ ...globalConfig, maxWorkers }, context);
    this.listeners = [];
  }

  /** Tests of both lanes are reported alike. */
  on(eventName, listener) {
    this.listeners.push([eventName, listener]);
    return super.on(eventName, listener);
  }

  async runTests(tests, watcher, options) {
    const isMachine = (test) => ["machine", "docker"].includes(nameOf(test));
    const machine = first("machine", tests.filter(isMachine));
    const others = first(
      "unit",
      tests.filter((test) => !isMachine(test)),
    );
    const lane =
      machine.length === 0
        ? undefined
        : this.newLane(Math.max(1, this.workers - 1));
    for (const [eventName, listener] of this.listeners)
      lane?.on(eventName, listener);
    const inProcess = (batch) =>
      super.runTests(batch, watcher, { ...options, serial: true });
    const beside = (batch) =>
      lane
        ? lane.runTests(batch, watcher, { ...options, serial: false })
        : super.runTests(batch, watcher, options);
    const leftOut = await Promise.all([
      runInTime(machine, inProcess, () => 1),
      runInTime(others, beside, batchSize),
    ]);
    const files = leftOut[0] + leftOut[1];
    if (files > 0)
      process.stderr.write(
        `${files} of ${tests.length} test files were left out: their time was over (ORBIT_TEST_UNTIL)\n`,
      );
  }
};
