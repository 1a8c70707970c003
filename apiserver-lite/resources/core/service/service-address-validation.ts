// What a service may say of its cluster IPs and their families: asked before addresses are given out, and again of the
// result; and which of it an update may change.
import { isIPv6 } from "node:net";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { ipProblems } from "../../../../api/names.ts";
import type { Service, ServiceSpec } from "../../../../api/types/core-v1.ts";
import { oneOf } from "../../field-checks.ts";

type Problems = FieldError[];

const familyPolicies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean =>
  clusterIPs?.length === 1 && clusterIPs[0] === "None";

function validateFamilies(spec: ServiceSpec): Problems {
  const families = spec.ipFamilies ?? [];
  return [
    ...families.flatMap((family, index) => {
      const field = `spec.ipFamilies[${index}]`;
      return [
        ...oneOf(field, family, ["IPv4", "IPv6"]),
        ...(families.indexOf(family) < index
          ? [fieldErrors.duplicate(field, family)]
          : []),
      ];
    }),
    ...oneOf("spec.ipFamilyPolicy", spec.ipFamilyPolicy, familyPolicies),
  ];
}

/** `expected an IPv6 value`: an address must be of the family named at its place. */
function validateMatch(ips: readonly string[], spec: ServiceSpec): Problems {
  return (spec.ipFamilies ?? [])
    .slice(0, ips.length)
    .flatMap((family, index) => {
      const found = isIPv6(ips[index]!) ? "IPv6" : "IPv4";
      return found === family || (family !== "IPv4" && family !== "IPv6")
        ? []
        : [
            fieldErrors.invalid(
              `spec.clusterIPs[${index}]`,
              ips[index],
              `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
            ),
          ];
    });
}

export function validateClusterIps(spec: ServiceSpec): Problems {
  if (spec.type === "ExternalName") return [];
  const field = "spec.clusterIPs";
  const ips = spec.clusterIPs ?? [];
  const about = (why: string): FieldError =>
    fieldErrors.invalid(field, ips, why);
  const problems: Problems = [];
  if (!spec.clusterIP && ips.length > 0)
    problems.push(about("must be empty when `clusterIP` is not specified"));
  else if (spec.clusterIP && ips.length === 0)
    problems.push(fieldErrors.required(field));
  else if (spec.clusterIP && ips[0] !== spec.clusterIP)
    problems.push(about("first value must match `clusterIP`"));
  problems.push(...validateFamilies(spec));
  const bad = ips.flatMap((ip, index) => {
    if (index > 0 || ip !== "None")
      return invalidEach(`${field}[${index}]`, ip, ipProblems(ip));
    return ips.length > 1
      ? [about("'None' must be the first and only value")]
      : [];
  });
  problems.push(...bad);
  if (ips.length > 2) problems.push(about("may only hold up to 2 values"));
  if (bad.length > 0) return problems;
  if (ips.length > 1 && new Set(ips.map(isIPv6)).size < 2)
    problems.push(about("may specify no more than one IP for each IP family"));
  return isHeadless(spec)
    ? problems
    : [...problems, ...validateMatch(ips, spec)];
}

/** One list of one or two entries: the first stays, the second may come, and goes only with SingleStack. */
function validateKept(
  name: "clusterIPs" | "ipFamilies",
  spec: ServiceSpec,
  was: ServiceSpec,
  unset: string,
  releasing: string,
): Problems {
  const [now, old] = [spec[name] ?? [], was[name] ?? []];
  const about = (index: number, why: string): FieldError =>
    fieldErrors.invalid(`spec.${name}[${index}]`, now, why);
  const changed = old
    .map((value, index) => index)
    .filter((index) => index < now.length && now[index] !== old[index])
    .filter((index) => index === 0 || now.length === old.length)
    .map((index) =>
      about(name === "clusterIPs" ? index : 0, "may not change once set"),
    );
  if (old.length <= now.length) return changed;
  return [
    ...(now.length === 0 ? [about(0, unset)] : []),
    ...changed,
    ...(now.length === 1 && spec.ipFamilyPolicy !== "SingleStack"
      ? [
          fieldErrors.invalid(
            "spec.ipFamilyPolicy",
            spec.ipFamilyPolicy,
            `must be set to 'SingleStack' when releasing the secondary ${releasing}`,
          ),
        ]
      : []),
  ];
}

export function validateAddressUpdate(
  service: Service,
  old: Service,
): Problems {
  const [spec, was] = [service.spec ?? {}, old.spec ?? {}];
  if (spec.type === "ExternalName" || was.type === "ExternalName") return [];
  const [headless, wasHeadless] = [isHeadless(spec), isHeadless(was)];
  return [
    ...(headless && wasHeadless
      ? []
      : validateKept(
          "clusterIPs",
          spec,
          was,
          "primary clusterIP can not be unset",
          "clusterIP",
        )),
    ...(headless || wasHeadless
      ? []
      : validateKept(
          "ipFamilies",
          spec,
          was,
          "primary ipFamily can not be unset",
          "ipFamily",
        )),
  ];
}
