// The order of the house (house-plan.ts), read off the import lines, imports of types included: down the floors of the
// rooms and of the places inside them, by a room's door where it has one, no circles; the size of folders and the number of casts only shrink.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  casts,
  doors,
  floors,
  generic,
  innerFloors,
  largerFolders,
  maxFiles,
  namedKinds,
  readersOf,
  rulesDoor,
  withoutServer,
} from "./house-plan.ts";

const root = path.join(__dirname, "../../..");
const rooms = floors.flat();

function* sources(name: string): Generator<string> {
  const at = path.join(root, name);
  if (!fs.existsSync(at)) return;
  if (name.endsWith(".ts")) yield name;
  else if (fs.statSync(at).isDirectory())
    for (const entry of fs.readdirSync(at)) yield* sources(`${name}/${entry}`);
}

const texts = new Map(
  rooms
    .flatMap((room) => [...sources(room)])
    .map((file) => [file, fs.readFileSync(path.join(root, file), "utf8")]),
);

const statement =
  /(?:^|\n)\s*(?:import|export)\b[^;"']*?from\s*"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)|(?:^|\n)import\s*"(\.[^"]+)"/g;

/** Files of the house that a source names in static and dynamic imports. */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(statement)].map((match) =>
    path.posix.join(
      path.posix.dirname(file),
      (match[1] ?? match[2] ?? match[3]) as string,
    ),
  );
}

const imports = new Map(
  [...texts].map(([file, text]) => [file, importsOf(file, text)]),
);

const floorIn = (
  table: readonly (readonly string[])[],
  place: string,
): number => table.findIndex((places) => places.includes(place));

/** What is wrong with an import from one room into another. */
function roomProblem(room: string, target: string): string | undefined {
  const other = target.split("/")[0]!;
  if (other === room) return undefined;
  if (!rooms.includes(other))
    return ["cli", "index.ts"].includes(room) &&
      !["test", "tools", "dist"].includes(other)
      ? undefined
      : `${other} is no room`;
  const open = doors[other]?.map((door) => `${other}/${door}`);
  if (open && !open.includes(target)) return `the doors are ${open.join(", ")}`;
  const readers = readersOf[other];
  if (readers && !readers.includes(room))
    return `${other} is seen by ${readers.join(", ")} only`;
  return floorIn(floors, other) > floorIn(floors, room)
    ? undefined
    : "goes up or sideways";
}

/** The place of a room that a file belongs to. */
function placeOf(room: string, file: string): string | undefined {
  const inside = file.slice(room.length + 1);
  return innerFloors[room]!.flat()
    .filter((place) => inside === place || inside.startsWith(`${place}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** What is wrong with an import inside a room. */
function innerProblem(
  room: string,
  file: string,
  target: string,
): string | undefined {
  if (!target.startsWith(`${room}/`)) return undefined;
  const [from, to] = [placeOf(room, file), placeOf(room, target)];
  if (from === undefined || to === undefined)
    return `${from === undefined ? file : target} has no floor`;
  const table = innerFloors[room]!;
  return from === to || floorIn(table, to) > floorIn(table, from)
    ? undefined
    : `${from} is not above ${to}`;
}

/** Strongly connected components of more than one file (Tarjan). */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const found: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    stack.push(file);
    open.add(file);
    for (const target of graph.get(file)!) {
      if (!graph.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.has(target))
        low.set(file, Math.min(low.get(file)!, low.get(target)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const members = stack.splice(stack.indexOf(file));
    for (const member of members) open.delete(member);
    if (members.length > 1 || graph.get(file)!.includes(file))
      found.push(members);
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

function wrongImports(
  room: string,
  problem: (file: string, target: string) => string | undefined,
): string[] {
  const wrong: string[] = [];
  for (const [file, targets] of imports) {
    if (file !== room && !file.startsWith(`${room}/`)) continue;
    for (const target of targets) {
      const what = problem(file, target);
      if (what) wrong.push(`${file} → ${target}: ${what}`);
    }
  }
  return wrong;
}

test.each(rooms)("%s imports only from the floors below", (room) => {
  expect(
    wrongImports(room, (_file, target) => roomProblem(room, target)),
  ).toEqual([]);
});

test.each(Object.keys(innerFloors))("%s keeps its inner floors", (room) => {
  expect(
    wrongImports(room, (file, target) => innerProblem(room, file, target)),
  ).toEqual([]);
});

test("no files import each other in a circle, not for types either", () => {
  expect(imports.size).toBeGreaterThan(600);
  expect(circles(imports)).toEqual([]);
});

test(`folders hold at most ${maxFiles} files`, () => {
  const sizes = new Map<string, number>();
  for (const file of texts.keys()) {
    const folder = path.posix.dirname(file);
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  }
  const large = [...sizes].filter(([, size]) => size > maxFiles);
  expect(
    large.filter(([folder, size]) => size > (largerFolders[folder] ?? 0)),
  ).toEqual([]);
  // What has become small enough needs no exception any more.
  expect(Object.keys(largerFolders).sort()).toEqual(
    large.map(([folder]) => folder).sort(),
  );
});

test.each(Object.entries(casts))(
  "%s casts through unknown no more often than before",
  (room, { most, border }) => {
    let count = 0;
    for (const [file, text] of texts)
      if (file.startsWith(`${room}/`) && !border.includes(file))
        count += text.match(/\bas unknown as\b/g)?.length ?? 0;
    expect(count).toBeLessThanOrEqual(most);
  },
);

/** What is left of the imports when types are gone. */
function loadedBy(file: string): string[] {
  const text = texts.get(file) ?? "";
  return importsOf(
    file,
    text.replace(
      /(?:^|\n)(?:import|export) (?:type [^;]*|\{(?:\s*type \w+,?)+\s*\} from [^;]*);/g,
      "",
    ),
  );
}

function reachedFrom(entry: string): Set<string> {
  const reached = new Set([entry]);
  for (const file of reached)
    for (const target of loadedBy(file)) reached.add(target);
  return reached;
}

test("the door to the rules of objects loads nothing else", () => {
  const reached = [...reachedFrom(rulesDoor.file)];
  expect(
    reached.filter(
      (file) =>
        file.startsWith("apiserver-lite/") &&
        file !== rulesDoor.file &&
        !rulesDoor.loads.some((place) => file.startsWith(place)),
    ),
  ).toEqual([]);
});

test.each(withoutServer)("%s loads nothing of the API server", (entry) => {
  const rules = reachedFrom(rulesDoor.file);
  const reached = [...reachedFrom(entry)].filter((file) => !rules.has(file));
  expect(reached.length).toBeGreaterThan(2);
  expect(reached.filter((file) => file.startsWith("apiserver-lite/"))).toEqual(
    [],
  );
});

test("the library loads the API server", () => {
  expect(reachedFrom("index.ts")).toContain("apiserver-lite/server.ts");
});

const kindName = /(?<!typeof )\b(?:kind|resource) [!=]== "[A-Za-z]+"/g;

test("generic places compare with the name of no kind", () => {
  const named: string[] = [];
  for (const [file, text] of texts)
    if (generic.some((place) => file.startsWith(`${place}/`)))
      for (const [found] of text.matchAll(kindName))
        named.push(`${file} ${found}`);
  expect(named.sort()).toEqual([...namedKinds].sort());
});

test("the rules see what is forbidden", () => {
  expect(roomProblem("agent", "server/health.ts")).toBeDefined();
  expect(roomProblem("client", "agent/agent.ts")).toBeDefined();
  expect(roomProblem("agent", "storage/store.ts")).toBeDefined();
  expect(roomProblem("api", "test/support/free-port.ts")).toBeDefined();
  expect(roomProblem("index.ts", "test/support/free-port.ts")).toBeDefined();
  expect(roomProblem("cli", "storage/store.ts")).toBeUndefined();
  expect(roomProblem("cli", "apiserver-lite/server.ts")).toBeDefined();
  expect(roomProblem("cli", "apiserver-lite/index.ts")).toBeUndefined();
  expect(imports.get("cli/cluster/controllers-part.ts")).toContain(
    "controllers/manager.ts",
  );

  const inner = (from: string, to: string): string | undefined =>
    innerProblem(
      "apiserver-lite",
      `apiserver-lite/${from}`,
      `apiserver-lite/${to}`,
    );
  expect(inner("serving/a.ts", "front/b.ts")).toBeDefined();
  expect(inner("discovery/a.ts", "health/b.ts")).toBeDefined();
  expect(inner("admission/plugin.ts", "admission/plugins/a.ts")).toBeDefined();
  expect(inner("admission/plugins/a.ts", "admission/plugin.ts")).toBe(
    undefined,
  );
  expect(inner("unknown/a.ts", "registry/b.ts")).toContain("has no floor");

  expect(
    importsOf(
      "a/b.ts",
      'import type { X } from "./x.ts";\nexport * from "../y.ts";\nconst z = await import("./z.ts");\nlet t: import("./t.ts").T;\n',
    ),
  ).toEqual(["a/x.ts", "y.ts", "a/z.ts", "a/t.ts"]);
  expect('if (info.kind === "Pod") x'.match(kindName)).toHaveLength(1);
  const circle = (graph: Record<string, string[]>): string[][] =>
    circles(new Map(Object.entries(graph)));
  expect(circle({ a: ["b"], b: ["c"], c: ["a"], d: ["a"] })).toEqual([
    ["a", "b", "c"],
  ]);
  expect(circle({ a: ["b", "c"], b: ["c"], c: [] })).toEqual([]);
});

test("no function makes a generator function", () => {
  // Each time one is made and called the engine makes a hidden class for it, which keeps all that the function refers to,
  // a whole request say, until the next full collection: a function of the file or a method does not.
  const inner = /^[ \t]+(?:[^/\n]*[ (=])?(?:async )?function\*/m;
  const found = [...texts].filter(
    ([file, text]) => file !== "client/http-watch.ts" && inner.test(text),
  );
  expect(found.map(([file]) => file)).toEqual([]);
});

test("the agent and its runtimes make no directories by a recursive mkdir", () => {
  // It hides a full or read-only file system behind ENOENT: cri/directories.ts.
  const recursive = /\bmkdir\([^;]*?recursive: true/;
  const found = [...texts].filter(
    ([file, text]) => /^(?:agent|cri)\//.test(file) && recursive.test(text),
  );
  expect(found.map(([file]) => file)).toEqual([]);
});

test("no function that requests call makes an object literal with an accessor", () => {
  // The engine makes a hidden class for each such literal, which keeps what its accessor refers to, as above.
  const rooms = /^(?:api|apiserver-lite|client|http-kit|storage)\//;
  const inner = /^(?: {4,}|\t{2,})(?:get|set) [\w[.\]]+\(/m;
  const perKind = [
    "apiserver-lite/custom/custom-kind.ts",
    "apiserver-lite/printing/table.ts",
  ];
  const found = [...texts.keys()].filter(
    (file) => rooms.test(file) && inner.test(texts.get(file)!),
  );
  expect(found.sort()).toEqual(perKind);
});
