// Jest's own runner, one test file at a time: for suites that share the machine's containers, ports and cores.
const { default: TestRunner } = require("jest-runner");

module.exports = class SerialRunner extends TestRunner {
  constructor(...args) {
    super(...args);
    this.isSerial = true;
  }
};
