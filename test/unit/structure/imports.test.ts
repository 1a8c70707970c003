// The house's order (docs/ARCHITECTURE.md), read off the import lines: down the floors, never up or sideways; only the API
// server and cli/ see storage; the product imports nothing of test/ or tools/. The lint rule says the same, slower.
import * as fs from "node:fs";
import * as path from "node:path";

const root = path.join(__dirname, "../../..");
const floors = [
  ["cli"],
  ["server", "agent", "network", "scheduler", "controllers", "apiserver-lite"],
  ["eviction", "cri", "client", "storage", "http-kit"],
  ["api", "grpc"],
];
const rooms = floors.flat();
const floorOf = (room: string): number =>
  floors.findIndex((floor) => floor.includes(room));
const seesStorage = new Set(["cli", "apiserver-lite", "storage"]);

function* sources(directory: string): Generator<string> {
  if (!fs.existsSync(directory)) return;
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(file);
    else if (entry.name.endsWith(".ts")) yield file;
  }
}

/** Local files a source names in static and dynamic imports. */
function imported(file: string): string[] {
  const text = fs.readFileSync(file, "utf8");
  return [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^;"']*?from\s*"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)|(?:^|\n)import\s*"(\.[^"]+)"/g,
    ),
  ].map((match) =>
    path.relative(
      root,
      path.resolve(
        path.dirname(file),
        (match[1] ?? match[2] ?? match[3]) as string,
      ),
    ),
  );
}

function problem(room: string, target: string): string | undefined {
  const other = target.split(path.sep)[0]!;
  if (other === room) return undefined;
  if (!rooms.includes(other))
    return room === "cli" && !["test", "tools", "dist"].includes(other)
      ? undefined
      : `${other} is no room`;
  if (other === "storage" && !seesStorage.has(room))
    return "storage is seen by apiserver-lite and cli only";
  return floorOf(other) > floorOf(room) ? undefined : "goes up or sideways";
}

test.each(rooms)("%s/ imports only from the floors below", (room) => {
  const wrong: string[] = [];
  for (const file of sources(path.join(root, room)))
    for (const target of imported(file)) {
      const what = problem(room, target);
      if (what) wrong.push(`${path.relative(root, file)} → ${target}: ${what}`);
    }
  expect(wrong).toEqual([]);
});

test("the rule sees what is forbidden", () => {
  expect(problem("agent", "server/health.ts")).toBeDefined();
  expect(problem("client", "agent/agent.ts")).toBeDefined();
  expect(problem("agent", "storage/store.ts")).toBeDefined();
  expect(problem("api", "test/support/free-port.ts")).toBeDefined();
  expect(problem("cli", "storage/store.ts")).toBeUndefined();
  expect(imported(path.join(root, "cli/server.ts"))).toContain(
    "controllers/manager.ts",
  );
});
