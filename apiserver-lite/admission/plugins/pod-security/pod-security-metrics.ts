// What PodSecurity allowed, refused and passed over, with the reference's names. As there, audits and warnings are counted
// only where they found something.
import { Counters } from "../../../../api/metrics/counted.ts";
import type { Family } from "../../../../api/metrics/family.ts";
import type { AdmissionAttributes } from "../../plugin.ts";
import type { LevelVersion } from "./policy.ts";

const ofRequest = ["request_operation", "resource", "subresource"];
/** Later versions of policies are all called future: a label of a namespace can't make series without end. */
const newestMinor = 32;

function requestValues({
  operation,
  resource,
  subresource,
}: AdmissionAttributes): string[] {
  const known: Readonly<Record<string, string>> = {
    pods: "pod",
    namespaces: "namespace",
  };
  const kind = resource.group === "" ? known[resource.resource] : undefined;
  return [operation.toLowerCase(), kind ?? "controller", subresource];
}

function shownVersion({ level, minor }: LevelVersion): string {
  if (level === "privileged" || minor === Infinity) return "latest";
  return minor > newestMinor ? "future" : `v1.${minor}`;
}

export class PodSecurityMetrics {
  readonly #evaluations = new Counters({
    name: "pod_security_evaluations_total",
    help: "[ALPHA] Evaluations of policies for pods, by what came out; exempt requests are not among them.",
    labels: ["decision", "policy_level", "policy_version", "mode"].concat(
      ofRequest,
    ),
  });
  readonly #exemptions = new Counters({
    name: "pod_security_exemptions_total",
    help: "[ALPHA] Requests that were exempt.",
    labels: ofRequest,
  });
  readonly #errors = new Counters({
    name: "pod_security_errors_total",
    help: "[ALPHA] Errors that kept from an evaluation (fatal) or had the strictest policy taken.",
    labels: ["fatal", ...ofRequest],
  });

  evaluated(
    decision: "allow" | "deny",
    policy: LevelVersion,
    mode: "enforce" | "audit" | "warn",
    request: AdmissionAttributes,
  ): void {
    this.#evaluations.count(
      ...[decision, policy.level, shownVersion(policy), mode],
      ...requestValues(request),
    );
  }

  exempted(request: AdmissionAttributes): void {
    this.#exemptions.count(...requestValues(request));
  }

  /** A namespace's labels could not all be read. */
  unreadable(request: AdmissionAttributes): void {
    this.#errors.count("false", ...requestValues(request));
  }

  families(): Family[] {
    return [
      this.#evaluations.family(),
      this.#exemptions.family(),
      this.#errors.family(),
    ];
  }
}
