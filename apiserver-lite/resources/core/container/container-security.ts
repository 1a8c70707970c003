// Who a container runs as and what keeps it in: ids, seccomp, AppArmor, Windows accounts, for containers and for pods.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../../api/names.ts";
import type {
  AppArmorProfile,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from "../../../../api/types/core-v1.ts";
import { joined, oneOf } from "../../field-checks.ts";
import { validateRelativePath } from "./container-environment.ts";

type Problems = FieldError[];

const maxId = 2 ** 31 - 1;
const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
const maxAppArmorPath = 4095;

export function idInRange(field: string, id: number | undefined): Problems {
  return id === undefined || (id >= 0 && id <= maxId)
    ? []
    : [
        fieldErrors.invalid(
          field,
          id,
          `must be between 0 and ${maxId}, inclusive`,
        ),
      ];
}

function profileType(field: string, name: string, type: string): Problems {
  return type
    ? oneOf(`${field}.type`, type, profileTypes)
    : [
        fieldErrors.required(
          `${field}.type`,
          `type is required when ${name} is set`,
        ),
      ];
}

export function validateSeccomp(
  field: string,
  profile: SeccompProfile | undefined,
): Problems {
  if (!profile) return [];
  const { type, localhostProfile } = profile;
  const path = `${field}.localhostProfile`;
  const problems = profileType(field, "seccompProfile", type);
  if (type !== "Localhost") {
    if (localhostProfile !== undefined)
      problems.push(
        fieldErrors.invalid(
          path,
          asGo("core.SeccompProfile", profile),
          "can only be set when seccomp type is Localhost",
        ),
      );
  } else if (localhostProfile === undefined)
    problems.push(
      fieldErrors.required(path, "must be set when seccomp type is Localhost"),
    );
  else problems.push(...validateRelativePath(path, localhostProfile));
  return problems;
}

export function validateAppArmor(
  field: string,
  profile: AppArmorProfile | undefined,
): Problems {
  if (!profile) return [];
  const { type, localhostProfile: file } = profile;
  const path = `${field}.localhostProfile`;
  const problems = profileType(field, "appArmorProfile", type);
  if (type === "Localhost") {
    if (!file?.trim())
      problems.push(
        fieldErrors.required(
          path,
          "must be set when AppArmor type is Localhost",
        ),
      );
    else {
      if (file.trim() !== file)
        problems.push(
          fieldErrors.invalid(path, file, "must not be padded with whitespace"),
        );
      if (file.length > maxAppArmorPath)
        problems.push(fieldErrors.tooLong(path, maxAppArmorPath));
    }
  } else if (file !== undefined && profileTypes.includes(type))
    problems.push(
      fieldErrors.invalid(
        path,
        file,
        "can only be set when AppArmor type is Localhost",
      ),
    );
  return problems;
}

const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = "[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?";
const dnsDomain = new RegExp(`^${dnsLabel}(\\.${dnsLabel})*$`);
const maxDomain = 256;
const maxUser = 104;
const maxCredentialKib = 64;

/** Problems of DOMAIN\user or user; texts only. */
function accountProblems(account: string): string[] {
  if (account === "") return ["cannot be an empty string"];
  if (/\p{Cc}/u.test(account)) return ["cannot contain control characters"];
  const parts = account.split("\\");
  if (parts.length > 2) return ["cannot contain more than one backslash"];
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const user = parts.at(-1)!;
  const wrong: [boolean, string][] = [
    [
      (domain?.length ?? 0) >= maxDomain,
      `'s Domain length must be under ${maxDomain} characters`,
    ],
    [
      domain !== undefined &&
        !netBiosName.test(domain) &&
        !dnsDomain.test(domain),
      "'s Domain doesn't match the NetBios nor the DNS format",
    ],
    [user === "", "'s User cannot be empty"],
    [
      user.length > maxUser,
      `'s User length must not be longer than ${maxUser} characters`,
    ],
    [/^[. ]+$/.test(user), "'s User cannot contain only periods or spaces"],
    [
      /["/\\:;|=,+*?<>@[\]]/.test(user),
      "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]",
    ],
  ];
  return wrong.filter(([is]) => is).map(([, text]) => text);
}

export function validateWindows(
  field: string,
  options: WindowsSecurityContextOptions | undefined,
): Problems {
  if (!options) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const problems: Problems = [];
  if (gmsaCredentialSpecName !== undefined)
    problems.push(
      ...invalidEach(
        `${field}.gmsaCredentialSpecName`,
        gmsaCredentialSpecName,
        dnsSubdomainProblems(gmsaCredentialSpecName),
      ),
    );
  if (gmsaCredentialSpec !== undefined) {
    const bytes = Buffer.byteLength(gmsaCredentialSpec);
    const wrong =
      bytes === 0
        ? "cannot be an empty string"
        : bytes > maxCredentialKib * 1024
          ? `size must be under ${maxCredentialKib} KiB`
          : undefined;
    if (wrong)
      problems.push(
        fieldErrors.invalid(
          `${field}.gmsaCredentialSpec`,
          gmsaCredentialSpec,
          `gmsaCredentialSpec ${wrong}`,
        ),
      );
  }
  if (runAsUserName !== undefined)
    problems.push(
      ...invalidEach(
        `${field}.runAsUserName`,
        runAsUserName,
        accountProblems(runAsUserName).map((text) =>
          text.startsWith("'")
            ? `runAsUserName${text}`
            : `runAsUserName ${text}`,
        ),
      ),
    );
  return problems;
}

/** Escalation is what privileges are for: it can't be refused beside them. */
function validateEscalation(field: string, context: SecurityContext): Problems {
  if (context.allowPrivilegeEscalation !== false) return [];
  const beside = [
    ...(context.privileged ? ["`privileged` to true"] : []),
    ...(context.capabilities?.add ?? [])
      .filter((capability) => capability === "CAP_SYS_ADMIN")
      .map(() => "`capabilities.Add` CAP_SYS_ADMIN"),
  ];
  return beside.map((what) =>
    fieldErrors.invalid(
      field,
      asGo("core.SecurityContext", context),
      `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
    ),
  );
}

/** Without a user namespace of its own a container would see the host's /proc. */
function validateProcMount(
  field: string,
  procMount: string | undefined,
  hostUsers: boolean,
): Problems {
  if (procMount === undefined) return [];
  const known = ["Default", "Unmasked"];
  return joined(
    known.includes(procMount)
      ? []
      : [fieldErrors.notSupported(field, procMount, known)],
    hostUsers && procMount === "Unmasked"
      ? [
          fieldErrors.invalid(
            field,
            procMount,
            "`hostUsers` must be false to use `Unmasked`",
          ),
        ]
      : [],
  );
}

export function validateSecurityContext(
  field: string,
  context: SecurityContext | undefined,
  hostUsers: boolean,
): Problems {
  if (!context) return [];
  return joined(
    idInRange(`${field}.runAsUser`, context.runAsUser),
    idInRange(`${field}.runAsGroup`, context.runAsGroup),
    validateProcMount(`${field}.procMount`, context.procMount, hostUsers),
    validateSeccomp(`${field}.seccompProfile`, context.seccompProfile),
    validateEscalation(field, context),
    validateWindows(`${field}.windowsOptions`, context.windowsOptions),
    validateAppArmor(`${field}.appArmorProfile`, context.appArmorProfile),
  );
}
