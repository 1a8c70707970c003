// Warnings about pods: found in time whatever the size of what is looked through.
import type { PodSpec } from "../../../../api/types/core-v1.ts";
import { podWarnings } from "../../../../apiserver-lite/resources/core/pod/pod-warnings.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const many = 30_000;
const list = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: many }, (_, index) => make(index));

function specWith(fields: object, ofContainer: object = {}): PodSpec {
  return {
    containers: [{ name: "a", image: "i", ...ofContainer }],
    ...fields,
  } as unknown as PodSpec;
}

const warningsOf = (spec: PodSpec): string[] => [
  ...podWarnings("", spec, undefined),
];

test.each([
  ["ports", specWith({}, { ports: list((i) => ({ containerPort: i + 1 })) })],
  [
    "pull secrets",
    specWith({ imagePullSecrets: list((i) => ({ name: `s${i}` })) }),
  ],
  [
    "paths of a volume",
    specWith({
      volumes: [
        {
          name: "v",
          configMap: { items: list((i) => ({ key: "k", path: `p${i}` })) },
        },
      ],
    }),
  ],
])("very many %s cost no more than looking at each", (_what, spec) => {
  const cpuMs = cpuMsOf(() => expect(warningsOf(spec)).toEqual([]));
  expect(cpuMs).toBeLessThan(3_000);
});

test("the second of two equal definitions is told, in order", () => {
  const ports = [
    { containerPort: 80, protocol: "TCP" },
    { containerPort: 80, protocol: "UDP" },
    { containerPort: 80, protocol: "TCP" },
  ];
  const secrets = [{ name: "s" }, { name: "t" }, { name: "s" }];
  const items = ["a", "b/c", "b"].map((path) => ({ key: "k", path }));
  const spec = specWith(
    {
      imagePullSecrets: secrets,
      volumes: [{ name: "v", configMap: { name: "m", items } }],
    },
    { ports },
  );
  expect(warningsOf(spec)).toEqual([
    'volume "v" (ConfigMap "m"): overlapping paths: "b" with "b/c"',
    'spec.imagePullSecrets[2].name: duplicate name "s"',
    "spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]",
  ]);
});
