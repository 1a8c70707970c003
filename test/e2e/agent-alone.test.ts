// A node agent alone, without any API server: what its manifests directory takes, and orbitctl against its port.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import type { CommandResult } from "../support/kubectl.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

jest.setTimeout(60_000);

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
  );
const ctl = (...words: string[]): Promise<CommandResult> =>
  machine.orbit(
    "ctl",
    "--server=https://127.0.0.1:10250",
    "--insecure-skip-tls-verify",
    ...words,
  );
async function ctlText(...words: string[]): Promise<string> {
  const { stdout, stderr, code } = await ctl(...words);
  if (code !== 0) throw new Error(`orbitctl ${words.join(" ")}: ${stderr}`);
  return stdout;
}
const readyPods = async (): Promise<string[]> =>
  (await ctlText("get", "pods", "--no-headers"))
    .split("\n")
    .filter((line) => / 1\/1 +Running/.test(line))
    .map((line) => line.split(" ")[0]!);

beforeAll(async () => {
  lan = new NodeMachines();
  machine = lan.add("solo", 79, 1);
  fs.mkdirSync(directory());
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
    timeoutMs: 30_000,
    what: "the pods",
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${machine.log().slice(-4000)}`);
  });
}, 90_000);

afterAll(() => lan?.clean(), 60_000);

test("ConfigMaps, Secrets, claims and Services of the directory serve its pods", async () => {
  const text = await ctlText("logs", "web-solo");
  expect(text).toMatch(
    /^word sesame, page hello, count x, service 10\.43\.\d+\.\d+$/m,
  );
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
    { what: "the Service's name", timeoutMs: 15_000 },
  );
  expect(await inClient("cat /etc/resolv.conf")).toMatch(
    /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local.*\nnameserver 10\.43\.0\.10\noptions ndots:5\n$/,
  );
  const fetch = (place: string): Promise<string> =>
    inClient(
      `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${place} | tail -1`,
    );
  expect(await fetch(`${address} 80`)).toBe("hello");
  expect(await fetch(`${machine.address} 30080`)).toBe("hello");
});

test("each bad object is named by file and line", async () => {
  write(
    "bad.yaml",
    "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  type: LoadBalancer\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec: {storageClassName: fast}\n",
  );
  await eventually(() => machine.log().includes("bad.yaml:10"));
  expect(machine.log()).toMatch(
    /bad\.yaml:5: spec\.type: Unsupported value: "LoadBalancer"/,
  );
});
