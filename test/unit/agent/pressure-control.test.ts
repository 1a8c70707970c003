// The looks at the node's pressure go on while the runtime does not answer.
import { tmpdir } from "node:os";
import pino from "pino";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { PressureControl } from "../../../agent/node/pressure.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";

type Options = ConstructorParameters<typeof PressureControl>[0];

test("a runtime that hangs holds up no look", async () => {
  const clock = new FakeClock();
  const spaces: number[] = [];
  const imageFsInfo = jest
    .fn()
    .mockResolvedValueOnce([{ mountpoint: tmpdir() }])
    .mockReturnValue(new Promise(() => undefined));
  const control = new PressureControl({
    config: resolveAgentConfig({
      nodeName: "n",
      rootDirectory: tmpdir(),
      evictionHard: {},
      localStorageCapacityIsolation: false,
    }),
    runtime: { imageFsInfo },
    cgroups: { usage: () => Promise.resolve({}) },
    pods: () => [],
    onChange: () => undefined,
    onDiskSpace: (bytes: number) => spaces.push(bytes),
    clock,
    logger: pino({ level: "silent" }),
  } as unknown as Options);
  control.start();
  await eventually(() => spaces.length > 0);
  // Later than where images lie is looked up again.
  await eventually(
    () => {
      clock.advance(301_000);
      return spaces.length > 3;
    },
    { timeoutMs: 5000, what: "more looks" },
  );
  expect(imageFsInfo.mock.calls.length).toBeGreaterThan(1);
  control.stop();
});
