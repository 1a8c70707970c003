// Options of the API server that limit what it accepts and serves, each through its real port.
import * as fs from "node:fs";
import * as https from "node:https";
import * as net from "node:net";
import * as path from "node:path";
import type { TLSSocket } from "node:tls";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import { builtinGroupVersions } from "../../../api/catalogue.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort, type OpenPort } from "./part-ports.ts";
import {
  useStopped,
  askPort,
  serveOnLoopback,
  type JsonAnswer,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

interface Api extends OpenPort {
  request(method: string, target: string, body?: object): Promise<JsonAnswer>;
}

async function start(...argv: string[]): Promise<Api> {
  const directory = directories();
  const tokens = path.join(directory, "tokens");
  fs.writeFileSync(tokens, 't,admin,1,"system:masters"\n');
  const port = await openPort("apiserver", directory, [
    `--token-auth-file=${tokens}`,
    "--disable-admission-plugins=ServiceAccount",
    ...argv,
  ]);
  open.push(port);
  return {
    ...port,
    request: (method, target, body) =>
      askPort(port.port, method, target, {
        token: "t",
        ...(body ? { body } : {}),
        ...(method === "PATCH" ? { type: "application/merge-patch+json" } : {}),
      }),
  };
}

const podSpec = (change: object = {}): object => ({
  containers: [{ name: "c", image: "i", ...change }],
});
const pod = (name: string, spec: object = podSpec()): object => ({
  metadata: { name },
  spec,
});
const pods = "/api/v1/namespaces/default/pods";
const privileged = { securityContext: { privileged: true } };
const template = {
  metadata: { labels: { a: "b" } },
  spec: { ...podSpec(privileged), restartPolicy: "Always" },
};
const selector = { matchLabels: { a: "b" } };

describe("--allow-privileged", () => {
  test("is off by default: nothing with a privileged container is accepted", async () => {
    const api = await start();
    const refused = async (
      target: string,
      object: object,
      field: string,
    ): Promise<void> => {
      const { code, body } = await api.request("POST", target, object);
      expect([target, code]).toEqual([target, 422]);
      expect(body.message).toContain(
        `${field}.securityContext.privileged: Forbidden: disallowed by cluster policy`,
      );
    };
    await refused(pods, pod("p", podSpec(privileged)), "spec.containers[0]");
    await refused(
      pods,
      pod("p", {
        ...podSpec(),
        initContainers: [{ name: "i", image: "i", ...privileged }],
      }),
      "spec.initContainers[0]",
    );
    const inTemplate = "spec.template.spec.containers[0]";
    for (const resource of [
      "deployments",
      "replicasets",
      "daemonsets",
      "statefulsets",
    ])
      await refused(
        `/apis/apps/v1/namespaces/default/${resource}`,
        {
          metadata: { name: "w" },
          spec: {
            selector,
            template,
            ...(resource === "statefulsets" ? { serviceName: "s" } : {}),
          },
        },
        inTemplate,
      );
    await refused(
      "/api/v1/namespaces/default/replicationcontrollers",
      { metadata: { name: "w" }, spec: { selector: { a: "b" }, template } },
      inTemplate,
    );
    await refused(
      "/api/v1/namespaces/default/podtemplates",
      { metadata: { name: "w" }, template },
      "template.spec.containers[0]",
    );
    const job = {
      template: {
        spec: { ...podSpec(privileged), restartPolicy: "Never" },
      },
    };
    await refused(
      "/apis/batch/v1/namespaces/default/jobs",
      { metadata: { name: "w" }, spec: job },
      inTemplate,
    );
    await refused(
      "/apis/batch/v1/namespaces/default/cronjobs",
      {
        metadata: { name: "w" },
        spec: { schedule: "* * * * *", jobTemplate: { spec: job } },
      },
      `spec.jobTemplate.${inTemplate}`,
    );
  });

  test("nor later: updates, patches and ephemeral containers", async () => {
    const api = await start();
    expect((await api.request("POST", pods, pod("p"))).code).toBe(201);
    const ephemeral = await api.request(
      "PATCH",
      `${pods}/p/ephemeralcontainers`,
      {
        spec: {
          ephemeralContainers: [{ name: "e", image: "i", ...privileged }],
        },
      },
    );
    expect(ephemeral.code).toBe(422);
    expect(ephemeral.body.message).toContain(
      "spec.ephemeralContainers[0].securityContext.privileged: Forbidden: disallowed by cluster policy",
    );
    expect(
      (
        await api.request("PATCH", `${pods}/p/ephemeralcontainers`, {
          spec: { ephemeralContainers: [{ name: "e", image: "i" }] },
        })
      ).code,
    ).toBe(200);
    const templates = "/api/v1/namespaces/default/podtemplates";
    const plain = { metadata: { name: "t" }, template: { spec: podSpec() } };
    expect((await api.request("POST", templates, plain)).code).toBe(201);
    expect(
      (await api.request("PATCH", `${templates}/t`, { template })).code,
    ).toBe(422);
  });

  test("=true accepts them", async () => {
    const api = await start("--allow-privileged");
    expect(
      (await api.request("POST", pods, pod("p", podSpec(privileged)))).code,
    ).toBe(201);
  });
});

test("--default-*-toleration-seconds", async () => {
  const api = await start(
    "--default-not-ready-toleration-seconds=7",
    "--default-unreachable-toleration-seconds=11",
  );
  const { body } = await api.request("POST", pods, pod("p"));
  expect(
    body.spec.tolerations.map(
      (one: { key: string; tolerationSeconds: number }) => [
        one.key,
        one.tolerationSeconds,
      ],
    ),
  ).toEqual([
    ["node.kubernetes.io/not-ready", 7],
    ["node.kubernetes.io/unreachable", 11],
  ]);
});

test("--enable-garbage-collector=false: propagation policies leave finalizers alone", async () => {
  const maps = "/api/v1/namespaces/default/configmaps";
  for (const [argv, left] of [
    [[], 200],
    [["--enable-garbage-collector=false"], 404],
  ] as const) {
    const api = await start(...argv);
    await api.request("POST", maps, { metadata: { name: "m" } });
    await api.request("DELETE", `${maps}/m?propagationPolicy=Orphan`);
    expect((await api.request("GET", `${maps}/m`)).code).toBe(left);
  }
});

describe("--watch-cache", () => {
  /** How many of two objects a list of version 0 with limit 1 gives, of two resources. */
  async function given(...argv: string[]): Promise<number[]> {
    const api = await start(...argv);
    const found: number[] = [];
    for (const target of [
      "/api/v1/namespaces/default/secrets",
      "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    ]) {
      for (const name of ["a", "b"])
        await api.request("POST", target, { metadata: { name } });
      const list = await api.request(
        "GET",
        `${target}?resourceVersion=0&limit=1`,
      );
      found.push(list.body.items.length);
    }
    return found;
  }

  test.each<[string[], number[]]>([
    [[], [2, 2]],
    [["--watch-cache=false"], [1, 1]],
    [["--watch-cache-sizes=secrets#0"], [1, 2]],
    [["--watch-cache-sizes=leases.coordination.k8s.io#0,secrets#50"], [2, 1]],
    [
      ["--default-watch-cache-size=0", "--watch-cache-sizes=secrets#1"],
      [2, 1],
    ],
  ])("%j", async (argv, counts) =>
    expect(await given(...argv)).toEqual(counts),
  );

  test("sizes that can't be read are refused", async () => {
    for (const text of ["secrets", "secrets#x", "#0", "a#0#1"])
      await expect(start(`--watch-cache-sizes=${text}`)).rejects.toThrow(
        "--watch-cache-sizes",
      );
  });
});

describe("--runtime-config", () => {
  test("a version that is off is not discovered, described or served", async () => {
    const api = await start("--runtime-config=batch/v1=false");
    const groups = await api.request("GET", "/apis");
    expect(
      groups.body.groups.map(({ name }: { name: string }) => name),
    ).not.toContain("batch");
    expect((await api.request("GET", "/apis/batch/v1")).code).toBe(404);
    expect(
      (await api.request("GET", "/apis/batch/v1/namespaces/default/jobs")).code,
    ).toBe(404);
    const v3 = await api.request("GET", "/openapi/v3");
    expect(Object.keys(v3.body.paths)).toContain("apis/apps/v1");
    expect(Object.keys(v3.body.paths)).not.toContain("apis/batch/v1");
    const v2 = await api.request("GET", "/openapi/v2");
    expect(
      Object.keys(v2.body.paths).filter((each) =>
        each.startsWith("/apis/batch"),
      ),
    ).toEqual([]);
  });

  test("a resource that is off goes with its subresources, the rest of the version stays", async () => {
    const api = await start("--runtime-config=apps/v1/deployments=false");
    const { body } = await api.request("GET", "/apis/apps/v1");
    const names = body.resources.map(({ name }: { name: string }) => name);
    expect(
      names.filter((name: string) => name.startsWith("deployments")),
    ).toEqual([]);
    expect(names).toContain("replicasets/scale");
    expect((await api.request("GET", "/apis/apps/v1/deployments")).code).toBe(
      404,
    );
    expect((await api.request("GET", "/apis/apps/v1/replicasets")).code).toBe(
      200,
    );
  });

  test("api/beta switches versions on, single ones win over it, resources over their version", async () => {
    const api = await start(
      "--runtime-config=api/beta=true,resource.k8s.io/v1beta1=false",
      "--runtime-config=admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies",
    );
    const served = async (target: string): Promise<number> =>
      (await api.request("GET", `/apis/${target}`)).code;
    expect(await served("authentication.k8s.io/v1beta1")).toBe(200);
    expect(await served("storage.k8s.io/v1beta1/volumeattributesclasses")).toBe(
      200,
    );
    expect(await served("resource.k8s.io/v1beta1")).toBe(404);
    expect(await served("storage.k8s.io/v1alpha1")).toBe(404);
  });

  test("what is on can be written and read, in every version", async () => {
    const api = await start(
      "--runtime-config=api/all=true",
      "--feature-gates=AllAlpha=true",
    );
    const classes = (version: string): string =>
      `/apis/storage.k8s.io/${version}/volumeattributesclasses`;
    const made = await api.request("POST", classes("v1beta1"), {
      metadata: { name: "fast" },
      driverName: "d.example",
    });
    expect(made.code).toBe(201);
    const read = await api.request("GET", `${classes("v1alpha1")}/fast`);
    expect([read.code, read.body.apiVersion, read.body.driverName]).toEqual([
      200,
      "storage.k8s.io/v1alpha1",
      "d.example",
    ]);
    for (const { group, version } of builtinGroupVersions) {
      const base =
        group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const { code, body } = await api.request("GET", base);
      if (code !== 200) throw new Error(`${base}: ${code}`);
      for (const { name, verbs, namespaced } of body.resources)
        if (verbs.includes("list") && !name.includes("/")) {
          const target = `${base}/${namespaced ? "namespaces/default/" : ""}${name}`;
          const list = await api.request("GET", target);
          expect([target, list.code, list.body.apiVersion]).toEqual([
            target,
            200,
            group === "" ? version : `${group}/${version}`,
          ]);
        }
    }
  });

  test.each([
    ["apps/v2=false", "group version apps/v2 that has not been registered"],
    ["nope.example/v1=true", "unknown api groups nope.example"],
    ["apps/v1/nope=false", "there is no resource nope in it"],
    ["apps=false", "must be GROUP/VERSION"],
    ["apps/v1=maybe", "must be true or false"],
    ["api/all=false", "invalid key with only api/all=false"],
    ["v1=false", "the server itself needs"],
    ["api/v1=false", "the server itself needs"],
    ["v1/services=false", "the server itself needs services"],
  ])("%s is refused: %s", async (text, why) => {
    await expect(start(`--runtime-config=${text}`)).rejects.toThrow(why);
  });

  test("the server starts without any single version, and without all but the core", async () => {
    const versions = builtinGroupVersions.filter(
      ({ group, enabledByDefault }) => group !== "" && enabledByDefault,
    );
    const without = versions.map(({ group, version }) => [
      `${group}/${version}=false`,
    ]);
    for (const texts of [...without, ["api/all=false", "v1=true"]]) {
      const api = await start(
        ...texts.map((text) => `--runtime-config=${text}`),
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
      );
      const made = await api.request("POST", pods, pod("p"));
      expect([texts, made.code]).toEqual([texts, 201]);
      await open.pop()!.stop();
    }
  });
});

describe("options of node agents", () => {
  /** A stand-in for an agent's port: TLS, and what it saw of its client. */
  async function agent(
    pair: CertificatePair,
    clientCa: string,
  ): Promise<{ port: number; clients: string[] }> {
    const clients: string[] = [];
    const server = https.createServer(
      {
        cert: pair.certificate,
        key: pair.key,
        ca: clientCa,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (request, response) => {
        const socket = request.socket as TLSSocket;
        clients.push(
          socket.authorized
            ? String(socket.getPeerCertificate().subject.CN)
            : "nobody",
        );
        response.end("a line\n");
      },
    );
    return { port: await serveOnLoopback(server, open), clients };
  }

  const nowMs = Date.now();
  const authority = (name: string): CertificatePair =>
    createCertificateAuthority({ subject: { commonName: name }, nowMs });
  const leaf = (signer: CertificatePair, commonName: string): CertificatePair =>
    issueCertificate(signer, {
      subject: { commonName },
      usages: ["server auth", "client auth"],
      validityMs: YEAR_MS,
      nowMs,
      ipAddresses: ["127.0.0.1"],
      dnsNames: ["localhost"],
    });
  const file = (text: string): string => {
    const name = path.join(directories(), "pem");
    fs.writeFileSync(name, text);
    return name;
  };

  /** A node with these addresses and a pod on it. */
  async function nodeWithPod(
    api: Api,
    port: number,
    addresses: readonly [string, string][],
  ): Promise<void> {
    await api.request("POST", "/api/v1/nodes", { metadata: { name: "n" } });
    const status = await api.request("PATCH", "/api/v1/nodes/n/status", {
      status: {
        addresses: addresses.map(([type, address]) => ({ type, address })),
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    });
    expect(status.code).toBe(200);
    const made = await api.request(
      "POST",
      pods,
      pod("p", { ...podSpec(), nodeName: "n" }),
    );
    expect(made.code).toBe(201);
  }
  const logs = `${pods}/p/log`;
  const loopback: [string, string][] = [["InternalIP", "127.0.0.1"]];

  test("--kubelet-client-certificate and key: who the agent sees", async () => {
    const clients = authority("clients");
    const client = leaf(clients, "the-api-server");
    const { port, clients: seen } = await agent(
      leaf(authority("agents"), "node"),
      clients.certificate,
    );
    const without = await start();
    await nodeWithPod(without, port, loopback);
    expect((await without.request("GET", logs)).body).toBe("a line\n");
    const with_ = await start(
      `--kubelet-client-certificate=${file(client.certificate)}`,
      `--kubelet-client-key=${file(client.key.toString())}`,
    );
    await nodeWithPod(with_, port, loopback);
    expect((await with_.request("GET", logs)).body).toBe("a line\n");
    expect(seen).toEqual(["nobody", "the-api-server"]);
  });

  test("--kubelet-certificate-authority: agents of another are not spoken to", async () => {
    const agents = authority("agents");
    const good = await agent(leaf(agents, "node"), agents.certificate);
    const bad = await agent(
      leaf(authority("others"), "node"),
      agents.certificate,
    );
    const api = await start(
      `--kubelet-certificate-authority=${file(agents.certificate)}`,
    );
    await nodeWithPod(api, good.port, loopback);
    expect((await api.request("GET", logs)).body).toBe("a line\n");
    await api.request("PATCH", "/api/v1/nodes/n/status", {
      status: { daemonEndpoints: { kubeletEndpoint: { Port: bad.port } } },
    });
    const refused = await api.request("GET", logs);
    expect(refused.code).toBe(500);
    expect(refused.body.message).toMatch(/certificate/);
    expect(bad.clients).toEqual([]);
  });

  test("half a pair, and files without certificates, stop the start", async () => {
    await expect(start("--kubelet-client-certificate=/absent")).rejects.toThrow(
      "--kubelet-client-key must be given together",
    );
    await expect(
      start(`--kubelet-certificate-authority=${file("")}`),
    ).rejects.toThrow("--kubelet-certificate-authority");
  });

  test("--kubelet-preferred-address-types: the first type a node has", async () => {
    const { port } = await agent(
      leaf(authority("agents"), "node"),
      authority("clients").certificate,
    );
    const addresses: [string, string][] = [
      ["InternalIP", "127.0.0.1"],
      ["Hostname", "no-such-host.invalid"],
    ];
    const byAddress = await start(
      "--kubelet-preferred-address-types=ExternalIP,InternalIP,Hostname",
    );
    await nodeWithPod(byAddress, port, addresses);
    expect((await byAddress.request("GET", logs)).body).toBe("a line\n");
    // The default asks for the host's name first.
    const byName = await start();
    await nodeWithPod(byName, port, addresses);
    const failed = await byName.request("GET", logs);
    expect(failed.code).toBe(500);
    expect(failed.body.message).toContain("no-such-host.invalid");
  });

  test("--kubelet-timeout: an agent that does not finish the handshake", async () => {
    const silent = net.createServer(() => undefined);
    const sockets: net.Socket[] = [];
    silent.on("connection", (socket) => sockets.push(socket));
    await new Promise<void>((resolve) =>
      silent.listen(0, "127.0.0.1", () => resolve()),
    );
    open.push({
      stop: () =>
        new Promise((resolve) => {
          for (const socket of sockets) socket.destroy();
          silent.close(() => resolve());
        }),
    });
    const api = await start("--kubelet-timeout=50ms");
    await nodeWithPod(api, (silent.address() as net.AddressInfo).port, [
      ...loopback,
    ]);
    const answer = api.request("GET", logs);
    await eventually(() => sockets.length > 0, { what: "a connection" });
    const { code, body } = await answer;
    expect([code, body.message]).toEqual([
      500,
      expect.stringContaining("i/o timeout"),
    ]);
  });
});
