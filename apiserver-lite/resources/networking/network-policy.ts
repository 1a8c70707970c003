// NetworkPolicies: peers, ports and address blocks that make sense.
import type { FieldError } from "../../../api/errors.ts";
import { BlockList } from "node:net";
import { withoutLeadingZeros } from "../../../api/addresses/address-range.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  cidrProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../api/names.ts";
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from "../../../api/types/networking-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { selectorColumn } from "../apps/workload-validation.ts";
import { labelSelector, oneOf } from "../field-checks.ts";

function portProblems(
  field: string,
  { port, endPort, protocol }: NetworkPolicyPort,
): FieldError[] {
  const problems = oneOf(`${field}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  if (port === undefined || port === null) {
    if (endPort !== undefined) {
      problems.push(
        fieldErrors.invalid(
          `${field}.endPort`,
          endPort,
          "may not be specified when `port` is not specified",
        ),
      );
    }
    return problems;
  }
  if (typeof port === "string") {
    if (endPort !== undefined) {
      problems.push(
        fieldErrors.invalid(
          `${field}.endPort`,
          endPort,
          "may not be specified when `port` is non-numeric",
        ),
      );
    }
    return [
      ...problems,
      ...invalidEach(`${field}.port`, port, portNameProblems(port)),
    ];
  }
  problems.push(
    ...invalidEach(`${field}.port`, port, portNumberProblems(port)),
  );
  if (endPort !== undefined && endPort < port) {
    problems.push(
      fieldErrors.invalid(
        `${field}.endPort`,
        port,
        "must be greater than or equal to `port`",
      ),
    );
  }
  if (endPort !== undefined)
    problems.push(
      ...invalidEach(`${field}.endPort`, endPort, portNumberProblems(endPort)),
    );
  return problems;
}

function peerProblems(field: string, peer: NetworkPolicyPeer): FieldError[] {
  const problems = [
    ...labelSelector(`${field}.podSelector`, peer.podSelector),
    ...labelSelector(`${field}.namespaceSelector`, peer.namespaceSelector),
  ];
  if (!peer.podSelector && !peer.namespaceSelector && !peer.ipBlock) {
    problems.push(fieldErrors.required(field, "must specify a peer"));
  } else if (peer.ipBlock && (peer.podSelector || peer.namespaceSelector)) {
    problems.push(
      fieldErrors.forbidden(
        field,
        "may not specify both ipBlock and another peer",
      ),
    );
  }
  if (peer.ipBlock)
    problems.push(...blockProblems(`${field}.ipBlock`, peer.ipBlock));
  return problems;
}

function blockProblems(
  field: string,
  { cidr, except = [] }: NonNullable<NetworkPolicyPeer["ipBlock"]>,
): FieldError[] {
  if (!cidr) return [fieldErrors.required(`${field}.cidr`)];
  const wrong = cidrProblems(withoutLeadingZeros(cidr));
  if (wrong.length > 0) return invalidEach(`${field}.cidr`, cidr, wrong);
  return except.flatMap((one, index) => {
    const path = `${field}.except[${index}]`;
    const problems = cidrProblems(withoutLeadingZeros(one));
    if (problems.length > 0) return invalidEach(path, one, problems);
    return isStrictlyWithin(withoutLeadingZeros(one), withoutLeadingZeros(cidr))
      ? []
      : [fieldErrors.invalid(path, one, "must be a strict subset of `cidr`")];
  });
}

function isStrictlyWithin(inner: string, outer: string): boolean {
  const [[address = "", bits], [network = "", networkBits]] = [
    inner.split("/"),
    outer.split("/"),
  ];
  const family = network.includes(":") ? "ipv6" : "ipv4";
  if (address.includes(":") !== network.includes(":")) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(networkBits), family);
  return Number(bits) > Number(networkBits) && list.check(address, family);
}

function validatePolicy(object: Readonly<NetworkPolicy>): FieldError[] {
  const spec = object.spec;
  if (!spec) return [];
  const problems = labelSelector("spec.podSelector", spec.podSelector);
  for (const [direction, part, rules] of [
    [
      "ingress",
      "from",
      (spec.ingress ?? []).map((rule) => ({
        ports: rule.ports,
        peers: rule.from,
      })),
    ] as const,
    [
      "egress",
      "to",
      (spec.egress ?? []).map((rule) => ({
        ports: rule.ports,
        peers: rule.to,
      })),
    ] as const,
  ]) {
    for (const [index, { ports = [], peers = [] }] of rules.entries()) {
      const path = `spec.${direction}[${index}]`;
      for (const [at, port] of ports.entries())
        problems.push(...portProblems(`${path}.ports[${at}]`, port));
      for (const [at, peer] of peers.entries())
        problems.push(...peerProblems(`${path}.${part}[${at}]`, peer));
    }
  }
  const types = spec.policyTypes ?? [];
  if (types.length > 2) {
    problems.push(
      fieldErrors.invalid(
        "spec.policyTypes",
        asGo("[]networking.PolicyType", types),
        "may not specify more than two policyTypes",
      ),
    );
  }
  for (const [index, type] of types.entries()) {
    problems.push(
      ...oneOf(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"]),
    );
  }
  return problems;
}

export const networkPolicyStrategy = strategyOf<NetworkPolicy>({
  validate: validatePolicy,
  // The reference checks the spec once more.
  validateUpdate: validatePolicy,
  printRow: (object, now) => {
    const { metadata, spec } = object;
    return [
      metadata.name,
      selectorColumn(spec?.podSelector),
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
