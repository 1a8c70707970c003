// A private containerd that is killed comes back by itself, at the same endpoint; released, it is left alone.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { startPrivateContainerd } from "../../../cri/private-containerd/private-containerd.ts";
import { superviseContainerd } from "../../../cri/private-containerd/supervised-containerd.ts";
import { eventually } from "../../support/eventually.ts";
import { processesNaming } from "../../support/processes.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-test-cri-");
const logger = pino({ level: "silent" });

test("killed, it comes back; released, it stays away", async () => {
  const directory = temporary();
  const supervised = await superviseContainerd({ directory, logger });
  const first = supervised.current.pid;
  process.kill(first, "SIGKILL");
  await eventually(
    async () =>
      supervised.current.pid !== first && (await supervised.current.alive()),
  );
  expect(supervised.current.endpoint).toBe(supervised.endpoint);
  await supervised.release();
  const adopted = await startPrivateContainerd({ directory, logger });
  expect(adopted).toMatchObject({ adopted: true, pid: supervised.current.pid });
  await adopted.stop();
  expect(await supervised.current.alive()).toBe(false);
});

test("two starts at once share one containerd or fail clearly", async () => {
  const directory = temporary();
  const first = await startPrivateContainerd({ directory, logger });
  const [second, third] = await Promise.all([
    startPrivateContainerd({ directory, logger }),
    startPrivateContainerd({ directory, logger }),
  ]);
  expect([second.pid, third.pid]).toEqual([first.pid, first.pid]);
  await first.stop();
});

test("one whose record can't be written is ended, not left unknown", async () => {
  const directory = temporary();
  const inTheWay = path.join(directory, "containerd.json.new");
  fs.mkdirSync(inTheWay);
  await expect(startPrivateContainerd({ directory, logger })).rejects.toThrow(
    /EISDIR.*containerd\.json\.new/,
  );
  const configuration = path.join(directory, "config.toml");
  await eventually(() => processesNaming(configuration).length === 0);
  fs.rmdirSync(inTheWay);
  const next = await startPrivateContainerd({ directory, logger });
  expect(processesNaming(configuration)).toEqual([next.pid]);
  await next.stop();
});
