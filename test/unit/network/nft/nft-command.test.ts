// A transaction is over when the kernel has it, not only when nft has ended.
import { pino } from "pino";
import { nftCommand } from "../../../../network/nft/nft-command.ts";
import { NftMonitor } from "../../../../network/nft/nft-monitor.ts";
import { OwnProcesses } from "../../../../network/nft/own-processes.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** In place of nft: reads the script and then does this. */
function program(then: string): readonly string[] {
  return ["sh", "-c", `cat > /dev/null; ${then}`];
}

class Watched extends OwnProcesses {
  readonly pids: number[] = [];

  override add(pid: number, onCommitted: () => void): void {
    this.pids.push(pid);
    super.add(pid, onCommitted);
  }
}

test("a transaction is over when the kernel reports it", async () => {
  const processes = new Watched();
  const run = nftCommand({ wrapper: program("exec sleep 60"), processes });
  const done = run("add table ip x\n");
  const [pid = 0] = processes.pids;
  processes.committed(pid + 1);
  processes.committed(pid);
  await done;
  process.kill(pid);
});

test("what is not reported is over when nft ends, and fails with its text", async () => {
  const processes = new OwnProcesses();
  await nftCommand({ wrapper: program("exit 0"), processes })("\n");
  await expect(
    nftCommand({
      wrapper: program("echo 'Error: no such table' >&2; exit 1"),
      processes,
    })("\n"),
  ).rejects.toThrow("nft: Error: no such table");
});

test("old processes are forgotten", () => {
  const processes = new OwnProcesses(true);
  for (let pid = 1; pid <= 65; pid++) processes.add(pid, () => undefined);
  expect(processes.made(1)).toBe(false);
  expect(processes.made(2)).toBe(true);
  expect(processes.made(65)).toBe(true);
});

describe("where reports have other numbers than our processes", () => {
  const clock = new FakeClock();
  const processes = (): OwnProcesses => new OwnProcesses(false, clock);

  test("as many transactions are our own as processes were started", () => {
    const own = processes();
    own.add(1, () => undefined);
    own.add(2, () => undefined);
    expect([own.made(71), own.made(72), own.made(73)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("one that failed, ended long ago without a report or before the monitor began, made none", () => {
    const own = processes();
    own.add(1, () => undefined);
    own.ended(1, true);
    expect(own.made(71)).toBe(false);
    own.add(2, () => undefined);
    own.ended(2, false);
    clock.advance(1500);
    own.add(3, () => undefined);
    own.ended(3, false);
    clock.advance(1500);
    expect([own.made(72), own.made(73)]).toEqual([true, false]);
    own.add(4, () => undefined);
    own.ended(4, false);
    own.monitored();
    expect(own.made(74)).toBe(false);
  });

  test("no transaction is taken for the end of a process", async () => {
    const own = processes();
    let over = false;
    own.add(1, () => (over = true));
    own.made(1);
    own.committed(1);
    expect(over).toBe(false);
  });

  test("our own replacement of a table is no deletion, what follows is one", async () => {
    const own = processes();
    own.add(1, () => undefined);
    const deletions: boolean[] = [];
    let monitor: NftMonitor | undefined;
    await new Promise<void>((resolve) => {
      monitor = new NftMonitor({
        processes: own,
        tables: ["ip t"],
        onDeleted: () => {
          // Of the second transaction nothing is left to count.
          deletions.push(own.made(0));
          resolve();
        },
        clock,
        logger: pino({ level: "silent" }),
        wrapper: [
          ...["sh", "-c"],
          `echo 'add table ip other
# new generation 2 by process 70 (nft)
delete table ip t
add table ip t
# new generation 3 by process 71 (nft)
delete chain ip t c
# new generation 4 by process 72 (nft)'; exec sleep 60`,
        ],
      });
      monitor.start();
    });
    monitor?.stop();
    expect(deletions).toEqual([false]);
  });
});
