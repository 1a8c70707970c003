// A node agent alone, without any API server: what its manifests directory takes, and orbitctl against its port.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import type { CommandResult } from "../support/kubectl.ts";
import { orbitProgram } from "../support/start-orbit.ts";
import {
  authority,
  client,
  issueIn,
  type Pair,
} from "../support/openssl-certificates.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

const image = "docker.io/library/busybox:latest";
const manifests = `
apiVersion: v1
kind: ConfigMap
metadata: {name: page}
data: {index.html: hello}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {word: sesame}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: local-path
  resources: {requests: {storage: 1Mi}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: http, nodePort: 30080}]
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: web
    image: ${image}
    imagePullPolicy: IfNotPresent
    command: [sh, -c, 'echo $(cat /data/count)x > /data/count; echo "word $WORD, page $(cat /www/index.html), count $(cat /data/count), service $WEB_SERVICE_HOST"; exec httpd -f -p 8080 -h /www']
    env: [{name: WORD, valueFrom: {secretKeyRef: {name: key, key: word}}}]
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: page, mountPath: /www}, {name: data, mountPath: /data}]
  volumes:
  - {name: page, configMap: {name: page}}
  - {name: data, persistentVolumeClaim: {claimName: data}}
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: client
    image: ${image}
    imagePullPolicy: IfNotPresent
    command: [sleep, infinity]
`;

let lan: NodeMachines;
let machine: NodeMachine;
let clientCa: Pair;
let user: Pair;
const directory = (): string => path.join(machine.directory, "manifests");
const write = (file: string, text: string): void => {
  const target = path.join(directory(), file);
  fs.writeFileSync(`${target}~`, text);
  fs.renameSync(`${target}~`, target);
};
const startAgent = (): Promise<void> =>
  machine.start(
    "agent",
    `--root-dir=${machine.dataDirectory}`,
    `--pod-manifest-path=${directory()}`,
    "--fail-swap-on=false",
    `--client-ca-file=${clientCa.file}.crt`,
    "--anonymous-auth=false",
  );
const strangerCtl = (...words: string[]): Promise<CommandResult> =>
  machine.orbit(
    "ctl",
    "--server=https://127.0.0.1:10250",
    "--insecure-skip-tls-verify",
    ...words,
  );
const credentials = (): string[] => [
  `--client-certificate=${user.file}.crt`,
  `--client-key=${user.file}.key`,
];
const ctl = (...words: string[]): Promise<CommandResult> =>
  strangerCtl(...credentials(), ...words);
async function ctlText(...words: string[]): Promise<string> {
  const { stdout, stderr, code } = await ctl(...words);
  if (code !== 0) throw new Error(`orbitctl ${words.join(" ")}: ${stderr}`);
  return stdout;
}
const readyPods = async (): Promise<string[]> =>
  (await ctlText("get", "pods", "--no-headers"))
    .split("\n")
    .filter((line) => / 1\/1 +Running/.test(line))
    .map((line) => line.split(/ +/)[1]!);

beforeAll(async () => {
  lan = new NodeMachines();
  machine = lan.add("solo", 79, 1);
  fs.mkdirSync(directory());
  const issue = issueIn(machine.directory);
  clientCa = issue("clients", authority);
  user = issue("ada", client, clientCa);
  await startAgent();
  const loaded = await machine.orbit(
    "image",
    "load",
    await busyboxImageTar(),
    `--data-dir=${machine.dataDirectory}`,
  );
  expect(loaded).toMatchObject({ code: 0 });
  write("all.yaml", manifests);
  await eventually(async () => (await readyPods()).length === 2, {
    timeoutMs: 90_000,
    what: "the pods",
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${machine.log().slice(-4000)}`);
  });
});

afterAll(() => lan?.clean());

test("ConfigMaps, Secrets, claims and Services of the directory serve its pods", async () => {
  await eventually(async () => {
    expect(await ctlText("logs", "web-solo")).toMatch(
      /^word sesame, page hello, count x, service 10\.43\.\d+\.\d+$/m,
    );
    return true;
  });
});

const inClient = (script: string): Promise<string> =>
  ctl("exec", "client-solo", "--", "sh", "-c", script).then(
    ({ stdout, stderr }) => stdout + stderr,
  );

test("names and Services lead to the pods", async () => {
  // Busybox, which is static, resolves names in nslookup alone.
  let address = "";
  await eventually(
    async () => {
      const answer = await inClient("nslookup web.default.svc.cluster.local");
      address = /Address: +(10\.43\.\d+\.\d+)\n*$/.exec(answer)?.[1] ?? "";
      return address !== "";
    },
    { what: "the Service's name", timeoutMs: 60_000 },
  );
  expect(await inClient("cat /etc/resolv.conf")).toMatch(
    /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local.*\nnameserver 10\.43\.0\.10\noptions ndots:5\n$/,
  );
  const fetch = (place: string): Promise<string> =>
    inClient(
      `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${place} | tail -1`,
    );
  // The name and the rules are not of one part.
  for (const place of [`${address} 80`, `${machine.address} 30080`])
    await eventually(async () => (await fetch(place)) === "hello", {
      what: `an answer at ${place}`,
    });
});

test("each bad object is named by file and line", async () => {
  write(
    "bad.yaml",
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  type: LoadBalancer\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {storageClassName: fast}\n",
  );
  await eventually(() => machine.log().includes("bad.yaml:10"));
  await eventually(() =>
    /bad\.yaml:5: spec\.type: Unsupported value: "LoadBalancer"/.test(
      machine.log(),
    ),
  );
});

describe("orbitctl against the agent's port", () => {
  test("shows what there is", async () => {
    expect(await ctlText("get", "svc")).toMatch(
      /^NAMESPACE +NAME +TYPE +CLUSTER-IP .*\n(.*\n)*default +web +NodePort +10\.43\.\d+\.\d+ +<none> +80:30080\/TCP\n/,
    );
    expect(
      await ctlText("get", "pvc", "data", "-o", "jsonpath={.status.phase}"),
    ).toBe("Bound");
    const secret = await ctlText("get", "secret/key", "-o", "yaml");
    expect(secret).toContain('word: ""');
    const described = await ctlText("describe", "pod", "web-solo");
    expect(described).toMatch(/^Name: +web-solo\nNamespace: +default\n/);
    expect(described).toMatch(/ {4}State: +Running since /);
    expect(described).toMatch(/Events:\n(.*\n)* +Normal +Started +/);
    // A figure of processor time needs two looks.
    await eventually(async () => {
      expect(
        await ctlText("top", "pods", "--containers", "--no-headers"),
      ).toMatch(
        /^default +client-solo +client +\d+m +\d+Mi\ndefault +web-solo +web +\d+m +\d+Mi\n$/,
      );
      expect(await ctlText("top", "node")).toMatch(
        /^NAME .*\nsolo +\d+m +\d+Mi\n$/,
      );
      return true;
    });
  });

  test("tells what it is, and refuses what an API server has", async () => {
    expect(await ctlText("version")).toMatch(/\nServer Version: v1\.32\./);
    expect(await ctlText("api-resources", "-o", "wide")).toMatch(
      /\npods +po +v1 +true +Pod +delete,get,list +all\n(.*\n)*services +svc +v1 +true +Service +get,list +all\n$/,
    );
    expect(await ctlText("api-versions")).toBe("v1\n");
    expect(await ctlText("cluster-info")).toBe(
      "Node agent is running at https://127.0.0.1:10250\n",
    );
    const refused = await ctl("label", "pod", "client-solo", "a=b");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/the server is a node agent: its pods have/);
  });

  test("copies directories and files both ways", async () => {
    const here = path.join(machine.directory, "copies");
    fs.mkdirSync(path.join(here, "in/deep"), { recursive: true });
    const big = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef\n");
    fs.writeFileSync(path.join(here, "in/deep/big"), big);
    fs.writeFileSync(path.join(here, "in/a b"), "x");
    await ctlText("cp", path.join(here, "in"), "client-solo:/tmp");
    await ctlText("cp", "client-solo:/tmp/in", path.join(here, "out"));
    expect(fs.readFileSync(path.join(here, "out/deep/big")).equals(big)).toBe(
      true,
    );
    expect(fs.readFileSync(path.join(here, "out/a b"), "utf8")).toBe("x");
    await ctlText(
      "cp",
      path.join(here, "in/a b"),
      "default/client-solo:/tmp/named",
    );
    expect(await inClient("cat /tmp/named")).toBe("x");
    const missing = await ctl("cp", "client-solo:/none", here);
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toContain("none");
    expect(fs.readdirSync(here).sort()).toEqual(["in", "out"]);
  });

  test("an archive of a hostile container leads nowhere else", async () => {
    const here = path.join(machine.directory, "hostile");
    const outside = path.join(here, "outside");
    const archive = path.join(here, "a.tar");
    fs.mkdirSync(path.join(here, "made"), { recursive: true });
    fs.mkdirSync(outside);
    // A link to elsewhere, a file through it, and a name that climbs.
    execFileSync("sh", [
      "-c",
      `cd ${here}/made && ln -s ${outside} l && tar cf ${archive} l && rm l && mkdir l && echo x > l/x && tar rf ${archive} l/x && echo x > up && tar rPf ${archive} --transform s,^up,../../up, up`,
    ]);
    await ctlText("cp", archive, "client-solo:/tmp/a.tar");
    await inClient(
      `rm /bin/tar; printf '#!/bin/sh\\ncat /tmp/a.tar\\n' > /bin/tar; chmod +x /bin/tar`,
    );
    const target = path.join(here, "target");
    fs.mkdirSync(target);
    const { code } = await ctl("cp", "client-solo:/tmp/l", `${target}/l`);
    expect(code).toBe(1);
    expect(fs.readdirSync(outside)).toEqual([]);
    expect(fs.readdirSync(target)).toEqual([]);
    expect(fs.readdirSync(here).sort()).toEqual([
      "a.tar",
      "made",
      "outside",
      "target",
    ]);
  });

  test("attaches, and forwards ports", async () => {
    write(
      "echo.yaml",
      `apiVersion: v1\nkind: Pod\nmetadata: {name: echo}\nspec:\n  terminationGracePeriodSeconds: 0\n  containers:\n  - {name: echo, image: "${image}", imagePullPolicy: IfNotPresent, stdin: true, stdinOnce: true, command: [sh, -c, "while :; do echo up; sleep 0.2; done & read line; kill $!; echo got $line"]}\n  restartPolicy: Never\n`,
    );
    await eventually(async () => (await readyPods()).includes("echo-solo"));
    const attached = await machine.command(
      [
        process.execPath,
        orbitProgram,
        "ctl",
        "--server=https://127.0.0.1:10250",
        "--insecure-skip-tls-verify",
        ...credentials(),
        "attach",
        "-i",
        "echo-solo",
      ],
      { stdin: "there\n", stdinAfter: /^up$/m },
    );
    expect(attached.stdout).toMatch(/^(up\n)+got there\n$/);
    const answered = machine.run(
      "sh",
      "-c",
      `${[process.execPath, orbitProgram, "ctl", "--server=https://127.0.0.1:10250", "--insecure-skip-tls-verify", ...credentials()].join(" ")} port-forward web-solo 18080:http > ${machine.directory}/forward.log & pid=$!
       for n in $(seq 600); do grep -q Forwarding ${machine.directory}/forward.log && break; sleep 0.1; done
       curl -s http://127.0.0.1:18080/; kill $pid; wait $pid; echo " $?"`,
    );
    expect(answered).toBe("hello 0\n");
  });

  test("deletes a pod with its manifest; the claim keeps its content for the next", async () => {
    const refused = await ctl("delete", "pod", "client-solo");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(
      /Error from server \(Conflict\): .*all\.yaml has 6 objects/,
    );
    expect(await ctlText("delete", "pod", "echo-solo")).toBe(
      'pod "echo-solo" deleted\n',
    );
    expect(fs.readdirSync(directory())).not.toContain("echo.yaml");
    expect((await ctl("get", "pod", "echo-solo")).stderr).toMatch(
      /pods "echo-solo" not found/,
    );
    write("all.yaml", manifests.replace("page $(cat", "leaf $(cat"));
    await eventually(
      async () =>
        /leaf hello, count xx,/.test((await ctl("logs", "web-solo")).stdout),
      { timeoutMs: 60_000, what: "the second pod" },
    );
  });

  test("a stranger is refused", async () => {
    const tried = [
      ["get", "pods"],
      ["delete", "pod", "web-solo"],
      ["--token=x", "logs", "web-solo"],
    ];
    for (const result of await Promise.all(
      tried.map((words) => strangerCtl(...words)),
    ))
      expect(result).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/Unauthorized/) as string,
      });
  });
});
