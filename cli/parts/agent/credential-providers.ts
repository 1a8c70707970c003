// --image-credential-provider-config: a CredentialProviderConfig (kubelet.config.k8s.io), whose programs lie in
// --image-credential-provider-bin-dir. A problem is a UsageError naming the option, or file, line and field.
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import * as path from "node:path";
import { parseDurationMs } from "../../../api/duration.ts";
import type { CredentialProvider } from "../../../agent/config/credential-provider.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { ConfigurationSection } from "../configuration-section.ts";

const programsOption = "image-credential-provider-bin-dir";
const fileOption = "image-credential-provider-config";
const fields = [
  "name",
  "matchImages",
  "defaultCacheDuration",
  "apiVersion",
  "args",
  "env",
];
/** Of the configuration, and of the requests that a program takes. */
const versions = (group: string): string[] =>
  ["v1", "v1beta1", "v1alpha1"].map((version) => `${group}/${version}`);

/** None when neither option is set; one needs the other, as at the reference. */
export async function credentialProviders(
  values: OptionValues,
): Promise<readonly CredentialProvider[]> {
  const file = values.optionalText(fileOption);
  const directory = values.optionalText(programsOption);
  if (!file && !directory) return [];
  if (!file || !directory)
    throw new UsageError(
      `--${file ? programsOption : fileOption}: must be set together with --${file ? fileOption : programsOption}`,
    );
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(
      `--${programsOption}: ${directory} is not a directory`,
    );
  return ConfigurationSection.read(textOf(file), file, (section) => {
    const known = section.object(
      "CredentialProviderConfig",
      versions("kubelet.config.k8s.io"),
      ["providers"],
    );
    if (!known) return [];
    const providers = section.items("providers");
    if (providers.length === 0)
      section.problem("at least 1 item is required", "providers");
    return providers.map((each) => readProvider(each, directory));
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--${fileOption}: ${(error as Error).message}`);
  }
}

function readProvider(
  section: ConfigurationSection,
  directory: string,
): CredentialProvider {
  section.fields(fields);
  const problem = (field: string, what: string): void =>
    section.problem(what, section.pathOf(field));
  const name = section.text("name");
  const program = path.join(directory, name);
  if (name === "") problem("name", "is required");
  else if (/[/ ]|^\.\.?$/.test(name))
    problem("name", "must not contain '/' or spaces, nor be '.' or '..'");
  else if (!executable(program))
    problem("name", `${program} is not an executable file`);
  const apiVersion = section.text("apiVersion");
  const known = versions("credentialprovider.kubelet.k8s.io");
  if (!known.includes(apiVersion))
    problem("apiVersion", `must be ${known.join(" or ")}`);
  const matchImages = section.texts("matchImages");
  if (matchImages.length === 0)
    problem("matchImages", "at least 1 item is required");
  for (const [index, image] of matchImages.entries())
    if (!validPattern(image))
      problem(
        `matchImages[${index}]`,
        "must be a host with an optional port and path, without a scheme",
      );
  const environment = section.items("env").map((variable) => {
    variable.fields(["name", "value"]);
    return [variable.text("name"), variable.text("value")] as const;
  });
  return {
    name,
    program,
    apiVersion,
    matchImages,
    defaultCacheMs: readCacheDuration(section),
    arguments: section.texts("args"),
    environment: Object.fromEntries(environment),
  };
}

function readCacheDuration(section: ConfigurationSection): number {
  const field = "defaultCacheDuration";
  const text = section.text(field);
  try {
    if (text === "") throw new Error("is required");
    const durationMs = parseDurationMs(text);
    if (durationMs < 0) throw new Error("must be greater than or equal to 0");
    return durationMs;
  } catch (error) {
    section.problem((error as Error).message, section.pathOf(field));
    return 0;
  }
}

const validPattern = (text: string): boolean =>
  text.length <= 1024 && /^[^\s/:]+(?::\d+)?(?:\/\S*)?$/.test(text);

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
