// --enable-leader-migration and --leader-migration-config: which controllers run under a Lease of their own, so that they
// can be moved between this manager and another one without running in both. As at the reference the file is read only
// where the option asks for the migration, and there is none without an election. Every problem of the file is named with
// its line, in the reference's texts.
import { fieldErrors } from "../../../api/field-errors.ts";
import type { FieldError } from "../../../api/errors.ts";
import { normaliseApiVersion } from "../../../api/dialect.ts";
import type { ControllerOptions } from "../../../controllers/options.ts";
import type { OptionValues } from "../../options/parse.ts";
import { isMap } from "../../options/kubelet-configuration/configuration-document.ts";
import { ConfigurationSection } from "../configuration-section.ts";
import { readOptionFile } from "../option-files.ts";

type LeaderMigration = NonNullable<ControllerOptions["leaderMigration"]>;

const group = "controllermanager.config.k8s.io";
const latest = `${group}/v1`;

/** What the reference's manager takes without a file. */
const byDefault: LeaderMigration = {
  leaderName: "cloud-provider-extraction-migration",
  controllers: [
    "route-controller",
    "service-controller",
    "cloud-node-lifecycle-controller",
  ].map((name) => ({ name, component: "*" })),
};

/** Undefined: there is one Lease for all controllers. Throws a UsageError with every problem of the file. */
export async function leaderMigration(
  values: OptionValues,
): Promise<LeaderMigration | undefined> {
  if (!values.flag("enable-leader-migration") || !values.flag("leader-elect"))
    return undefined;
  const option = "leader-migration-config";
  const file = values.optionalText(option);
  if (!file) return byDefault;
  return readLeaderMigration(readOptionFile(option, file), file);
}

function readLeaderMigration(
  text: string,
  file: string,
): Promise<LeaderMigration> {
  return ConfigurationSection.read(text, file, (section) => {
    const report = ({ field, detail }: FieldError): void =>
      section.problem(detail, field);
    // The newest version has one kind of lock alone.
    const hasLock =
      isMap(section.value) &&
      normaliseApiVersion(String(section.value["apiVersion"])) !== latest;
    const found = section.object(
      "LeaderMigrationConfiguration",
      [latest, `${group}/v1beta1`, `${group}/v1alpha1`],
      ["leaderName", "controllerLeaders", ...(hasLock ? ["resourceLock"] : [])],
    );
    if (!found) return byDefault;
    const leaderName = section.text("leaderName");
    if (leaderName === "")
      report(
        fieldErrors.required(
          "leaderName",
          "leaderName must be set for LeaderMigrationConfiguration",
        ),
      );
    const lock = hasLock ? section.text("resourceLock") : "leases";
    if (lock === "endpoints")
      section.problem(
        "endpoints are no lock any more: leases is the only one",
        "resourceLock",
      );
    else if (lock !== "leases")
      report(
        fieldErrors.invalid(
          "resourceLock",
          lock,
          "resource Lock must be one of 'leases' or 'endpoints'",
        ),
      );
    const controllers = section.items("controllerLeaders").map((item) => {
      item.fields(["name", "component"]);
      const [component, name] = ["component", "name"].map((field) => {
        const value = item.text(field);
        if (value === "") report(fieldErrors.required(item.pathOf(field), ""));
        return value;
      });
      return { name: name!, component: component! };
    });
    return { leaderName, controllers };
  });
}
