// How orbitctl prints what it got, and what it says of a command that it does not have.
import type { AnyObject } from "../../../api/object.ts";
import { runCtl } from "../../../cli/ctl/ctl.ts";
import { getCommand } from "../../../cli/ctl/get.ts";
import { createPrinter, tableText } from "../../../cli/ctl/output.ts";
import { parseOptions } from "../../../cli/options/parse.ts";

const list = {
  apiVersion: "v1",
  kind: "List",
  metadata: {},
  items: [{ metadata: { name: "a" } }, { metadata: { name: "bb" } }],
} as unknown as AnyObject;

const printed = async (...argv: string[]): Promise<string> =>
  await createPrinter(
    parseOptions([{ title: "Options", options: getCommand.options }], argv),
  )!(list);

test("custom columns have a header unless none is wanted", async () => {
  const columns = "-o=custom-columns=N:.metadata.name,U:.metadata.uid";
  expect(await printed(columns)).toBe("N    U\na    <none>\nbb   <none>\n");
  expect(await printed(columns, "--no-headers")).toBe(
    "a    <none>\nbb   <none>\n",
  );
});

test("labels are in the order of their names", () => {
  const table = {
    columnDefinitions: [
      {
        name: "Name",
        type: "string",
        format: "",
        description: "",
        priority: 0,
      },
    ],
    rows: [
      {
        cells: ["a"],
        object: { metadata: { name: "a", labels: { z: "1", b: "2" } } },
      },
    ],
  };
  expect(
    tableText(
      table as never,
      {
        wide: false,
        headers: false,
        namespaces: false,
        labelColumns: [],
        showLabels: true,
      } as never,
    ),
  ).toBe("a   b=2,z=1\n");
});

test.each([
  [["bogus"]],
  [["-n", "web", "bogus"]],
  [["--server", "https://127.0.0.1:1", "-n=web", "bogus", "pods"]],
])("%j names the command that there is not", async (argv) => {
  await expect(runCtl(argv)).rejects.toThrow(
    'unknown command "bogus" for "orbitctl"',
  );
});
