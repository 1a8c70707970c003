// An agent that is killed between the start of a container and the writes into its cgroup: the next one makes up for them.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { adoptContainers } from "../../../cri/docker/adoption.ts";
import type { CallContext } from "../../../cri/docker/call-context.ts";
import {
  containerName,
  labelsOf,
  type ContainerRecord,
} from "../../../cri/docker/records.ts";
import { UnfinishedStarts } from "../../../cri/docker/unfinished-starts.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const idOf = (letter: string): string => letter.repeat(64);

function record(name: string): ContainerRecord {
  return {
    type: "container",
    sandboxId: idOf("0"),
    pod: { name: "p", namespace: "default", uid: "u", attempt: 0 },
    name,
    attempt: 0,
    image: "i",
    imageRef: "i",
    labels: {},
    annotations: { owner: "me" },
    logPath: "",
    cgroup: { parent: "/podu", unified: { "memory.oom.group": "1" } },
  };
}

/** A daemon with containers in these states by the letter of their ids, and their cgroups. */
function daemon(states: Readonly<Record<string, string>>) {
  const mount = directories();
  const file = (letter: string): string =>
    path.join(mount, "podu", idOf(letter), "memory.oom.group");
  for (const letter of Object.keys(states)) {
    fs.mkdirSync(path.dirname(file(letter)), { recursive: true });
    fs.writeFileSync(file(letter), "0");
  }
  const stopped: string[] = [];
  const listed = Object.entries(states).map(([letter, State]) => ({
    Id: idOf(letter),
    Labels: labelsOf(record(letter)),
    Names: [`/${containerName(record(letter))}`],
    State,
  }));
  const starts = new UnfinishedStarts(path.join(mount, "starting"));
  const inspected = (id: string) => {
    const { Labels, Names, State } = listed.find(({ Id }) => Id === id)!;
    const Running = State === "running" && !stopped.includes(id);
    return {
      ...{ Id: id, Name: Names[0], Config: { Labels } },
      State: { Running, Status: Running ? "running" : "exited" },
    };
  };
  const docker = {
    listContainers: () => Promise.resolve(listed),
    getContainer: (id: string) => ({
      inspect: () => Promise.resolve(inspected(id)),
      stop: () => Promise.resolve(void stopped.push(id)),
    }),
  };
  const context = {
    connection: {
      call: (_name: string, ask: (client: typeof docker) => unknown) =>
        ask(docker),
    },
    copiers: {
      begin: () => Promise.resolve(),
      finish: () => Promise.resolve(),
    },
    attachments: { ids: () => Promise.resolve([]) },
    facts: () =>
      Promise.resolve({ cgroupDriver: "cgroupfs", cgroupVersion: 2 }),
    cgroupMount: mount,
    unfinishedStarts: starts,
    logger: pino({ level: "silent" }),
  } as unknown as CallContext;
  return {
    file,
    stopped,
    starts,
    adopt: () => adoptContainers(context, ({ owner }) => owner === "me"),
    value: (letter: string) => fs.readFileSync(file(letter), "utf8"),
  };
}

test("values that were not written are, others stay", async () => {
  const { starts, adopt, value } = daemon({
    ...{ a: "running", b: "running", c: "created", d: "exited" },
  });
  for (const letter of ["a", "c", "d", "e"]) await starts.begin(idOf(letter));
  await adopt();
  expect(["a", "b", "c", "d"].map(value)).toEqual(["1", "0", "0", "0"]);
  // One that was made and not started is left to who starts it.
  expect(await starts.ids()).toEqual([idOf("c")]);
});

test("a container that can't be held to them is stopped", async () => {
  const { starts, stopped, adopt, file } = daemon({ a: "running" });
  await starts.begin(idOf("a"));
  fs.rmSync(file("a"));
  await adopt();
  expect(stopped).toEqual([idOf("a")]);
  expect(await starts.ids()).toEqual([]);
});
