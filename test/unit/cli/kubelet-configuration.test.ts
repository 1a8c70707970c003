// --config and the drop-ins of --config-dir: what wins, how maps and lists are merged, and that a problem names its file.
import * as fs from "node:fs";
import * as path from "node:path";
import { readAgentOptions } from "../../../cli/agent.ts";
import { checkAgentOptions } from "../../../cli/parts/agent/agent-config.ts";
import { shownConfiguration } from "../../../cli/parts/agent/shown-configuration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();
const head =
  "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/** The options of an agent started with these files; a name without `conf.d/` is --config. */
async function read(
  files: Readonly<Record<string, string>>,
  ...flags: string[]
) {
  const directory = temp();
  fs.mkdirSync(path.join(directory, "conf.d"));
  for (const [name, body] of Object.entries(files)) {
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, body);
  }
  const config = Object.keys(files).find((name) => !name.includes("/"));
  const { values } = await readAgentOptions([
    ...(config ? [`--config=${path.join(directory, config)}`] : []),
    `--config-dir=${path.join(directory, "conf.d")}`,
    ...flags,
  ]);
  return values;
}

test("flags win over drop-ins, later ones over earlier ones, these over the file, that over the defaults", async () => {
  const values = await read(
    {
      "kubelet.yaml": `${head}maxPods: 10\npodsPerCore: 10\nport: 11250\nhealthzPort: 11248\n`,
      "conf.d/20-last.conf": `${head}maxPods: 30\nport: 13250\n`,
      "conf.d/10-first.conf": `${head}maxPods: 20\npodsPerCore: 20\n`,
    },
    "--port=14250",
  );
  expect(values.number("max-pods")).toBe(30);
  expect(values.number("pods-per-core")).toBe(20);
  expect(values.number("port")).toBe(14250);
  expect(values.number("healthz-port")).toBe(11248);
  expect(values.number("node-status-max-images")).toBe(50);
});

test("only *.conf counts, at any depth, each directory in its place", async () => {
  const values = await read({
    "conf.d/10.conf": `${head}maxPods: 1\n`,
    "conf.d/20/b.conf": `${head}maxPods: 2\npodsPerCore: 2\n`,
    "conf.d/30.conf": `${head}maxPods: 3\n`,
    "conf.d/90.yaml": "not a configuration",
  });
  expect(values.number("max-pods")).toBe(3);
  expect(values.number("pods-per-core")).toBe(2);
});

test("maps are merged by key, lists replaced, and null takes a field back", async () => {
  const values = await read({
    "kubelet.yaml": `${head}evictionHard: {memory.available: 1Gi, nodefs.available: 9%}\nclusterDNS: [10.0.0.1]\nmaxPods: 5\n`,
    "conf.d/1.conf": `${head}evictionHard: {memory.available: 2Gi, nodefs.available: null}\nclusterDNS: [10.0.0.2, 10.0.0.3]\nmaxPods: null\n`,
  });
  expect(values.map("eviction-hard")).toEqual({ "memory.available": "<2Gi" });
  expect(values.list("cluster-dns")).toEqual(["10.0.0.2", "10.0.0.3"]);
  expect(values.number("max-pods")).toBe(110);
});

test("a drop-in's thresholds are merged with the defaults when no file says any", async () => {
  const values = await read({
    "conf.d/1.conf": `${head}evictionHard: {memory.available: 2Gi}\n`,
  });
  expect(values.map("eviction-hard")).toMatchObject({
    "memory.available": "<2Gi",
    "nodefs.available": "<10%",
  });
});

test("a file closes the ports, as at the reference; drop-ins alone leave the flags' defaults", async () => {
  const alone = await read({ "conf.d/1.conf": `${head}maxPods: 5\n` });
  expect(alone.flag("anonymous-auth")).toBe(true);
  const withFile = await read({ "kubelet.yaml": head });
  expect(withFile.flag("anonymous-auth")).toBe(false);
  expect(withFile.text("authorization-mode")).toBe("Webhook");
});

test.each([
  [`${head}maxPods: many\n`, /1\.conf:3: maxPods: must be a number$/],
  [`${head}maxpods: 1\n`, /1\.conf:3: maxpods: unknown field$/],
  ["kind: Pod\n", /1\.conf:1: kind: must be KubeletConfiguration/],
  ["[", /1\.conf:1: /],
  ["", /1\.conf: not a KubeletConfiguration/],
])("a bad drop-in %#", async (body, message) => {
  await expect(
    read({ "kubelet.yaml": head, "conf.d/1.conf": body }),
  ).rejects.toThrow(message);
});

test("a directory that does not exist is refused by the option's name", async () => {
  await expect(
    readAgentOptions(["--config-dir=/nonexistent/conf.d"]),
  ).rejects.toThrow(/^--config-dir: ENOENT/);
});

test("the directory of pods' logs", async () => {
  const of = async (body: string): Promise<string> => {
    const values = await read({ "kubelet.yaml": head + body });
    checkAgentOptions(values);
    return values.text("pod-logs-dir");
  };
  expect(await of("")).toBe("/var/log/pods");
  expect(await of("podLogsDir: /srv/logs\n")).toBe("/srv/logs");
  for (const [value, fault] of [
    ["logs", "must be an absolute path"],
    ["/srv/../logs", "must be a normalized path"],
    ["/srv/logs/", "must be a normalized path"],
    ["/srv/lögs", "may contain only printable ASCII characters"],
  ] as const)
    await expect(of(`podLogsDir: ${value}\n`)).rejects.toThrow(
      `podLogsDir "${value}" ${fault}`,
    );
});

test("what is in force reads as a KubeletConfiguration, without secrets", async () => {
  const values = await read(
    {
      "kubelet.yaml": `${head}maxPods: 10
staticPodURLHeader: {Authorization: [Bearer secret]}
shutdownGracePeriodByPodPriority: [{priority: 1000, shutdownGracePeriodSeconds: 30}]
reservedMemory: [{numaNode: 1, limits: {memory: 1Gi, hugepages-2Mi: 2Mi}}]
featureGates: {KubeletPodResourcesGet: true, AllAlpha: false}
evictionHard: {memory.available: 5%}
imageMaximumGCAge: 90s
authentication: {x509: {clientCAFile: /ca.crt}, webhook: {cacheTTL: 1m30s}}
logging: {verbosity: 3}
`,
    },
    "--address=192.0.2.1",
  );
  const shown = (inCluster: boolean) =>
    shownConfiguration({
      ...{ values, inCluster, address: "127.0.0.1" },
      settings: { kind: "KubeletConfiguration", maxPods: 11 },
    });
  expect(shown(false)).toMatchObject({
    kind: "KubeletConfiguration",
    maxPods: 11,
    address: "127.0.0.1",
    healthzPort: 10248,
    syncFrequency: "1m0s",
    imageMaximumGCAge: "1m30s",
    containerLogMaxSize: "10Mi",
    enforceNodeAllocatable: ["pods"],
    evictionHard: { "memory.available": "5%" },
    featureGates: { KubeletPodResourcesGet: true, AllAlpha: false },
    shutdownGracePeriod: "0s",
    shutdownGracePeriodByPodPriority: [
      { priority: 1000, shutdownGracePeriodSeconds: 30 },
    ],
    reservedMemory: [
      { numaNode: 1, limits: { memory: "1Gi", "hugepages-2Mi": "2Mi" } },
    ],
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: "1m30s" },
      x509: { clientCAFile: "/ca.crt" },
    },
    authorization: { mode: "Webhook" },
    logging: { verbosity: 3, flushFrequency: "5s" },
  });
  expect(JSON.stringify(shown(false))).not.toContain("secret");
  expect(shown(true)).toMatchObject({
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: "1m30s" },
    },
    authorization: { mode: "Webhook" },
  });
});

test("in a cluster the port is closed, whatever the options say", async () => {
  const values = await read({});
  const shown = (inCluster: boolean) =>
    shownConfiguration({ values, inCluster, address: "::", settings: {} });
  expect(shown(false)).toMatchObject({
    authentication: { anonymous: { enabled: true } },
    authorization: { mode: "AlwaysAllow" },
  });
  expect(shown(true)).toMatchObject({
    authentication: { anonymous: { enabled: false } },
    authorization: { mode: "Webhook" },
  });
});
