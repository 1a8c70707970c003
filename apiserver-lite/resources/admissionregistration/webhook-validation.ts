// Validation of one webhook of a configuration: what it is called for, and where.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import {
  dns1035Problems,
  dnsSubdomainProblems,
  rangeProblem,
} from "../../../api/names.ts";
import type {
  MatchCondition,
  MutatingWebhook,
  RuleWithOperations,
  ValidatingWebhook,
  WebhookClientConfig,
} from "../../../api/types/admissionregistration-v1.ts";
import { exactlyOneOf, labelSelector } from "../field-checks.ts";
import { PolicyExpressions } from "./policy-expressions.ts";

type Webhook = ValidatingWebhook & Partial<MutatingWebhook>;

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const reviewVersions = ["v1", "v1beta1"];
const urlForm = "; desired format: https://host[/path]";

export function validateWebhook(field: string, webhook: Webhook): FieldError[] {
  const { name, failurePolicy, matchPolicy, timeoutSeconds } = webhook;
  const optional = (
    part: keyof Webhook & string,
    value: string | undefined,
    supported: readonly string[],
  ): FieldError[] =>
    value === undefined
      ? []
      : exactlyOneOf(`${field}.${part}`, value, supported);
  return [
    ...nameProblems(`${field}.name`, name),
    ...(webhook.rules ?? []).flatMap((rule, index) =>
      ruleProblems(`${field}.rules[${index}]`, rule),
    ),
    ...optional("failurePolicy", failurePolicy, ["Fail", "Ignore"]),
    ...optional("matchPolicy", matchPolicy, ["Equivalent", "Exact"]),
    ...(webhook.sideEffects
      ? exactlyOneOf(`${field}.sideEffects`, webhook.sideEffects, [
          "None",
          "NoneOnDryRun",
        ])
      : [
          fieldErrors.required(
            `${field}.sideEffects`,
            "must specify one of None, NoneOnDryRun",
          ),
        ]),
    ...(timeoutSeconds !== undefined &&
    (timeoutSeconds < 1 || timeoutSeconds > 30)
      ? [
          fieldErrors.invalid(
            `${field}.timeoutSeconds`,
            timeoutSeconds,
            "the timeout value must be between 1 and 30 seconds",
          ),
        ]
      : []),
    ...labelSelector(`${field}.namespaceSelector`, webhook.namespaceSelector),
    ...labelSelector(`${field}.objectSelector`, webhook.objectSelector),
    ...clientProblems(`${field}.clientConfig`, webhook.clientConfig),
    ...conditionProblems(
      `${field}.matchConditions`,
      webhook.matchConditions ?? [],
    ),
    ...optional("reinvocationPolicy", webhook.reinvocationPolicy, [
      "IfNeeded",
      "Never",
    ]),
    ...versionProblems(
      `${field}.admissionReviewVersions`,
      webhook.admissionReviewVersions ?? [],
    ),
  ];
}

function conditionProblems(
  field: string,
  conditions: readonly MatchCondition[],
): FieldError[] {
  return conditions.length === 0
    ? []
    : new PolicyExpressions(false, false).matchConditions(field, conditions);
}

function nameProblems(field: string, name: string): FieldError[] {
  if (!name) return [fieldErrors.required(field)];
  const wrong = dnsSubdomainProblems(name);
  if (wrong.length > 0) return invalidEach(field, name, wrong);
  return name.split(".").length < 3
    ? [
        fieldErrors.invalid(
          field,
          name,
          "should be a domain with at least three segments separated by dots",
        ),
      ]
    : [];
}

function versionProblems(
  field: string,
  versions: readonly string[],
): FieldError[] {
  const known = reviewVersions.join(", ");
  if (versions.length === 0)
    return [fieldErrors.required(field, `must specify one of ${known}`)];
  const problems = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [
          fieldErrors.invalid(
            `${field}[${index}]`,
            version,
            "duplicate version",
          ),
        ]
      : invalidEach(`${field}[${index}]`, version, dns1035Problems(version)),
  );
  if (!versions.some((version) => reviewVersions.includes(version)))
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("[]string", versions),
        `must include at least one of ${known}`,
      ),
    );
  return problems;
}

export function ruleProblems(
  field: string,
  rule: RuleWithOperations,
): FieldError[] {
  const asked = rule.operations ?? [];
  return [
    ...listProblems(
      `${field}.operations`,
      asked,
      "operations",
      "[]admissionregistration.OperationType",
    ),
    ...asked.flatMap((operation, index) =>
      exactlyOneOf(`${field}.operations[${index}]`, operation, operations),
    ),
    ...listProblems(`${field}.apiGroups`, rule.apiGroups ?? [], "API groups"),
    ...listProblems(
      `${field}.apiVersions`,
      rule.apiVersions ?? [],
      "API versions",
    ),
    ...emptyItems(`${field}.apiVersions`, rule.apiVersions ?? []),
    ...resourceProblems(`${field}.resources`, rule.resources ?? []),
    ...(rule.scope === undefined
      ? []
      : exactlyOneOf(`${field}.scope`, rule.scope, [
          "*",
          "Cluster",
          "Namespaced",
        ])),
  ];
}

/** At least one, and nothing beside "*". */
function listProblems(
  field: string,
  values: readonly string[],
  others: string,
  type = "[]string",
): FieldError[] {
  if (values.length === 0) return [fieldErrors.required(field)];
  return values.includes("*") && values.length > 1
    ? [
        fieldErrors.invalid(
          field,
          asGo(type, values),
          `if '*' is present, must not specify other ${others}`,
        ),
      ]
    : [];
}

const emptyItems = (field: string, values: readonly string[]): FieldError[] =>
  values.flatMap((value, index) =>
    value === "" ? [fieldErrors.required(`${field}[${index}]`)] : [],
  );

function resourceProblems(
  field: string,
  resources: readonly string[],
): FieldError[] {
  if (resources.length === 0) return [fieldErrors.required(field)];
  const problems: FieldError[] = [];
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const [index, name] of resources.entries()) {
    const path = `${field}[${index}]`;
    if (name === "") {
      problems.push(fieldErrors.required(path));
      continue;
    }
    const [resource = "", part] = name.split("/");
    const covers = (pattern: string): unknown =>
      problems.push(
        fieldErrors.invalid(
          path,
          name,
          `if '${pattern}' is present, must not specify ${name}`,
        ),
      );
    if (part === undefined) continue;
    if (whole.has(resource)) covers(`${resource}/*`);
    if (parts.has(part)) covers(`*/${part}`);
    if (part === "*") whole.add(resource);
    if (resource === "*") parts.add(part);
  }
  const plain = resources.filter((name) => !name.includes("/"));
  const alone = (text: string): unknown =>
    problems.push(
      fieldErrors.invalid(field, asGo("[]string", resources), text),
    );
  if (resources.includes("*/*") && resources.length > 1)
    alone("if '*/*' is present, must not specify other resources");
  if (resources.includes("*") && plain.length > 1)
    alone(
      "if '*' is present, must not specify other resources without subresources",
    );
  return problems;
}

export function clientProblems(
  field: string,
  config: WebhookClientConfig | undefined,
): FieldError[] {
  const { url, service } = config ?? {};
  if ((url === undefined) === (service === undefined))
    return [
      fieldErrors.required(field, "exactly one of url or service is required"),
    ];
  return service
    ? serviceProblems(`${field}.service`, service)
    : urlProblems(`${field}.url`, url!);
}

function urlProblems(field: string, url: string): FieldError[] {
  const parts =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#([^]*))?$/.exec(
      url,
    );
  if (!parts || url.startsWith(":"))
    return [
      fieldErrors.required(
        field,
        `url must be a valid URL: parse ${JSON.stringify(url)}: missing protocol scheme${urlForm}`,
      ),
    ];
  const [, scheme = "", user, host = "", query, fragment] = parts;
  const checks: [boolean, string, string][] = [
    [
      scheme !== "https",
      scheme,
      `'https' is the only allowed URL scheme${urlForm}`,
    ],
    [host === "", host, `host must be specified${urlForm}`],
    [
      user !== undefined,
      user ?? "",
      "user information is not permitted in the URL",
    ],
    [
      Boolean(fragment),
      fragment ?? "",
      "fragments are not permitted in the URL",
    ],
    [
      Boolean(query),
      query ?? "",
      "query parameters are not permitted in the URL",
    ],
  ];
  return checks
    .filter(([wrong]) => wrong)
    .map(([, value, text]) => fieldErrors.invalid(field, value, text));
}

function serviceProblems(
  field: string,
  { name, namespace, path, port }: NonNullable<WebhookClientConfig["service"]>,
): FieldError[] {
  const required = (part: string, value: string | undefined): FieldError[] =>
    value
      ? []
      : [
          fieldErrors.required(
            `${field}.${part}`,
            `service ${part} is required`,
          ),
        ];
  return [
    ...required("name", name),
    ...required("namespace", namespace),
    ...(port !== undefined && (port < 1 || port > 65535)
      ? [
          fieldErrors.invalid(
            `${field}.port`,
            port,
            `port is not valid: ${rangeProblem(1, 65535)}`,
          ),
        ]
      : []),
    ...(path === undefined || path === "" || path === "/"
      ? []
      : pathProblems(`${field}.path`, path)),
  ];
}

function pathProblems(field: string, path: string): FieldError[] {
  const segments = path.slice(1).split("/");
  const problems = segments.flatMap((segment, index) => {
    // The last one may be empty: the path ends with a slash.
    if (segment === "")
      return index > 0 && index === segments.length - 1
        ? []
        : [`segment[${index}] may not be empty`];
    return dnsSubdomainProblems(segment).map(
      (problem) => `segment[${index}]: ${problem}`,
    );
  });
  return invalidEach(field, path, [
    ...(path.startsWith("/") ? [] : ["must start with a '/'"]),
    ...problems,
  ]);
}
