// Whose credentials an image is pulled with: pull secrets before the node's, the more specific entry first, and that what
// can't be read is reported without its text.
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import type { Pod, Secret } from "../../../../api/types/core-v1.ts";
import { PodEvents } from "../../../../agent/events/pod-events.ts";
import { DockerConfigFiles } from "../../../../agent/images/docker-config-files.ts";
import {
  ImageCredentials,
  type NodeCredentials,
} from "../../../../agent/images/image-credentials.ts";
import {
  registryKey,
  repositoryName,
  servesRepository,
} from "../../../../agent/images/registry-keys.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const temp = useTempDirectories();

test.each([
  ["busybox", "docker.io/library/busybox"],
  ["busybox:1.36", "docker.io/library/busybox"],
  ["team/app@sha256:abc", "docker.io/team/app"],
  ["index.docker.io/team/app", "docker.io/team/app"],
  ["localhost/app:1", "localhost/app"],
  ["registry:5000/team/app:1", "registry:5000/team/app"],
  ["ghcr.io/a/b:v1@sha256:abc", "ghcr.io/a/b"],
])("the repository of %s is %s", (image, repository) => {
  expect(repositoryName(image)).toBe(repository);
});

test.each([
  ["https://index.docker.io/v1/", "index.docker.io"],
  ["http://host:5000/v2/", "host:5000"],
  ["host/v2/team", "host/team"],
  ["host/team/", "host/team"],
])("the key of %s is %s", (location, key) => {
  expect(registryKey(location)).toBe(key);
});

test.each([
  ["ghcr.io", "ghcr.io/a/b", true],
  ["*.example.com", "a.example.com/x", true],
  ["*.example.com", "a.b.example.com/x", false],
  ["*.dkr.ecr.*.amazonaws.com", "1.dkr.ecr.eu.amazonaws.com/x", true],
  ["app*.example.com", "app-1.example.com/x", true],
  ["app?.example.com", "app12.example.com/x", false],
  ["host:5000", "host/x", false],
  ["host:5000/team", "host:5000/team/x", true],
  ["host/team", "host/other/x", false],
  [`${"*a".repeat(40)}b.io`, `${"a".repeat(5000)}.io/x`, false],
])("%s serves %s: %s", (key, repository, serves) => {
  expect(servesRepository(key, repository)).toBe(serves);
});

const base64 = (value: string): string => Buffer.from(value).toString("base64");
const secretOf = (auths: object): Secret => ({
  metadata: { name: "s", namespace: "default" },
  type: "kubernetes.io/dockerconfigjson",
  data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
});

function credentials(
  secrets: Readonly<Record<string, Secret>>,
  ...node: NodeCredentials[]
) {
  const reported: string[] = [];
  const found = new ImageCredentials({
    secret: async (_namespace, name) => secrets[name],
    node,
    events: new PodEvents(
      {
        event: (_object, type, reason, message) =>
          reported.push(`${type} ${reason}: ${message}`),
      },
      () => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } }),
    ),
  });
  return {
    reported,
    async users(image: string, ...pullSecrets: string[]) {
      const auths = await found.find(
        {
          metadata: { name: "p", namespace: "default" },
          spec: {
            containers: [],
            imagePullSecrets: pullSecrets.map((name) => ({ name })),
          },
        } as Pod,
        image,
      );
      return auths.map(({ username }) => username);
    },
  };
}

const entry = (user: string) => ({ auth: base64(`${user}:pass:word`) });
const fixed = (user: string, key: string): NodeCredentials => ({
  find: async () => [{ key, auth: { username: user } }],
});

test("pull secrets come before the node's credentials, the more specific first", async () => {
  const { users, reported } = credentials(
    {
      one: secretOf({ "ghcr.io": entry("wide"), "other.io": entry("no") }),
      two: secretOf({ "https://ghcr.io/team": entry("narrow") }),
    },
    fixed("node", "ghcr.io"),
  );
  expect(await users("ghcr.io/team/app:1", "one", "two")).toEqual([
    "narrow",
    "wide",
    "node",
  ]);
  expect(await users("quay.io/app")).toEqual([]);
  expect(reported).toEqual([]);
});

test("a pair counts before the user beside it", async () => {
  const { users } = credentials({
    both: secretOf({
      "ghcr.io": { ...entry("pair"), username: "beside", password: "x" },
    }),
    plain: secretOf({ "ghcr.io": { username: "plain", password: "x" } }),
  });
  expect(await users("ghcr.io/app", "both", "plain")).toEqual([
    "pair",
    "plain",
  ]);
});

test("credentials of Docker Hub serve its images, however they are named", async () => {
  const { users } = credentials({
    hub: secretOf({ "https://index.docker.io/v1/": entry("hub") }),
  });
  expect(await users("busybox", "hub")).toEqual(["hub"]);
  expect(await users("docker.io/team/app", "hub")).toEqual(["hub"]);
  expect(await users("ghcr.io/team/app", "hub")).toEqual([]);
});

test("missing and malformed secrets are reported by name alone", async () => {
  const { users, reported } = credentials({
    good: secretOf({ "ghcr.io": entry("good") }),
    bad: {
      metadata: { name: "bad" },
      data: { ".dockerconfigjson": base64("{SECRET") },
    },
    list: secretOf(["SECRET"] as object),
  });
  expect(await users("ghcr.io/x", "none", "good", "bad", "list")).toEqual([
    "good",
  ]);
  expect(reported).toEqual([
    "Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (none, bad); attempting to pull the image may not succeed.",
  ]);
});

test("the agent's own docker configuration serves all pods, and is read again after five minutes", async () => {
  const rootDirectory = temp();
  const clock = new FakeClock();
  const files = new DockerConfigFiles({
    rootDirectory,
    clock,
    logger: pino({ level: "silent" }),
  });
  const write = (user: string): void =>
    fs.writeFileSync(
      path.join(rootDirectory, "config.json"),
      JSON.stringify({ auths: { "ghcr.io": entry(user) } }),
    );
  const { users } = credentials({}, files);
  write("first");
  expect(await users("ghcr.io/x")).toEqual(["first"]);
  write("second");
  expect(await users("ghcr.io/x")).toEqual(["first"]);
  clock.advance(300_000);
  expect(await users("ghcr.io/x")).toEqual(["second"]);
});
