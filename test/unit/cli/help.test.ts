// Every command of the program explains itself: --help and -h print its usage and end with 0, whatever else is given.
import { ctlCommands } from "../../../cli/ctl/ctl.ts";
import { runProgram, subcommands } from "../../../cli/program.ts";

async function run(args: readonly string[]): Promise<[number, string, string]> {
  let stdout = "";
  let stderr = "";
  const spies = [
    jest
      .spyOn(process.stdout, "write")
      .mockImplementation((text) => ((stdout += String(text)), true)),
    jest
      .spyOn(process.stderr, "write")
      .mockImplementation((text) => ((stderr += String(text)), true)),
  ];
  try {
    return [(await runProgram(args)) ?? -1, stdout, stderr];
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const lines: string[][] = [
  [],
  ...subcommands.map(({ name }) => [name]),
  ["version"],
  ["remove-pods", "--root-dir=/x"],
  ["store", "snapshot", "save"],
  ["store", "migrate"],
  ["image", "load"],
  ...Object.keys(ctlCommands).map((name) => ["ctl", name]),
];

test.each(lines.flatMap((line) => [[[...line, "--help"]], [[...line, "-h"]]]))(
  "orbit %j prints its usage",
  async (line) => {
    const [code, stdout, stderr] = await run(line);
    expect(stdout).toMatch(/^Usage: \S+/);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  },
);
