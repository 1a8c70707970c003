// A transaction is over when the kernel has it, not only when nft has ended.
import { nftCommand } from "../../../../network/nft/nft-command.ts";
import { OwnProcesses } from "../../../../network/nft/own-processes.ts";

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
  const processes = new OwnProcesses();
  for (let pid = 1; pid <= 65; pid++) processes.add(pid, () => undefined);
  expect(processes.has(1)).toBe(false);
  expect(processes.has(2)).toBe(true);
  expect(processes.has(65)).toBe(true);
});
