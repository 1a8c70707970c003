import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { parseOptions } from "../../../cli/options/parse.ts";
import { schedulerOptions } from "../../../cli/options/scheduler.ts";
import {
  planScheduler,
  writeConfiguration,
} from "../../../cli/parts/scheduler/scheduler-plan.ts";
import { argumentsOf } from "../../../scheduler/configuration/defaults.ts";

const directory = mkdtempSync(path.join(os.tmpdir(), "scheduler-config-"));
const file = path.join(directory, "config.yaml");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const head =
  "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

function plan(text: string, ...options: string[]) {
  writeFileSync(file, text);
  return planScheduler(
    parseOptions(schedulerOptions, [`--config=${file}`, ...options]),
    {},
  );
}

test("without a file the options say what it would", async () => {
  const { configuration, values, initialBackoffMs } = await planScheduler(
    parseOptions(schedulerOptions, [
      "--kube-api-qps=7",
      "--leader-elect=false",
      "--leader-elect-lease-duration=1m",
    ]),
    {},
  );
  expect(configuration.clientConnection.qps).toBe(7);
  expect(configuration.leaderElection).toMatchObject({
    leaderElect: false,
    leaseDuration: "1m0s",
  });
  expect(values.number("kube-api-qps")).toBe(7);
  expect(initialBackoffMs).toBeUndefined();
});

test("a file is completed with the defaults", async () => {
  const { configuration, warnings, initialBackoffMs } = await plan(`${head}
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
percentageOfNodesToScore: 30
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled: [{name: ImageLocality, weight: 9}]
- schedulerName: packing
  percentageOfNodesToScore: 100
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        type: MostAllocated
`);
  expect(warnings).toEqual([]);
  expect(initialBackoffMs).toBe(2000);
  expect(configuration).toMatchObject({
    podMaxBackoffSeconds: 20,
    percentageOfNodesToScore: 30,
  });
  expect(
    argumentsOf(configuration.profiles[1]!, "NodeResourcesFit"),
  ).toMatchObject({ scoringStrategy: { type: "MostAllocated" } });
});

test("beside a file options of leader election win, and deprecated ones have no meaning", async () => {
  const text = `${head}
leaderElection: {leaderElect: true, leaseDuration: 40s, renewDeadline: 20s}
clientConnection: {kubeconfig: /from/file, qps: 11}
enableProfiling: false
`;
  const { values, configuration } = await plan(
    text,
    "--leader-elect-lease-duration=30s",
    "--kubeconfig=/from/option",
    "--kube-api-qps=99",
    "--kube-api-burst=99",
    "--profiling=true",
  );
  expect(values.text("kubeconfig")).toBe("/from/file");
  expect(values.number("kube-api-qps")).toBe(11);
  expect(values.isSet("kube-api-burst")).toBe(false);
  expect(values.flag("profiling")).toBe(false);
  expect(values.number("leader-elect-lease-duration")).toBe(30_000);
  expect(values.number("leader-elect-renew-deadline")).toBe(20_000);
  expect(configuration.leaderElection).toMatchObject({
    leaderElect: true,
    leaseDuration: "30s",
    renewDeadline: "20s",
  });
  // The option makes of it what does not go together.
  await expect(plan(text, "--leader-elect-lease-duration=10s")).rejects.toThrow(
    `${file}:4: leaderElection.leaseDuration: Invalid value: "20s": LeaseDuration must be greater than RenewDeadline`,
  );
});

test("the specification's dialect is understood", async () => {
  const { configuration } = await plan(
    head.replace(
      "kubescheduler.config.k8s.io",
      "kubescheduler.config.orbit.io",
    ),
  );
  expect(configuration.profiles).toHaveLength(1);
});

test("what is accepted and does nothing is warned about", async () => {
  const { warnings } = await plan(`${head}
parallelism: 4
clientConnection: {acceptContentTypes: application/json}
profiles:
- pluginConfig:
  - name: NodeResourceFit
    args: {anything: true}
`);
  expect(warnings).toEqual([
    "parallelism: 4: one thread looks at all nodes",
    "clientConnection.acceptContentTypes has no effect",
    'profiles[0].pluginConfig: no plug-in "NodeResourceFit" takes arguments',
  ]);
});

test.each<[string, string, string[]]>([
  [
    "an older version",
    "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
    [
      'FILE:1: apiVersion: must be kubescheduler.config.k8s.io/v1, not "kubescheduler.config.k8s.io/v1beta3"',
    ],
  ],
  [
    "another kind",
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy\n",
    ['FILE:2: kind: must be KubeSchedulerConfiguration, not "Policy"'],
  ],
  [
    "unknown fields and other types, all at once",
    `${head}algorithmSource: {}
percentageOfNodesToScore: "5"
podMaxBackoffSeconds: 1.5
leaderElection: {leaseDuration: 5 seconds}
profiles:
- schedulerName: 7
  plugins:
    scores: {}
    score: [a]
  pluginConfig:
  - name: InterPodAffinity
    args:
      hardPodAffinityWeigth: 5
      hardPodAffinityWeight: 99999999999
`,
    [
      "FILE:3: algorithmSource: unknown field",
      "FILE:6: leaderElection.leaseDuration: must be a duration, such as 15s",
      "FILE:4: percentageOfNodesToScore: must be a whole number of 32 bits",
      "FILE:5: podMaxBackoffSeconds: must be a whole number",
      "FILE:8: profiles[0].schedulerName: must be a string",
      "FILE:10: profiles[0].plugins.scores: unknown field",
      "FILE:11: profiles[0].plugins.score: must be a map",
      "FILE:15: profiles[0].pluginConfig[0].args.hardPodAffinityWeigth: unknown field",
      "FILE:16: profiles[0].pluginConfig[0].args.hardPodAffinityWeight: must be a whole number of 32 bits",
    ],
  ],
  [
    "arguments of another plug-in",
    `${head}profiles:
- pluginConfig:
  - name: NodeAffinity
    args: {kind: InterPodAffinityArgs}
`,
    [
      "FILE:6: profiles[0].pluginConfig[0].args: args for plugin NodeAffinity were not of type NodeAffinityArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs of kubescheduler.config.k8s.io/v1",
    ],
  ],
  [
    "what validation finds, with its place",
    `${head}percentageOfNodesToScore: 200
profiles:
- schedulerName: a
  plugins:
    filter:
      enabled: [{name: Foo}]
- schedulerName: a
`,
    [
      'FILE:6: profiles[0].plugins: FilterPlugin "Foo" does not exist',
      'FILE:9: profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"',
      "FILE:3: percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]",
    ],
  ],
  [
    "extenders that can't be called",
    `${head}extenders:
- urlPrefix: extender.example.com
  filterVerb: filter
- urlPrefix: https://extender.example.com
  tlsConfig: {insecure: true, caData: QQ==}
- urlPrefix: https://extender.example.com
  tlsConfig: {keyData: QQ==}
- urlPrefix: https://extender.example.com
  tlsConfig: {certData: "?"}
- urlPrefix: https://extender.example.com
  tlsConfig: {caData: QQ==}
- urlPrefix: https://extender.example.com
  tlsConfig: {caFile: /nowhere/ca.pem}
`,
    [
      "FILE:11: extenders[3].tlsConfig.certData: must be base64",
      "FILE:4: extenders[0].urlPrefix: must be a URL of http or https",
      "FILE:7: extenders[1].tlsConfig: specifying a root certificates file with the insecure flag is not allowed",
      "FILE:9: extenders[2].tlsConfig: a client certificate and its key have to be given together",
      "FILE:13: extenders[4].tlsConfig: the certificate authority holds no certificate",
      "FILE:15: extenders[5].tlsConfig: ENOENT: no such file or directory, open '/nowhere/ca.pem'",
    ],
  ],
  [
    "a field that is given twice",
    `${head}parallelism: 1\nparallelism: 2\n`,
    ["FILE:4: parallelism: key is given twice"],
  ],
])("%s is refused with file, line and field", async (_, text, problems) => {
  await expect(plan(text)).rejects.toThrow(
    new Error(
      problems.map((problem) => problem.replace("FILE", file)).join("\n"),
    ),
  );
});

test("a file that is not there is refused by the option's name", async () => {
  await expect(
    planScheduler(
      parseOptions(schedulerOptions, [`--config=${file}.none`]),
      {},
    ),
  ).rejects.toThrow(/^--config: ENOENT/);
});

test("what is written is read again as the same", async () => {
  const first = await plan(`${head}
profiles:
- plugins: {score: {disabled: [{name: ImageLocality}]}}
  pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 5}}]
`);
  const written = path.join(directory, "written.yaml");
  writeConfiguration(written, first.configuration);
  const again = await plan(readFileSync(written, "utf8"));
  const { multiPoint, ...points } = again.configuration.profiles[0]!.plugins;
  expect(points).toEqual({
    score: { disabled: [{ name: "ImageLocality" }] },
  });
  expect(multiPoint).toEqual(
    first.configuration.profiles[0]!.plugins.multiPoint,
  );
  expect(again.configuration).toEqual(first.configuration);
});
