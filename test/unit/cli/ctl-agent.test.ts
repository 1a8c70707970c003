// orbitctl against a node agent's port: which objects it shows and deletes, and what it refuses there.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { runCtl } from "../../../cli/ctl/ctl.ts";

const pod = (name: string, labels: object, phase = "Running"): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: name, labels },
  spec: { nodeName: "n", containers: [{ name: "c" }] },
  status: { phase },
});

let server: Server;
let pods: { metadata: { name: string } }[];
let deleted: string[];

beforeEach(async () => {
  pods = [
    pod("a", { app: "web" }),
    pod("b", { app: "db" }, "Failed"),
  ] as unknown as typeof pods;
  deleted = [];
  server = createServer((request, response) => {
    const url = request.url ?? "";
    const items =
      url === "/pods"
        ? pods
        : url === "/directory/services"
          ? [
              {
                kind: "Service",
                metadata: { name: "s", namespace: "default" },
                spec: {},
              },
            ]
          : undefined;
    if (request.method === "DELETE") {
      const name = url.split("/").at(-1)!;
      deleted.push(name);
      pods = pods.filter(({ metadata }) => metadata.name !== name);
    }
    const found = items ?? (request.method === "DELETE" ? [] : undefined);
    response.writeHead(found ? 200 : 404, {
      "content-type": "application/json",
    });
    response.end(
      JSON.stringify(found ? { items: found } : { kind: "Status", code: 404 }),
    );
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve()),
  );
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What it printed; a UsageError as its text. */
async function ctl(...words: string[]): Promise<string> {
  let text = "";
  const take = (piece: unknown): boolean => {
    text += String(piece);
    return true;
  };
  const spies = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, "write").mockImplementation(take),
  );
  const { port } = server.address() as AddressInfo;
  const listeners = process.stdout.listeners("error");
  try {
    await runCtl([...words, "--server", `http://127.0.0.1:${port}`]);
  } catch (error) {
    text += (error as Error).message;
  } finally {
    for (const spy of spies) spy.mockRestore();
    // A command listens until its process ends.
    for (const each of process.stdout.listeners("error"))
      if (!listeners.includes(each))
        process.stdout.off("error", each as () => void);
  }
  return text;
}

it.each([
  [["get", "pods", "-o", "name"], "pod/a\npod/b\n"],
  [["get", "pods", "-l", "app=web", "-o", "name"], "pod/a\n"],
  [["get", "pods", "-l", "app!=web", "-o", "name"], "pod/b\n"],
  [
    ["get", "pods", "--field-selector", "status.phase=Failed", "-o", "name"],
    "pod/b\n",
  ],
  [["get", "pods", "-l", "app=no"], "No resources found\n"],
  [["get", "po,svc", "-o", "name"], "pod/a\npod/b\nservice/s\n"],
  [["get", "all", "-o", "name"], "pod/a\npod/b\nservice/s\n"],
  [
    ["get", "pods", "--sort-by={.status.phase}", "-o", "name"],
    "pod/b\npod/a\n",
  ],
  [["get", "pod", "none", "--ignore-not-found"], ""],
  [["delete", "pods", "-l", "app=no"], "No resources found\n"],
])("%j", async (words, want) => {
  expect(await ctl(...words)).toBe(want);
});

it.each([
  [["get", "pods", "a", "-l", "app=web"], /name cannot be provided when/],
  [["get", "pods", "-l", "app in ("], /BadRequest/],
  [["get", "pods", "--field-selector", "spec.x=1"], /not supported: spec.x/],
  [["get", "pods,deploy"], /has no "deploy"/],
  [["get", "pods", "-w"], /--watch: .*no watches/],
  [["get", "-f", "x.yaml"], /--filename/],
  [["get", "pod", "none"], /NotFound/],
  [["delete", "pods"], /no name was specified/],
  [["delete", "pods", "a", "-l", "app=web"], /name cannot be provided when/],
])("refuses %j", async (words, message) => {
  expect(await ctl(...words)).toMatch(message);
  expect(deleted).toEqual([]);
});

it("deletes what a selector selects, and nothing else", async () => {
  expect(await ctl("delete", "pods", "-l", "app=db")).toBe('pod "b" deleted\n');
  expect(deleted).toEqual(["b"]);
});

it("names the unknown command behind an option with its value", async () => {
  await expect(runCtl(["--server", "https://x", "nonsense"])).rejects.toThrow(
    'unknown command "nonsense"',
  );
});
