// One transaction at a time: what is asked for while one runs is done after it.
import { pino } from "pino";
import { Ruleset } from "../../../../network/proxy/ruleset.ts";
import { TableSync } from "../../../../network/nft/table-sync.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("the whole is written again when it is asked for while the whole is being written", async () => {
  const scripts: string[] = [];
  const running: (() => void)[] = [];
  const sync = new TableSync({
    what: "service rules",
    scripts: new Ruleset({
      family: 4,
      name: "orbit-proxy",
      podRanges: [],
      serviceRanges: [],
      nodePortRanges: [],
      masqueradeAll: false,
    }),
    run: (script) => {
      scripts.push(script);
      return new Promise((resolve) => running.push(resolve));
    },
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
    onBegin: () => undefined,
    onDone: () => undefined,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  sync.request(true);
  await turn();
  await turn();
  expect(scripts).toHaveLength(1);
  // The kernel has it, somebody deletes it, and only then its writer ends.
  sync.request(true);
  running.shift()!();
  await turn();
  expect(scripts).toHaveLength(2);
  expect(scripts[1]).toBe(scripts[0]);
  expect(sync.inStep).toBe(false);
  running.shift()!();
  await turn();
  expect(sync.inStep).toBe(true);
  await sync.stop();
});
