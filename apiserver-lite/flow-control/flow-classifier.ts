// Which flow schema and priority level a request belongs to, as two headers. The schemas are the stored ones, by
// precedence, then name. Nothing is queued by them yet: the limits are the limiter's.
import type { UserInfo } from "../../api/contracts.ts";
import type {
  FlowSchema,
  PolicyRulesWithSubjects,
} from "../../api/types/flowcontrol-v1.ts";
import type { ClusterState } from "../resources/state.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { typed } from "../resources/typed.ts";

const group = "flowcontrol.apiserver.k8s.io";
/** Answers kept for one set of schemas. */
const maxKept = 4096;
/** Paths and names are the client's: longer keys are not kept. */
const maxKeyLength = 512;

interface FlowHeaders {
  readonly "x-kubernetes-pf-flowschema-uid": string;
  readonly "x-kubernetes-pf-prioritylevel-uid": string;
}

export class FlowClassifier {
  #schemas: FlowSchema[] | undefined;
  #kept = new Map<string, FlowHeaders | undefined>();
  readonly #stops: (() => void)[] = [];

  constructor(private readonly state: ClusterState) {}

  /** The state has been loaded. */
  start(): void {
    for (const resource of ["flowschemas", "prioritylevelconfigurations"])
      this.#stops.push(
        this.state.onChange(group, resource, () => {
          this.#schemas = undefined;
          this.#kept = new Map();
        }),
      );
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Undefined when no schema matches (before they are made). */
  classify(user: UserInfo, info: RequestInfo): FlowHeaders | undefined {
    const what = info.resourceRequest
      ? `${info.group}/${info.resource}/${info.subresource}/${info.namespace}`
      : info.path;
    const key = `${user.name} ${user.groups.join(",")} ${info.verb} ${what}`;
    if (key.length > maxKeyLength) return this.#find(user, info);
    const kept = this.#kept.get(key);
    if (kept || this.#kept.has(key)) return kept;
    const found = this.#find(user, info);
    if (this.#kept.size >= maxKept) this.#kept.clear();
    this.#kept.set(key, found);
    return found;
  }

  #find(user: UserInfo, info: RequestInfo): FlowHeaders | undefined {
    this.#schemas ??= this.#sorted();
    for (const { metadata, spec } of this.#schemas) {
      if (!spec?.rules?.some((rule) => matches(rule, user, info))) continue;
      const level = this.state.read(
        group,
        "prioritylevelconfigurations",
        "",
        spec.priorityLevelConfiguration.name,
      );
      if (!level) continue;
      return {
        "x-kubernetes-pf-flowschema-uid": metadata.uid ?? "",
        "x-kubernetes-pf-prioritylevel-uid": level.metadata.uid ?? "",
      };
    }
    return undefined;
  }

  #sorted(): FlowSchema[] {
    const schemas = typed<FlowSchema[]>(this.state.list(group, "flowschemas"));
    return [...schemas].sort(
      (a, b) =>
        (a.spec?.matchingPrecedence ?? 1000) -
          (b.spec?.matchingPrecedence ?? 1000) ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    );
  }
}

function matches(
  rule: PolicyRulesWithSubjects,
  user: UserInfo,
  info: RequestInfo,
): boolean {
  if (!rule.subjects.some((subject) => isSubject(subject, user))) return false;
  const has = (list: readonly string[] | undefined, wanted: string): boolean =>
    list?.some((item) => item === "*" || item === wanted) ?? false;
  if (!info.resourceRequest)
    return (rule.nonResourceRules ?? []).some(
      ({ verbs, nonResourceURLs }) =>
        has(verbs, info.verb) &&
        nonResourceURLs.some(
          (url) =>
            url === "*" ||
            url === info.path ||
            (url.endsWith("/*") && info.path.startsWith(url.slice(0, -1))),
        ),
    );
  const what = info.subresource
    ? `${info.resource}/${info.subresource}`
    : info.resource;
  return (rule.resourceRules ?? []).some(
    ({ verbs, apiGroups, resources, clusterScope, namespaces }) =>
      has(verbs, info.verb) &&
      has(apiGroups, info.group) &&
      has(resources, what) &&
      (info.namespace === ""
        ? clusterScope === true
        : has(namespaces, info.namespace)),
  );
}

function isSubject(
  subject: PolicyRulesWithSubjects["subjects"][number],
  { name, groups }: UserInfo,
): boolean {
  if (subject.kind === "User")
    return subject.user?.name === "*" || subject.user?.name === name;
  if (subject.kind === "Group")
    return (
      subject.group?.name === "*" || groups.includes(subject.group?.name ?? "")
    );
  const account = subject.serviceAccount;
  if (subject.kind !== "ServiceAccount" || !account) return false;
  const prefix = `system:serviceaccount:${account.namespace}:`;
  return account.name === "*"
    ? name.startsWith(prefix)
    : name === prefix + account.name;
}
