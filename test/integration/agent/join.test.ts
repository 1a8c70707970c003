// Joining a cluster by token: the program's own token command and join against a real API server with its controllers, and
// the answers to tokens, hashes and names that are wrong.
import * as fs from "node:fs";
import type { IncomingMessage } from "node:http";
import * as path from "node:path";
import { pino } from "pino";
import { runToken } from "../../../cli/token.ts";
import {
  joinCluster,
  type JoinOptions,
} from "../../../cli/join/join-cluster.ts";
import type { ConfigMap } from "../../../api/types/core-v1.ts";
import { inspectCertificate } from "../../../api/pki/inspect.ts";
import {
  certificateSigningRequests,
  configMaps,
  nodes,
  secrets,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";
import { startHttpsServer } from "../../support/https-server.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const logger = pino({ level: "silent" });
let cluster: Cluster;
let administrator: string;

beforeAll(async () => {
  cluster = await startCluster({ scheduler: false });
  administrator = path.join(
    fs.mkdtempSync("/tmp/orbit-join-"),
    "admin.kubeconfig",
  );
  fs.writeFileSync(administrator, cluster.kubeconfig);
});
afterAll(async () => {
  await cluster?.stop();
  fs.rmSync(path.dirname(administrator), { recursive: true, force: true });
});

/** What the command printed. */
async function token(...args: string[]): Promise<string> {
  let printed = "";
  const write = jest
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  try {
    await runToken([...args, `--kubeconfig=${administrator}`]);
  } finally {
    write.mockRestore();
  }
  return printed.trim();
}

interface JoinCommand {
  readonly servers: string[];
  readonly token: string;
  readonly pins: string[];
}

/** As a new machine reads it; signed by the time this resolves. */
async function joinCommand(...args: string[]): Promise<JoinCommand> {
  const words = (
    await token(
      "create",
      "--print-join-command",
      // The test's cluster listens on loopback alone, which it does not advertise.
      `--server=${cluster.url}`,
      ...args,
    )
  ).split(" ");
  const after = (name: string): string[] =>
    words.flatMap((word, n) => (words[n - 1] === name ? [word] : []));
  const [text = ""] = after("--token");
  await signatureOf(text);
  return {
    servers: after("--server").flatMap((each) => each.split(",")),
    token: text,
    pins: after("--discovery-token-ca-cert-hash"),
  };
}

const clusterInfo = (): Promise<ConfigMap> =>
  cluster.client.resource(configMaps).get("cluster-info", "kube-public");

const signatureOf = (text: string): Promise<string> =>
  eventually(
    async () =>
      (await clusterInfo()).data?.[`jws-kubeconfig-${text.slice(0, 6)}`] ?? "",
    { what: "the signature" },
  );

function options(
  command: JoinCommand,
  nodeName: string,
  change: Partial<JoinOptions> = {},
): JoinOptions {
  const directory = tempDirectory();
  return {
    ...command,
    unsafeWithoutPin: false,
    nodeName,
    kubeconfig: path.join(directory, "kubeconfig"),
    certificateDirectory: path.join(directory, "pki"),
    logger,
    ...change,
  };
}

const files = ({ kubeconfig, certificateDirectory }: JoinOptions): boolean[] =>
  [
    kubeconfig,
    path.join(certificateDirectory, "orbitlet-client-current.pem"),
  ].map((file) => fs.existsSync(file));

test("the printed command joins, by a certificate of the node's own", async () => {
  const command = await joinCommand("--description=for tests");
  expect(command.servers).toEqual([cluster.url]);
  expect(command.pins).toEqual([
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  ]);
  const joining = options(command, "first");
  await joinCluster(joining);
  expect(files(joining)).toEqual([true, true]);
  const pem = fs.readFileSync(
    path.join(joining.certificateDirectory, "orbitlet-client-current.pem"),
    "utf8",
  );
  expect(inspectCertificate(pem).subject).toMatchObject({
    commonName: "system:node:first",
    organizations: ["system:nodes"],
  });
  expect(fs.readFileSync(joining.kubeconfig, "utf8")).not.toContain(
    command.token,
  );
  expect(await token("list")).toMatch(
    new RegExp(
      `^TOKEN .*\\n(.*\\n)*${command.token.replace(".", "\\.")} +23h +\\S+ +authentication,signing +for tests$`,
      "m",
    ),
  );
});

test("a token joins one machine after the other until it is deleted or expires", async () => {
  const command = await joinCommand();
  for (const name of ["third", "fourth"]) {
    const joining = options(command, name);
    await joinCluster(joining);
    expect(files(joining)).toEqual([true, true]);
  }
});

test("a machine that has joined needs no token, and asks nobody", async () => {
  const joining = options(
    { servers: ["https://127.0.0.1:1"], token: "", pins: [] },
    "first",
  );
  fs.writeFileSync(joining.kubeconfig, "");
  await joinCluster({ ...joining, token: undefined });
});

describe("what is wrong is answered clearly, and leaves nothing behind", () => {
  const refused = async (
    joining: JoinOptions,
    message: RegExp,
  ): Promise<void> => {
    const before = await cluster.client
      .resource(certificateSigningRequests)
      .list();
    await expect(joinCluster(joining)).rejects.toThrow(message);
    expect(files(joining)).toEqual([false, false]);
    const after = await cluster.client
      .resource(certificateSigningRequests)
      .list();
    expect(after.items).toHaveLength(before.items.length);
  };

  test("no token, none of the form, no hash, and a hash of another form", async () => {
    const command = await joinCommand();
    await refused(
      { ...options(command, "n"), token: undefined },
      /--server needs --token the first time/,
    );
    await refused(
      { ...options(command, "n"), token: "secret" },
      /^--token: a token is six letters(?!.*secret)/,
    );
    await refused(
      options({ ...command, pins: [] }, "n"),
      /--token needs --discovery-token-ca-cert-hash/,
    );
    await refused(
      options({ ...command, pins: ["sha256:12"] }, "n"),
      /"sha256:12" for "--discovery-token-ca-cert-hash"/,
    );
  });

  test("a token that is unknown, one with another secret, a deleted one, an expired one", async () => {
    const command = await joinCommand();
    const id = command.token.slice(0, 6);
    await refused(
      options({ ...command, token: "zzzzzz.0123456789abcdef" }, "n"),
      /knows no token zzzzzz: it was deleted, has expired/,
    );
    await refused(
      options({ ...command, token: `${id}.0123456789abcdef` }, "n"),
      new RegExp(`the secret of token ${id} is not the one`),
    );
    expect(await token("delete", command.token)).toBe(
      `bootstrap token "${id}" deleted`,
    );
    await eventually(
      async () =>
        (await clusterInfo()).data?.[`jws-kubeconfig-${id}`] === undefined,
      { what: "the signature to go" },
    );
    await refused(options(command, "n"), new RegExp(`knows no token ${id}`));
    const short = await token("create", "--ttl=1s");
    await eventually(
      async () =>
        !(await cluster.client
          .resource(secrets)
          .list({ namespace: "kube-system" })
          .then(({ items }) =>
            items.some(
              ({ metadata }) =>
                metadata.name === `bootstrap-token-${short.slice(0, 6)}`,
            ),
          )),
      { what: "the expired token to be deleted" },
    );
    await eventually(
      async () =>
        (await clusterInfo()).data?.[`jws-kubeconfig-${short.slice(0, 6)}`] ===
        undefined,
      { what: "the signature of the expired token to go" },
    );
    await refused(
      options({ ...command, token: short }, "n"),
      /knows no token \w+: it was deleted, has expired/,
    );
    await expect(token("delete", "zzzzzz")).rejects.toThrow(
      "there is no token with the ID zzzzzz",
    );
  });

  test("one whose signature is still there when the API server takes it no more", async () => {
    const command = await joinCommand();
    const name = `bootstrap-token-${command.token.slice(0, 6)}`;
    // Usages may differ: it signs, and lets nobody in.
    await cluster.client.resource(secrets).patch(name, "kube-system", {
      type: "merge",
      body: {
        data: {
          "usage-bootstrap-authentication":
            Buffer.from("false").toString("base64"),
        },
      },
    });
    await refused(
      options(command, "n"),
      /--token: the API server does not accept the token/,
    );
  });

  test("a cluster of another authority is sent nothing but a read without credentials", async () => {
    const command = await joinCommand();
    const { data } = await clusterInfo();
    const seen: string[] = [];
    const impostor = await startHttpsServer(
      (body, request: IncomingMessage) => {
        seen.push(
          `${request.method} ${request.url} ${request.headers.authorization ?? "-"} ${body}`,
        );
        return { kind: "ConfigMap", apiVersion: "v1", data };
      },
    );
    try {
      // It shows the true ConfigMap, signed by the true token, and the hash is right: its own certificate is not.
      await refused(
        options({ ...command, servers: [impostor.url] }, "n"),
        /no API server answers/,
      );
      await refused(
        options({ ...command, pins: [`sha256:${"0".repeat(64)}`] }, "n"),
        /has the hash sha256:[0-9a-f]{64}, which is none of the given ones/,
      );
    } finally {
      await impostor.close();
    }
    expect(new Set(seen)).toEqual(
      new Set([
        "GET /api/v1/namespaces/kube-public/configmaps/cluster-info - ",
      ]),
    );
  });

  test("a name that a Ready node has; one that is not Ready may be this machine", async () => {
    const command = await joinCommand();
    const api = cluster.client.resource(nodes);
    await api.create({ metadata: { name: "twin" }, spec: {} });
    // Controllers write it too.
    const setReady = (status: string) =>
      eventually(
        async () =>
          api.updateStatus({
            ...(await api.get("twin")),
            status: { conditions: [{ type: "Ready", status }] },
          }),
        { what: "the status to be written" },
      );
    await setReady("True");
    await refused(
      options(command, "twin"),
      /the cluster has a node with the name "twin"/,
    );
    await setReady("False");
    await joinCluster(options(command, "twin"));
  });

  test("servers that do not answer are passed over", async () => {
    const command = await joinCommand();
    await refused(
      options({ ...command, servers: ["https://127.0.0.1:1"] }, "n"),
      /no API server answers: https:\/\/127\.0\.0\.1:1: /,
    );
    const joining = options(
      { ...command, servers: ["https://127.0.0.1:1", cluster.url] },
      "second",
    );
    await joinCluster(joining);
    expect(files(joining)).toEqual([true, true]);
  });
});
