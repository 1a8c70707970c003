// Jest's own runner with two lanes that go on side by side. Suites with containers, daemons and rules of the machine
// (the projects "machine" and "docker") run one after the other: two of them at once on two cores time out. All others run beside them
// in a process of their own, one at a time while the first lane is busy.
const { default: TestRunner } = require("jest-runner");

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
    const isMachine = ({ context }) =>
      ["machine", "docker"].includes(context.config.displayName.name);
    const machine = tests.filter(isMachine);
    const others = tests.filter((test) => !isMachine(test));
    if (machine.length === 0) return super.runTests(others, watcher, options);
    const lane = this.newLane(Math.max(1, this.workers - 1));
    for (const [eventName, listener] of this.listeners)
      lane.on(eventName, listener);
    await Promise.all([
      super.runTests(machine, watcher, { ...options, serial: true }),
      others.length > 0 &&
        lane.runTests(others, watcher, { ...options, serial: false }),
    ]);
  }
};
