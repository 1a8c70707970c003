// orbitctl --profile: recorded whether the command succeeds or fails, private, and none of the profiles that there are not.
import * as fs from "node:fs";
import * as path from "node:path";
import { runCtl } from "../../../cli/ctl/ctl.ts";
import { UsageError } from "../../../cli/options/table.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

/** A command that needs no server. */
async function patch(...args: string[]): Promise<string> {
  const file = path.join(directories(), "o.json");
  fs.writeFileSync(
    file,
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
  );
  const written: string[] = [];
  const write = jest
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => Boolean(written.push(String(text))));
  try {
    await runCtl(["patch", "--local", "-f", file, "-o", "json", ...args]);
  } finally {
    write.mockRestore();
  }
  return written.join("");
}

test.each([
  ["cpu", "nodes"],
  ["heap", "head"],
])("--profile=%s", async (kind, field) => {
  const output = path.join(directories(), "out");
  expect(
    await patch(
      '-p={"data":{"k":"v"}}',
      `--profile=${kind}`,
      `--profile-output=${output}`,
    ),
  ).toContain('"k": "v"');
  expect(JSON.parse(fs.readFileSync(output, "utf8"))).toHaveProperty(field);
  expect(fs.statSync(output).mode & 0o777).toBe(0o600);
});

test("a command that fails leaves its profile too; a place that can't be written is named", async () => {
  const output = path.join(directories(), "out");
  await expect(
    patch("--profile=cpu", `--profile-output=${output}`),
  ).rejects.toThrow(UsageError);
  expect(fs.existsSync(output)).toBe(true);
  await expect(
    patch("-p={}", "--profile=cpu", "--profile-output=/nowhere/out"),
  ).rejects.toThrow(/--profile-output: ENOENT/);
  await expect(patch("-p={}", "--profile=block")).rejects.toThrow(
    /"block" for "--profile": must be one of none, cpu, heap/,
  );
});
