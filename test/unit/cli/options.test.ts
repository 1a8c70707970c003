import { execFileSync } from "node:child_process";
import * as path from "node:path";
import { agentOptions } from "../../../cli/options/agent.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { patchOptions } from "../../../cli/options/ctl.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { programs } from "../../../cli/options/reference.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import {
  allOptions,
  canonicalOptionName,
  specificationOptionName,
  type OptionTable,
} from "../../../cli/options/table.ts";

describe("names", () => {
  test.each([
    ["orbit-api-qps", "kube-api-qps"],
    ["store-prefix", "etcd-prefix"],
    ["orbitlet-timeout", "kubelet-timeout"],
    ["orbitconfig", "kubeconfig"],
    ["orbit-reserved", "kube-reserved"],
    ["authentication_skip_lookup", "authentication-skip-lookup"],
    ["storage-media-type", "storage-media-type"],
    ["store", "store"],
  ])("--%s is --%s", (given, canonical) =>
    expect(canonicalOptionName(given)).toBe(canonical),
  );

  test("the specification's name of every option leads back to it", () => {
    for (const { table } of programs) {
      for (const { name } of allOptions(table)) {
        const other = specificationOptionName(name);
        if (other) expect(canonicalOptionName(other)).toBe(name);
      }
    }
  });

  test("no table has a name twice, and every default is a good value", () => {
    for (const table of [
      ...programs.map((program) => program.table),
      serverOptions,
    ]) {
      const names = allOptions(table).flatMap(({ name, aliases = [] }) => [
        name,
        ...aliases,
      ]);
      expect(
        names.filter((name, index) => names.indexOf(name) !== index),
      ).toEqual([]);
      const values = parseOptions(table, []);
      for (const { name } of allOptions(table))
        expect(() => values.value(name)).not.toThrow();
    }
  });
});

describe("parsing", () => {
  test("reads values, bare booleans, lists that grow, maps and durations", () => {
    const values = parseOptions(apiServerOptions, [
      "--orbitlet-timeout=7s",
      "--anonymous-auth=false",
      "--etcd-servers=http://a,http://b",
      "--store-servers",
      "http://c",
      "--enable-bootstrap-token-auth",
      "--feature-gates=A=true,B=false",
    ]);
    expect(values.number("kubelet-timeout")).toBe(7000);
    expect(values.flag("anonymous-auth")).toBe(false);
    expect(values.flag("enable-bootstrap-token-auth")).toBe(true);
    expect(values.list("etcd-servers")).toEqual([
      "http://a",
      "http://b",
      "http://c",
    ]);
    expect(values.map("feature-gates")).toEqual({ A: "true", B: "false" });
    expect(values.number("event-ttl")).toBe(3_600_000);
    expect(values.isSet("event-ttl")).toBe(false);
  });

  test("reads letters, bundled letters, bare --dry-run, operands and what follows --", () => {
    const values = parseOptions(
      patchOptions,
      ["pod", "web", "-Rp", "{}", "-nfoo", "--dry-run", "-o=json", "--", "-x"],
      { operands: true },
    );
    expect(values.operands).toEqual(["pod", "web"]);
    expect(values.flag("recursive")).toBe(true);
    expect(values.text("patch")).toBe("{}");
    expect(values.text("namespace")).toBe("foo");
    expect(values.text("dry-run")).toBe("unchanged");
    expect(values.text("output")).toBe("json");
    expect(values.afterDashes).toEqual(["-x"]);
  });

  const bad: [OptionTable, string[], RegExp][] = [
    [
      apiServerOptions,
      ["--secure-port=0"],
      /"0" for "--secure-port": must be at least 1/,
    ],
    [apiServerOptions, ["--secure-port", "70000"], /at most 65535/],
    [apiServerOptions, ["--secure-port=6x"], /whole number/],
    [apiServerOptions, ["--goaway-chance=0.5"], /at most 0.02/],
    [
      apiServerOptions,
      ["--authorization-mode=RBAC,Nope"],
      /"RBAC,Nope" for "--authorization-mode": must be one of/,
    ],
    [apiServerOptions, ["--request-timeout=5"], /duration/],
    [apiServerOptions, ["--service-node-port-range=9-5"], /must ascend/],
    [apiServerOptions, ["--service-cluster-ip-range=a,b,c"], /at most two/],
    [apiServerOptions, ["--oidc-issuer-url=http://x"], /https/],
    [apiServerOptions, ["--anonymous-auth=maybe"], /true or false/],
    [
      apiServerOptions,
      ["--secure-prot=1"],
      /unknown flag: --secure-prot \(did you mean --secure-port\?\)/,
    ],
    [apiServerOptions, ["extra"], /unexpected argument: extra/],
    [
      apiServerOptions,
      ["--bind-address"],
      /flag needs an argument: --bind-address/,
    ],
    [
      controllerManagerOptions,
      ["--attach-detach-reconcile-sync-period=1s"],
      /must be at least 1.001s/,
    ],
    [agentOptions, ["--oom-score-adj=-1001"], /at least -1000/],
    [agentOptions, ["--container-log-max-files=1"], /at least 2/],
    [agentOptions, ["--container-log-max-size=ten"], /amount/],
    [agentOptions, ["--node-labels=novalue"], /key=value/],
    [agentOptions, ["--node-labels=a b=c"], /node-labels.*a b=c: name part/],
    [
      agentOptions,
      ["--node-labels=node-role.kubernetes.io/x="],
      /none that a node may set itself/,
    ],
    [agentOptions, ["--hostname-override=a b"], /hostname-override.*RFC 1123/],
    [agentOptions, ["--node-ip=web"], /node-ip.*"web" must be a valid IP/],
    [
      agentOptions,
      ["--node-ip=10.0.0.1,10.0.0.2"],
      /node-ip.*one of each family/,
    ],
    [
      agentOptions,
      ["--node-ip=10.0.0.1,::"],
      /node-ip.*dual-stack node IPs cannot include '0.0.0.0' or '::'/,
    ],
    [agentOptions, ["--cluster-dns=10.0.0.1,web"], /cluster-dns.*"web"/],
    [agentOptions, ["--cluster-domain=not a domain"], /cluster-domain/],
    [agentOptions, ["--manifest-url=ftp://a/b"], /manifest-url.*URL of http/],
    [agentOptions, ["--address=web"], /"--address": must be a valid IP/],
    [
      agentOptions,
      ["--healthz-bind-address=localhost"],
      /healthz-bind-address.*valid IP/,
    ],
    [agentOptions, ["--pod-cidr=10.0.0.0"], /pod-cidr.*"10.0.0.0" must be/],
    [agentOptions, ["--cluster-cidr=10.0.0.0/33"], /cluster-cidr/],
    [
      agentOptions,
      ["--service-cluster-ip-range=nonsense"],
      /service-cluster-ip-range/,
    ],
    [agentOptions, ["--ingress-bind-address=web"], /ingress-bind-address/],
    [
      agentOptions,
      ["--kube-reserved=gold=1"],
      /kube-reserved.*cannot reserve "gold"/,
    ],
    [
      agentOptions,
      ["--system-reserved=cpu=-1"],
      /system-reserved.*"cpu" cannot be negative/,
    ],
    [
      agentOptions,
      ["--system-reserved=cpu=x"],
      /system-reserved.*cpu=x: quant/,
    ],
    [
      agentOptions,
      ["--authentication-token-webhook-cache-ttl=-1s"],
      /at least 0s/,
    ],
    [agentOptions, ["--cpu-manager-reconcile-period=-1s"], /at least 0s/],
    [patchOptions, ["-z"], /unknown shorthand flag: 'z' in -z/],
    [patchOptions, ["--type=other"], /one of json, merge, strategic/],
  ];
  test.each(bad)("refuses %#: %j", (table, argv, message) =>
    expect(() => parseOptions(table, argv)).toThrow(message),
  );

  test("takes what nodes have", () => {
    for (const argv of [
      ["--node-ip=10.0.0.1,fd00::1", "--hostname-override=Node-1.example"],
      ["--node-labels=a=b,example.com/c=,node.kubernetes.io/pool=x"],
      ["--cluster-dns=10.43.0.10", "--cluster-domain=cluster.local."],
      ["--pod-cidr=10.42.0.0/24,fd42::/64", "--address=::"],
      ["--kube-reserved=cpu=100m,memory=1Gi,ephemeral-storage=1Gi,pid=100"],
      ["--manifest-url=https://web/pods.yaml", "--healthz-bind-address="],
    ])
      expect(() => parseOptions(agentOptions, argv)).not.toThrow();
  });

  test("tells which options do nothing", () => {
    expect(
      parseOptions(patchOptions, [
        "--cache-dir=x",
        "--type=merge",
      ]).withoutEffect(),
    ).toEqual(["cache-dir"]);
  });
});

describe("KubeletConfiguration", () => {
  const head =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
  const read = async (body: string) =>
    settingsOf(
      await configurationFields(head + body, "k.yaml", agentOptions),
      agentOptions,
    );

  test("gives options their values; flags win", async () => {
    const file = await read(
      "maxPods: 7\nport: 11250\nstaticPodPath: /m\nauthentication:\n  anonymous: {enabled: false}\nevictionHard:\n  memory.available: 50Mi\nenableContentionProfiling: true\nkernelMemcgNotification: true\nregisterWithTaints:\n- {key: a, value: b, effect: NoSchedule}\n- {key: c, effect: NoExecute}\nstaticPodURLHeader: {X-A: [one, 'two,three']}\nlogging: {format: json, verbosity: 4}\n",
    );
    const values = parseOptions(agentOptions, ["--port=12250"]).withFile(
      file.values,
    );
    expect(values.number("max-pods")).toBe(7);
    expect(values.number("port")).toBe(12250);
    expect(values.text("pod-manifest-path")).toBe("/m");
    expect(values.flag("anonymous-auth")).toBe(false);
    expect(values.map("eviction-hard")).toEqual({
      "memory.available": "<50Mi",
    });
    expect(values.list("register-with-taints")).toEqual([
      "a=b:NoSchedule",
      "c:NoExecute",
    ]);
    expect(values.list("manifest-url-header")).toEqual([
      "X-A:one",
      "X-A:two,three",
    ]);
    expect(values.text("logging-format")).toBe("json");
    expect(values.number("v")).toBe(4);
    expect(file.withoutEffect).toEqual(["kernelMemcgNotification"]);
    expect(values.withoutEffect()).toEqual(["contention-profiling"]);
  });

  test.each([
    [
      "maxPods: many\nprt: 1\n",
      "k.yaml:3: maxPods: must be a number\nk.yaml:4: prt: unknown field",
    ],
    [
      "maxPods: 1.5\nlogging:\n  format: text\n  fromat: json\n",
      'k.yaml:3: maxPods: invalid value "1.5": must be a whole number\nk.yaml:6: logging.fromat: unknown field',
    ],
    ["maxPods: 1\nmaxPods: 2\n", "k.yaml:4: maxPods: key is given twice"],
    ["a: [\n", "k.yaml:4: "],
    ["maxPods: 1\n---\nmaxPods: 2\n", "k.yaml:5: one document is expected"],
  ])("names file, line and field: %#", async (body, message) => {
    await expect(read(body)).rejects.toThrow(message);
  });

  test("refuses another kind", async () => {
    await expect(
      configurationFields("kind: Pod", "k.yaml", agentOptions),
    ).rejects.toThrow("kind: must be KubeletConfiguration");
  });
});

test("docs/options.md and docs/COMPATIBILITY.md are up to date (node tools/generate-options-doc.mjs)", () => {
  const root = path.join(__dirname, "../../..");
  execFileSync(
    process.execPath,
    [path.join(root, "tools/generate-options-doc.mjs"), "--check"],
    { cwd: root, stdio: "pipe" },
  );
});

test.each([
  ["orbit-api-qps", "kube-api-qps"],
  ["orbitlet-timeout", "kubelet-timeout"],
  ["orbitconfig", "kubeconfig"],
  ["bootstrap-kubeconfig", "bootstrap-kubeconfig"],
  ["store-prefix", "etcd-prefix"],
  ["orbit-reserved-cgroup", "kube-reserved-cgroup"],
  ["secure-port", "secure-port"],
])("option %s", (given, expected) => {
  expect(canonicalOptionName(given)).toBe(expected);
  expect(specificationOptionName(expected) ?? expected).toBe(given);
});
