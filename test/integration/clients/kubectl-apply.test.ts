// Stock kubectl moving an object from client-side to server-side apply, and the conflicts it meets then.
import * as fs from "node:fs";
import * as path from "node:path";
import { deployments, startCluster, type Cluster } from "../../../index.ts";
import { createKubectl, type Kubectl } from "../../support/kubectl.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
let cluster: Cluster;
let kubectl: Kubectl;

const manifest = (replicas: number | undefined, image: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: moved, namespace: default, labels: {by: hand}}
spec:
${replicas === undefined ? "" : `  replicas: ${replicas}`}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: ${image}}]}
`;
const managers = async () =>
  (
    (await cluster.client.resource(deployments).get("moved", "default"))
      .metadata.managedFields ?? []
  )
    .map(({ manager, operation }) => `${manager} ${operation}`)
    .sort();

beforeAll(async () => {
  cluster = await startCluster({ controllers: false, scheduler: false });
});
afterAll(() => cluster.stop());
beforeEach(() => {
  const file = path.join(directory(), "kubeconfig");
  fs.writeFileSync(file, cluster.kubeconfig, { mode: 0o600 });
  kubectl = createKubectl(file);
});

test("from client-side to server-side apply", async () => {
  const apply = (text: string, ...more: string[]) =>
    kubectl(["apply", ...more, "-f", "-"], { stdin: text });
  expect(await apply(manifest(1, "one"))).toMatchObject({
    code: 0,
    stdout: "deployment.apps/moved created\n",
  });
  expect(await managers()).toEqual(["kubectl-client-side-apply Update"]);
  expect(await apply(manifest(1, "one"))).toMatchObject({
    stdout: "deployment.apps/moved unchanged\n",
  });

  expect(await apply(manifest(1, "two"), "--server-side")).toMatchObject({
    code: 0,
    stdout: "deployment.apps/moved serverside-applied\n",
  });
  // kubectl itself keeps the annotation, under a manager of its own.
  const appliers = ["kubectl Apply", "kubectl-last-applied Apply"];
  expect(await managers()).toEqual(appliers);

  // What is applied no longer goes back to its default.
  await kubectl("label deployment moved other=label");
  expect((await apply(manifest(2, "two"), "--server-side")).code).toBe(0);
  expect(
    (await cluster.client.resource(deployments).get("moved", "default"))
      .metadata.labels,
  ).toEqual({ by: "hand", other: "label" });

  await kubectl("scale deployment moved --replicas=5");
  const conflict = await apply(manifest(3, "two"), "--server-side");
  expect(conflict.code).toBe(1);
  expect(conflict.stderr).toContain(
    'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
  );
  // Left to the other, or taken by force.
  expect((await apply(manifest(undefined, "two"), "--server-side")).code).toBe(
    0,
  );
  expect(
    (await cluster.client.resource(deployments).get("moved", "default")).spec
      .replicas,
  ).toBe(5);
  expect(
    (await apply(manifest(3, "two"), "--server-side", "--force-conflicts"))
      .code,
  ).toBe(0);
  expect(await managers()).toEqual([
    "kubectl Apply",
    "kubectl-label Update",
    "kubectl-last-applied Apply",
  ]);

  const diff = await kubectl(["diff", "--server-side", "-f", "-"], {
    stdin: manifest(4, "two"),
  });
  expect(diff.code).toBe(1);
  expect(diff.stdout).toMatch(/-\s+replicas: 3\n\+\s+replicas: 4/);
});
