// Profiles of seccomp, AppArmor and SELinux as the daemon takes them. A profile that can't be enforced is refused: the daemon
// itself would leave it out without a word.
import * as fs from "node:fs/promises";
import {
  RuntimeError,
  type ContainerConfig,
  type SandboxConfig,
  type SecurityProfile,
} from "../runtime.ts";
import type { DaemonFacts } from "./requests.ts";

type Security = Pick<
  ContainerConfig["security"] & SandboxConfig["security"],
  "privileged" | "apparmor" | "selinux"
> & { seccomp?: SecurityProfile | undefined; noNewPrivs?: boolean };

export async function securityOptions(
  security: Security,
  facts: Pick<DaemonFacts, "seccomp" | "apparmor">,
): Promise<string[]> {
  const { user, role, type, level } = security.selinux ?? {};
  const labels = Object.entries({ user, role, type, level }).flatMap(
    ([key, value]) =>
      value === undefined || value === "" ? [] : [`label=${key}:${value}`],
  );
  return [
    await seccompOption(security.seccomp, security.privileged, facts.seccomp),
    apparmorOption(security.apparmor, security.privileged, facts.apparmor),
    ...labels,
    security.noNewPrivs === true ? "no-new-privileges" : undefined,
  ].filter((option) => option !== undefined);
}

/** Without a profile nothing is filtered, as the reference has it; the daemon's default would be its own filter. */
async function seccompOption(
  profile: SecurityProfile | undefined,
  privileged: boolean,
  supported: boolean,
): Promise<string | undefined> {
  const type = privileged ? "unconfined" : (profile?.type ?? "unconfined");
  if (type === "unconfined")
    return supported ? "seccomp=unconfined" : undefined;
  if (!supported)
    throw new RuntimeError(
      "unsupported",
      "seccomp is not supported by the docker daemon of this machine",
    );
  if (type === "runtime-default") return undefined;
  const path = (profile?.localhostRef ?? "").replace(/^localhost\//, "");
  try {
    // In one line: the daemon takes the text of a profile, not its file.
    return `seccomp=${JSON.stringify(JSON.parse(await fs.readFile(path, "utf8")))}`;
  } catch (error) {
    throw new RuntimeError(
      "invalid",
      `failed to load seccomp profile "${path}": ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function apparmorOption(
  profile: SecurityProfile | undefined,
  privileged: boolean,
  supported: boolean,
): string | undefined {
  const type = privileged ? "unconfined" : profile?.type;
  if (type === undefined || type === "runtime-default") return undefined;
  if (type === "unconfined")
    return supported ? "apparmor=unconfined" : undefined;
  if (!supported)
    throw new RuntimeError(
      "unsupported",
      "AppArmor is not supported by the docker daemon of this machine",
    );
  return `apparmor=${(profile?.localhostRef ?? "").replace(/^localhost\//, "")}`;
}
