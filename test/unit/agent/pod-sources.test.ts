// What the three sources give to workers and mirrors, and when a source counts as complete: only then may what it no
// longer has be ended.
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import pino from "pino";
import { objectProblems } from "../../../apiserver-lite/object-rules.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  configMirrorAnnotation,
  podSource,
} from "../../../agent/pods/shape/labels.ts";
import { PodSources } from "../../../agent/sources/pod-sources.ts";
import type { Client } from "../../../client/client.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

interface Handler {
  onAdd(pod: Pod): void;
  onUpdate(before: Pod, after: Pod): void;
  onDelete(last: Pod): void;
}

function fakeApi() {
  const state = { handler: undefined as Handler | undefined, selector: "" };
  let synced = (): void => undefined;
  const client = {
    informer: (_ref: unknown, options: { fieldSelector: string }) => {
      state.selector = options.fieldSelector;
      return {
        addHandler(handler: Handler) {
          state.handler = handler;
          return () => (state.handler = undefined);
        },
        synced: () => new Promise<void>((resolve) => (synced = resolve)),
      };
    },
  } as unknown as Client;
  return { client, state, sync: () => synced() };
}

function sourcesOf(
  config: { manifestsDirectory?: string; manifestUrl?: string },
  client?: Client,
) {
  const said: string[] = [];
  const complete = new Set<string>();
  const problems: string[] = [];
  const clock = new FakeClock();
  const sources = new PodSources({
    rules: objectProblems,
    config: {
      nodeName: "n",
      manifestsDirectory: config.manifestsDirectory,
      fileCheckFrequencyMs: 20_000,
      manifestUrl: config.manifestUrl,
      manifestUrlHeaders: {},
      featureGates: {},
      httpCheckFrequencyMs: 1000,
    },
    client,
    pods: {
      set: (pod) => said.push(`set ${pod.metadata.name} ${podSource(pod)}`),
      remove: (uid, last) =>
        said.push(`remove ${last ? last.metadata.name : "static"}`),
      endOrphans(isComplete) {
        complete.clear();
        for (const source of ["api", "file", "http", "other"])
          if (isComplete(source)) complete.add(source);
      },
    },
    mirrors: {
      setStatic: (pods, all) =>
        said.push(
          `mirrors [${pods.map(({ metadata }) => metadata.name).join()}]${all ? " all" : ""}`,
        ),
      onMirror: (mirror) => said.push(`mirror ${mirror.metadata.name}`),
      onMirrorDeleted: (mirror) =>
        said.push(`mirror gone ${mirror.metadata.name}`),
      ready: () => said.push("ready"),
    },
    onOthers: () => undefined,
    takeOther: (object) => object,
    onProblem: (_origin, message) => problems.push(message),
    clock,
    logger: pino({ level: "silent" }),
  });
  cleanups.push(() => sources.stop());
  return { sources, said, complete, problems, clock };
}

const manifest = (name: string, image = "i"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image }] },
});

function put(directory: string, pod: Pod): void {
  const file = path.join(directory, `${pod.metadata.name}.json`);
  fs.writeFileSync(`${file}~`, JSON.stringify(pod));
  fs.renameSync(`${file}~`, file);
}

test("without any source everything is complete at once", async () => {
  const { sources, said, complete } = sourcesOf({});
  await sources.start();
  expect(said).toEqual(["mirrors [] all"]);
  expect(sources.complete).toBe(true);
  expect([...complete].sort()).toEqual(["api", "file", "http"]);
});

test("bound pods go to workers, mirrors to mirrors; the API is complete when it is listed", async () => {
  const api = fakeApi();
  const { sources, said, complete } = sourcesOf({}, api.client);
  await sources.start();
  expect(api.state.selector).toBe("spec.nodeName=n");
  expect(complete.has("api")).toBe(false);
  expect(sources.complete).toBe(false);
  said.length = 0;
  const pod = { ...manifest("a"), metadata: { name: "a", uid: "u" } };
  const mirror = {
    ...manifest("m"),
    metadata: { name: "m", annotations: { [configMirrorAnnotation]: "h" } },
  };
  const { handler } = api.state;
  handler!.onAdd(pod);
  handler!.onAdd(mirror);
  handler!.onUpdate(pod, pod);
  handler!.onDelete(pod);
  handler!.onDelete(mirror);
  expect(said).toEqual([
    "set a api",
    "mirror m",
    "set a api",
    "remove a",
    "mirror gone m",
  ]);
  api.sync();
  await settle();
  expect(said.at(-1)).toBe("ready");
  expect(complete.has("api")).toBe(true);
  expect(complete.has("other")).toBe(false);
  await sources.stop();
  expect(api.state.handler).toBeUndefined();
});

test("a changed manifest takes the place of its pod, an unchanged one changes nothing", async () => {
  const directory = directories();
  put(directory, manifest("a"));
  put(directory, manifest("b"));
  const { sources, said, complete } = sourcesOf({
    manifestsDirectory: directory,
  });
  await sources.start();
  expect(said.filter((each) => each.startsWith("set")).sort()).toEqual([
    "set a-n file",
    "set b-n file",
  ]);
  expect(said.at(-1)).toBe("mirrors [a-n,b-n] all");
  expect(complete.has("file")).toBe(true);
  said.length = 0;
  put(directory, manifest("a"));
  put(directory, manifest("b", "other"));
  await eventually(() => said.includes("set b-n file"));
  fs.rmSync(path.join(directory, "a.json"));
  await eventually(() => said.at(-1) === "mirrors [b-n] all");
  expect(said.filter((each) => /^(set|remove)/.test(each))).toEqual([
    "remove static",
    "set b-n file",
    "remove static",
  ]);
});

test("an address that can't be read is not complete, and what it gave once stays", async () => {
  const directory = directories();
  put(directory, manifest("a"));
  let answer: { status: number; text: string } = { status: 503, text: "" };
  const server = http.createServer((_request, response) => {
    response.statusCode = answer.status;
    response.end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { sources, said, complete, problems, clock } = sourcesOf({
    manifestsDirectory: directory,
    manifestUrl: `http://127.0.0.1:${port}/`,
  });
  await sources.start();
  await eventually(() => problems.length === 1);
  expect(said.at(-1)).toBe("mirrors [a-n]");
  expect([...complete].sort()).toEqual(["api", "file"]);
  expect(sources.complete).toBe(false);
  answer = { status: 200, text: JSON.stringify(manifest("w")) };
  await eventually(async () => {
    await clock.advanceAsync(1000);
    return said.includes("set w-n http");
  });
  expect(said.at(-1)).toBe("mirrors [a-n,w-n] all");
  expect(sources.complete).toBe(true);
  answer = { status: 503, text: "" };
  await eventually(async () => {
    await clock.advanceAsync(1000);
    return problems.length === 2;
  });
  expect(said.filter((each) => each.startsWith("remove"))).toEqual([]);
  expect(sources.complete).toBe(true);
});
