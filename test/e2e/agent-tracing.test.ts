// The section `tracing` of a KubeletConfiguration: an agent alone sends the reference's spans to a collector.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";
import { SpanCollector } from "../support/span-collector.ts";

let lan: NodeMachines;
let machine: NodeMachine;
let collector: SpanCollector;
const place = (name: string): string => path.join(machine.directory, name);

function configuration(tracing: object, more: object = {}): string {
  fs.writeFileSync(
    place("kubelet.yaml"),
    JSON.stringify({
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      failSwapOn: false,
      authentication: { webhook: { enabled: false } },
      authorization: { mode: "AlwaysAllow" },
      staticPodPath: place("manifests"),
      tracing,
      ...more,
    }),
  );
  return `--config=${place("kubelet.yaml")}`;
}

beforeAll(async () => {
  lan = new NodeMachines();
  machine = lan.add("traced", 94, 1);
  fs.mkdirSync(place("manifests"));
  collector = await new SpanCollector(place("spans.sock")).start();
});
afterAll(async () => {
  await lan?.clean();
  await collector?.stop();
});

test.each<[string, object, object, string]>([
  [
    "a rate above a million",
    { samplingRatePerMillion: 1_000_001 },
    {},
    "tracing.samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million",
  ],
  [
    "a negative rate",
    { samplingRatePerMillion: -1 },
    {},
    "sampling rate must be positive",
  ],
  [
    "an endpoint that is none",
    { endpoint: "http://localhost:4317" },
    {},
    'tracing.endpoint: Invalid value: "http://localhost:4317": unsupported scheme: http.',
  ],
  [
    "tracing with its gate off",
    { samplingRatePerMillion: 1 },
    { featureGates: { KubeletTracing: false } },
    "tracing should not be configured if KubeletTracing feature flag is disabled",
  ],
])("%s refuses the start", async (_name, tracing, more, text) => {
  const { code, stderr, stdout } = await machine.orbit(
    "agent",
    `--root-dir=${machine.dataDirectory}`,
    `--cgroup-root=${machine.cgroupRoot}`,
    "--container-runtime-endpoint=private",
    configuration(tracing, more),
  );
  expect(stderr + stdout).toContain(text);
  expect(code).toBe(1);
});

test("each pod's passes are traces, with the runtime's calls in them", async () => {
  await machine.start(
    "agent",
    `--root-dir=${machine.dataDirectory}`,
    configuration({
      endpoint: collector.endpoint,
      samplingRatePerMillion: 1_000_000,
    }),
  );
  await machine.orbit(
    "image",
    "load",
    await busyboxImageTar(),
    `--data-dir=${machine.dataDirectory}`,
  );
  const manifest = place("manifests/pod.yaml");
  fs.writeFileSync(
    manifest,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "c",
            image: "docker.io/library/busybox:latest",
            imagePullPolicy: "IfNotPresent",
            command: ["sleep", "infinity"],
          },
        ],
      },
    }),
  );
  const named = (name: string) =>
    collector.spans.filter((span) => span.name === name);
  await eventually(
    () => named("runtime.v1.RuntimeService/StartContainer").length > 0,
    { timeoutMs: 60_000, what: "the pod's container" },
  );
  fs.rmSync(manifest);
  await eventually(() => named("syncTerminatedPod").length > 0, {
    timeoutMs: 60_000,
    what: "the pod's end",
  });
  await machine.stop();
  expect(collector.resource).toMatchObject({
    "service.name": "kubelet",
    "host.name": "traced",
  });
  const passes = ["syncPod", "syncTerminatingPod", "syncTerminatedPod"].flatMap(
    named,
  );
  for (const pass of passes) {
    expect(pass.parent).toBe("");
    expect(pass.attributes).toMatchObject({
      "k8s.pod": "default/p-traced",
      "k8s.pod.name": "p-traced",
      "k8s.namespace.name": "default",
    });
  }
  expect(new Set(passes.map(({ trace }) => trace)).size).toBe(passes.length);
  const parentOf = (call: string): string | undefined => {
    const [span] = named(`runtime.v1.RuntimeService/${call}`);
    return passes.find(({ id }) => id === span?.parent)?.name;
  };
  expect(
    Object.fromEntries(
      [
        "RunPodSandbox",
        "CreateContainer",
        "StartContainer",
        "StopContainer",
        "RemovePodSandbox",
      ].map((call) => [call, parentOf(call)]),
    ),
  ).toEqual({
    RunPodSandbox: "syncPod",
    CreateContainer: "syncPod",
    StartContainer: "syncPod",
    StopContainer: "syncTerminatingPod",
    RemovePodSandbox: "syncTerminatedPod",
  });
});
