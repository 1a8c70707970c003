// A webhook of a configuration, ready to be asked, and the list of all: kept by the server's own watch, so that a
// configuration is in effect for the request that follows its write. Without configurations a request pays for a look at
// an empty list.
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
} from "../../../api/types/admissionregistration-v1.ts";
import type { CompiledCondition } from "../expressions/match-conditions.ts";
import { RequestMatcher } from "../matching/request-matcher.ts";
import type { ClusterState } from "../../resources/state.ts";
import { typed } from "../../resources/typed.ts";
import { compileConditions } from "./compile-conditions.ts";

export interface Webhook {
  readonly name: string;
  readonly configuration: string;
  /** Among all of its kind; names may come twice. */
  readonly id: string;
  readonly spec: ValidatingWebhook & Partial<MutatingWebhook>;
  readonly matcher: RequestMatcher;
  /** All must hold of a request that matches. */
  readonly conditions: readonly CompiledCondition[];
  /** The version of reviews to send; undefined: none that is known here. */
  readonly reviewVersion: "v1" | "v1beta1" | undefined;
  /** failurePolicy Ignore. */
  readonly ignoresFailures: boolean;
  readonly timeoutMs: number;
}

const group = "admissionregistration.k8s.io";
const defaultTimeoutSeconds = 10;

export class WebhookList {
  /** Undefined: to be made of the state. */
  #webhooks: readonly Webhook[] | undefined;

  constructor(
    private readonly state: ClusterState,
    private readonly resource:
      "mutatingwebhookconfigurations" | "validatingwebhookconfigurations",
  ) {
    state.onChange(group, resource, () => (this.#webhooks = undefined));
  }

  /** In the order they are called: by the configurations' names, then as each configuration has them. */
  all(): readonly Webhook[] {
    return (this.#webhooks ??= this.#read());
  }

  #read(): readonly Webhook[] {
    const found = typed<readonly MutatingWebhookConfiguration[]>(
      this.state.list(group, this.resource),
    );
    return found
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
      .flatMap((configuration) => {
        const seen = new Map<string, number>();
        return (configuration.webhooks ?? []).map((spec) => {
          const count = seen.get(spec.name) ?? 0;
          seen.set(spec.name, count + 1);
          return compile(nameOf(configuration), spec, count);
        });
      });
  }
}

const nameOf = ({ metadata }: MutatingWebhookConfiguration): string =>
  metadata.name ?? "";

function compile(
  configuration: string,
  spec: MutatingWebhook,
  index: number,
): Webhook {
  const { timeoutSeconds = defaultTimeoutSeconds } = spec;
  return {
    name: spec.name,
    configuration,
    id: `${configuration}/${spec.name}/${index}`,
    spec,
    matcher: new RequestMatcher({
      rules: spec.rules ?? [],
      matchPolicy: spec.matchPolicy,
      namespaceSelector: spec.namespaceSelector,
      objectSelector: spec.objectSelector,
    }),
    conditions: compileConditions(spec.matchConditions ?? []),
    reviewVersion: spec.admissionReviewVersions.find(
      (version) => version === "v1" || version === "v1beta1",
    ),
    ignoresFailures: spec.failurePolicy === "Ignore",
    timeoutMs: timeoutSeconds * 1000,
  };
}
