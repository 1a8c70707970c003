// LeaderMigrationConfiguration: what a file means, and what is refused with its place.
import * as fs from "node:fs";
import * as path from "node:path";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { UsageError } from "../../../cli/options/table.ts";
import { leaderMigration } from "../../../cli/parts/controllers/leader-migration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();

async function read(text: string | undefined, ...argv: string[]) {
  const file = path.join(await tempDirectory(), "migration.yaml");
  if (text !== undefined) fs.writeFileSync(file, text);
  return leaderMigration(
    parseOptions(controllerManagerOptions, [
      `--leader-migration-config=${file}`,
      ...argv,
    ]),
  );
}
const enabled = "--enable-leader-migration";
const document = (version: string, ...lines: string[]): string =>
  [
    `apiVersion: controllermanager.config.k8s.io/${version}`,
    "kind: LeaderMigrationConfiguration",
    ...lines,
  ].join("\n");
const one = [
  "leaderName: moving",
  "controllerLeaders:",
  "- {name: job-controller, component: '*'}",
];

test.each<[string, string[]]>([
  ["v1", one],
  ["v1beta1", [...one, "resourceLock: leases"]],
  ["v1alpha1", [...one, "resourceLock: leases"]],
])("%s names the Lease and the controllers", async (version, lines) => {
  expect(await read(document(version, ...lines), enabled)).toEqual({
    leaderName: "moving",
    controllers: [{ name: "job-controller", component: "*" }],
  });
});

test("without a file it is the reference's; without the option or an election nothing is read", async () => {
  const values = parseOptions(controllerManagerOptions, [enabled]);
  expect(await leaderMigration(values)).toEqual({
    leaderName: "cloud-provider-extraction-migration",
    controllers: [
      { name: "route-controller", component: "*" },
      { name: "service-controller", component: "*" },
      { name: "cloud-node-lifecycle-controller", component: "*" },
    ],
  });
  expect(await read("junk")).toBeUndefined();
  expect(await read("junk", enabled, "--leader-elect=false")).toBeUndefined();
});

test.each<[string, string | undefined, RegExp[]]>([
  [
    "a missing file",
    undefined,
    [/^--leader-migration-config: ENOENT.*migration\.yaml/],
  ],
  ["no document", "", [/kind: must be LeaderMigrationConfiguration/]],
  [
    "another version",
    document("v2", ...one),
    [
      /migration\.yaml:1: apiVersion: must be controllermanager\.config\.k8s\.io\/v1 or/,
    ],
  ],
  [
    "no names",
    document("v1", "controllerLeaders:", "- {}", "- {name: 5, component: a}"),
    [
      /leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration/,
      /migration\.yaml:4: controllerLeaders\[0\]\.component: Required value/,
      /migration\.yaml:4: controllerLeaders\[0\]\.name: Required value/,
      /migration\.yaml:5: controllerLeaders\[1\]\.name: must be a string/,
    ],
  ],
  [
    "no lock",
    document("v1beta1", ...one),
    [
      /resourceLock: Invalid value: "": resource Lock must be one of 'leases' or 'endpoints'/,
    ],
  ],
  [
    "a lock that is gone",
    document("v1alpha1", ...one, "resourceLock: endpoints"),
    [/migration\.yaml:6: resourceLock: endpoints are no lock any more/],
  ],
  [
    "fields that are not there",
    document("v1", ...one, "resourceLock: leases", "leader: x"),
    [
      /migration\.yaml:6: resourceLock: unknown field/,
      /migration\.yaml:7: leader: unknown field/,
    ],
  ],
])("%s is refused", async (_, text, problems) => {
  const error: unknown = await read(text, enabled).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(UsageError);
  for (const problem of problems)
    expect((error as UsageError).message).toMatch(problem);
});
