// The library as a project installs it: what `npm pack` puts together has the types of everything that it exports.
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import { useTempDirectories } from "../../support/temp-directory.ts";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../../..");
const directory = useTempDirectories();

const consumer = (name: string): string => `
import { pods, startCluster, type Cluster, type KubeObject, type ObjectOf, type ResourceRef } from ${JSON.stringify(name)};

type Widget = KubeObject & { spec: { size?: number } };
const widgets: ResourceRef<Widget> = { group: "example.com", version: "v1", resource: "widgets", kind: "Widget", namespaced: true };

export async function use(): Promise<readonly Widget[]> {
  const cluster: Cluster = await startCluster();
  const pod: ObjectOf<typeof pods> = await cluster.client.resource(pods).get("a", "default");
  const node: string | undefined = pod.spec?.nodeName;
  // @ts-expect-error a pod's spec has no such field
  pod.spec?.nodeNames;
  const { lister } = cluster.client.informer(widgets);
  return lister.list(node);
}
`;

test("the built package has the types that package.json names, and a project compiles against them", async () => {
  const project = directory();
  const installed = path.join(project, "node_modules/orbit");
  const { name, types, scripts } = JSON.parse(
    fs.readFileSync(path.join(root, "package.json"), "utf8"),
  ) as { name: string; types: string; scripts: Record<string, string> };
  expect(scripts["prepack"]).toBe("node tools/build.mjs --types");
  await run(
    process.execPath,
    ["tools/build.mjs", "--types", "--out", path.join(installed, "dist")],
    { cwd: root },
  );
  fs.copyFileSync(
    path.join(root, "package.json"),
    path.join(installed, "package.json"),
  );
  expect(fs.existsSync(path.join(installed, types))).toBe(true);
  expect(fs.existsSync(path.join(installed, "dist/types/test"))).toBe(false);
  // What the package depends on lies beside it.
  for (const each of fs.readdirSync(path.join(root, "node_modules")))
    if (!each.startsWith("."))
      fs.symlinkSync(
        path.join(root, "node_modules", each),
        path.join(project, "node_modules", each),
      );
  fs.writeFileSync(path.join(project, "use.mts"), consumer(name));
  await run(
    process.execPath,
    [
      path.join(root, "node_modules/typescript-go/bin/tsc"),
      ...["--noEmit", "--strict", "--target", "es2022"],
      ...["--module", "node16", "--moduleResolution", "node16"],
      "use.mts",
    ],
    { cwd: project },
  );
});
