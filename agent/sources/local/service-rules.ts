// What is wrong with a Service of a manifests directory. Types that need a controller are refused.
import { isIP } from "node:net";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../api/names.ts";
import type { Service, ServicePort } from "../../../api/types/core-v1.ts";
import { invalid, unsupported, type FieldProblem } from "./field-problem.ts";

const types = ["ClusterIP", "NodePort", "ExternalName"];
/** Values of fields that have few. */
const choices = {
  sessionAffinity: ["None", "ClientIP"],
  internalTrafficPolicy: ["Cluster", "Local"],
  externalTrafficPolicy: ["Cluster", "Local"],
  ipFamilyPolicy: ["SingleStack", "PreferDualStack", "RequireDualStack"],
} as const;

export function serviceProblems({ spec = {} }: Service): FieldProblem[] {
  const { type = "ClusterIP", clusterIP, ports = [] } = spec;
  if (!types.includes(type))
    return [
      {
        field: "spec.type",
        detail: `Unsupported value: "${type}": without an API server the supported values are ${types.map((each) => `"${each}"`).join(", ")}`,
      },
    ];
  const problems: FieldProblem[] = [];
  for (const [field, values] of Object.entries(choices)) {
    const value = spec[field as keyof typeof choices];
    if (value && !(values as readonly string[]).includes(value))
      problems.push(unsupported(`spec.${field}`, value, values));
  }
  for (const [key, value] of Object.entries(spec.selector ?? {}))
    problems.push(
      ...invalid("spec.selector", key, labelKeyProblems(key)),
      ...invalid("spec.selector", value, labelValueProblems(value)),
    );
  if (type === "ExternalName") {
    const name = spec.externalName?.replace(/\.$/, "") ?? "";
    return [
      ...problems,
      ...(name === ""
        ? [{ field: "spec.externalName", detail: "Required value" }]
        : invalid("spec.externalName", name, dnsSubdomainProblems(name))),
    ];
  }
  if (clusterIP && clusterIP !== "None" && isIP(clusterIP) === 0)
    problems.push(
      ...invalid("spec.clusterIP", clusterIP, [
        "must be empty, 'None', or a valid IP address",
      ]),
    );
  for (const [n, address] of (spec.externalIPs ?? []).entries())
    if (isIP(address) === 0)
      problems.push(
        ...invalid(`spec.externalIPs[${n}]`, address, [
          "must be a valid IP address",
        ]),
      );
  if (ports.length === 0 && clusterIP !== "None")
    problems.push({ field: "spec.ports", detail: "Required value" });
  return [...problems, ...portProblems(ports, type)];
}

function portProblems(
  ports: readonly ServicePort[],
  type: string,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  ports.forEach((port, n) => {
    const field = `spec.ports[${n}]`;
    const { name = "", protocol = "TCP", targetPort } = port;
    if (name === "" && ports.length > 1)
      problems.push({ field: `${field}.name`, detail: "Required value" });
    if (name !== "")
      problems.push(...invalid(`${field}.name`, name, dnsLabelProblems(name)));
    problems.push(
      ...invalid(`${field}.port`, port.port, portNumberProblems(port.port)),
    );
    if (!["TCP", "UDP", "SCTP"].includes(protocol))
      problems.push(
        unsupported(`${field}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
      );
    if (targetPort !== undefined)
      problems.push(
        ...invalid(
          `${field}.targetPort`,
          targetPort,
          typeof targetPort === "number"
            ? portNumberProblems(targetPort)
            : portNameProblems(targetPort),
        ),
      );
    if (port.nodePort && type === "ClusterIP")
      problems.push({
        field: `${field}.nodePort`,
        detail: "Forbidden: may not be used when `type` is 'ClusterIP'",
      });
    for (const key of [`name ${name}`, `${protocol} ${port.port}`]) {
      if (key === "name ") continue;
      if (seen.has(key))
        problems.push({ field, detail: `Duplicate value: ${key}` });
      seen.add(key);
    }
  });
  return problems;
}
