// What values of options have to be beyond their type: addresses, ranges, names, amounts. Each returns what is wrong.
import { isIP } from "node:net";
import {
  cidrProblems,
  dnsSubdomainProblems,
  ipProblems,
  isAgentLabel,
  labelKeyProblems,
  labelValueProblems,
} from "../../../api/names.ts";
import { parseQuantity } from "../../../api/quantity.ts";
import type { OptionValue } from "../table.ts";

type Check = (value: OptionValue) => string | undefined;

/** The elements of a list, whether the option is one or is written with commas. */
const elements = (value: OptionValue): readonly string[] =>
  (Array.isArray(value)
    ? (value as readonly string[])
    : String(value).split(",")
  )
    .map((part) => part.trim())
    .filter((part) => part !== "");

const each =
  (problems: (text: string) => readonly string[]): Check =>
  (value) => {
    for (const text of elements(value)) {
      const [problem] = problems(text);
      if (problem !== undefined) return `${JSON.stringify(text)} ${problem}`;
    }
    return undefined;
  };

export const areAddresses = each(ipProblems);
export const areRanges = each(cidrProblems);

/** One address, or none. */
export const isAddress: Check = (value) =>
  value === "" ? undefined : ipProblems(String(value))[0];

/** One address, or one of each family. */
export const isNodeAddress: Check = (value) => {
  const problem = areAddresses(value);
  if (problem !== undefined) return problem;
  const families = elements(value).map(isIP);
  if (
    families.length > 1 &&
    elements(value).some((text) => ["0.0.0.0", "::"].includes(text))
  )
    return "dual-stack node IPs cannot include '0.0.0.0' or '::'";
  return families.length > 2 || new Set(families).size < families.length
    ? "must be one address, or one of each family"
    : undefined;
};

/** A node's name is its lower case. */
export const isNodeName: Check = (value) =>
  value === ""
    ? undefined
    : dnsSubdomainProblems(String(value).trim().toLowerCase())[0];

export const isDomain: Check = (value) =>
  value === ""
    ? undefined
    : dnsSubdomainProblems(String(value).replace(/\.$/, ""))[0];

export const isUrl: Check = (value) =>
  value === "" || /^https?:\/\/[^/]/.test(String(value))
    ? undefined
    : "must be a URL of http or https";

/** Labels that a node may give itself. */
export const areNodeLabels: Check = (value) => {
  for (const [key, label] of Object.entries(
    value as Readonly<Record<string, string>>,
  )) {
    const [problem] = [...labelKeyProblems(key), ...labelValueProblems(label)];
    if (problem !== undefined) return `${key}=${label}: ${problem}`;
    if (!isAgentLabel(key))
      return `${key} is of the kubernetes.io or k8s.io domain, and none that a node may set itself (those of kubelet.kubernetes.io and node.kubernetes.io are)`;
  }
  return undefined;
};

const reservable = ["cpu", "memory", "ephemeral-storage", "pid"];

/** Amounts of what can be kept back for the system. */
export const areReservations: Check = (value) => {
  for (const [name, amount] of Object.entries(
    value as Readonly<Record<string, string>>,
  )) {
    if (!reservable.includes(name))
      return `cannot reserve ${JSON.stringify(name)}: it must be one of ${reservable.join(", ")}`;
    try {
      if (parseQuantity(amount).nano < 0n)
        return `the amount of ${JSON.stringify(name)} cannot be negative`;
    } catch (error) {
      return `${name}=${amount}: ${(error as Error).message}`;
    }
  }
  return undefined;
};
