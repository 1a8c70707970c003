// NetworkPolicies: peers, ports and address blocks that make sense.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
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
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { selectorColumn } from "../apps/workload-validation.ts";
import { labelSelector, oneOf } from "../field-checks.ts";

const asPolicy = (object: Readonly<AnyObject>): NetworkPolicy =>
  object as unknown as NetworkPolicy;

function portProblems(
  field: string,
  { port, endPort, protocol }: NetworkPolicyPort,
): FieldError[] {
  const problems = oneOf(`${field}.protocol`, protocol, ["SCTP", "TCP", "UDP"]);
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
        endPort,
        "must be greater than or equal to `port`",
      ),
    );
  }
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
  if (peer.ipBlock) {
    problems.push(
      ...invalidEach(
        `${field}.ipBlock.cidr`,
        peer.ipBlock.cidr,
        cidrProblems(peer.ipBlock.cidr),
      ),
    );
    for (const [index, cidr] of (peer.ipBlock.except ?? []).entries()) {
      problems.push(
        ...invalidEach(
          `${field}.ipBlock.except[${index}]`,
          cidr,
          cidrProblems(cidr),
        ),
      );
    }
  }
  return problems;
}

export const networkPolicyStrategy: ResourceStrategy = {
  validate(object) {
    const spec = asPolicy(object).spec;
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
          types,
          "may not specify more than two policyTypes",
        ),
      );
    }
    for (const [index, type] of types.entries()) {
      problems.push(
        ...oneOf(`spec.policyTypes[${index}]`, type, ["Egress", "Ingress"]),
      );
    }
    return problems;
  },
  printRow: (object, now) => {
    const { metadata, spec } = asPolicy(object);
    return [
      metadata.name,
      selectorColumn(spec?.podSelector),
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};
