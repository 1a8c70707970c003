// --authentication-config: the issuers of JSON web tokens with the rules that make users of their claims, and on which
// paths anonymous requests pass. Every problem of the file is named with its line; expressions are compiled here.
import { X509Certificate } from "node:crypto";
import {
  expressionMapping,
  loadExpressionCompiler,
  type ClaimExpression,
  type ClaimMapping,
  type ExpressionCompiler,
  type MappingRules,
} from "../../../../apiserver-lite/index.ts";
import { trimEnd } from "../../../../api/patterns/trim.ts";
import { ConfigurationSection } from "../../configuration-section.ts";

export interface JwtIssuer {
  readonly url: string;
  /** undefined: below the issuer's URL. */
  readonly discoveryUrl: string | undefined;
  /** PEM; undefined: the machine's roots. */
  readonly authority: string | undefined;
  readonly audiences: readonly string[];
  readonly mapping: ClaimMapping;
}

export interface AuthenticationConfig {
  readonly issuers: readonly JwtIssuer[];
  /** As the request chain takes it; undefined: the file does not say. */
  readonly anonymous: boolean | readonly string[] | undefined;
}

const maxIssuers = 64;
const kind = "AuthenticationConfiguration";
const versions = [
  "apiserver.config.k8s.io/v1alpha1",
  "apiserver.config.k8s.io/v1beta1",
];

/** @param ownIssuers of service account tokens: no other may have their names @throws UsageError */
export async function readAuthenticationConfig(
  text: string,
  file: string,
  ownIssuers: readonly string[],
): Promise<AuthenticationConfig> {
  const compiler = await loadExpressionCompiler();
  return ConfigurationSection.read(text, file, (section) => {
    section.object(kind, versions, ["jwt", "anonymous"]);
    const jwt = section.items("jwt");
    if (jwt.length > maxIssuers)
      section.problem(`must have at most ${maxIssuers} items`, "jwt");
    const urls = new Set<string>();
    const discoveryUrls = new Set<string>();
    return {
      issuers: jwt.map((each) =>
        readIssuer(each, compiler, ownIssuers, urls, discoveryUrls),
      ),
      anonymous: readAnonymous(section),
    };
  });
}

function readAnonymous(
  section: ConfigurationSection,
): AuthenticationConfig["anonymous"] {
  const anonymous = section.child("anonymous");
  if (anonymous.value === undefined || anonymous.value === null)
    return undefined;
  anonymous.fields(["enabled", "conditions"]);
  const enabled = anonymous.flag("enabled");
  const conditions = anonymous.items("conditions");
  const paths = conditions.map((condition) => {
    condition.fields(["path"]);
    return condition.text("path");
  });
  if (paths.length === 0) return enabled;
  if (!enabled)
    anonymous.problem(
      "enabled should be set to true when conditions are defined",
      anonymous.pathOf("conditions"),
    );
  return enabled ? paths : false;
}

function readIssuer(
  section: ConfigurationSection,
  compiler: ExpressionCompiler,
  ownIssuers: readonly string[],
  urls: Set<string>,
  discoveryUrls: Set<string>,
): JwtIssuer {
  section.fields([
    "issuer",
    "claimValidationRules",
    "claimMappings",
    "userValidationRules",
  ]);
  const issuer = section.child("issuer");
  issuer.fields([
    "url",
    "discoveryURL",
    "certificateAuthority",
    "audiences",
    "audienceMatchPolicy",
  ]);
  const url = issuer.text("url");
  const discoveryUrl = issuer.text("discoveryURL");
  if (url === "") issuer.problem("URL is required", issuer.pathOf("url"));
  else checkUrl(issuer, "url", url);
  if (ownIssuers.includes(url))
    issuer.problem(
      `URL must not overlap with disallowed issuers: ${ownIssuers.join(" ")}`,
      issuer.pathOf("url"),
    );
  if (urls.has(url)) issuer.problem("duplicate value", issuer.pathOf("url"));
  urls.add(url);
  if (discoveryUrl !== "") {
    checkUrl(issuer, "discoveryURL", discoveryUrl);
    if (trimEnd(url, "/") === trimEnd(discoveryUrl, "/"))
      issuer.problem(
        "discoveryURL must be different from URL",
        issuer.pathOf("discoveryURL"),
      );
    if (discoveryUrls.has(discoveryUrl))
      issuer.problem("duplicate value", issuer.pathOf("discoveryURL"));
    discoveryUrls.add(discoveryUrl);
  }
  const authority = issuer.text("certificateAuthority");
  if (authority !== "" && !isCertificate(authority))
    issuer.problem(
      "data does not contain any valid RSA or ECDSA certificates",
      issuer.pathOf("certificateAuthority"),
    );
  const rules = readRules(section, compiler);
  return {
    url,
    discoveryUrl: discoveryUrl === "" ? undefined : discoveryUrl,
    authority: authority === "" ? undefined : authority,
    audiences: readAudiences(issuer),
    mapping: expressionMapping(rules),
  };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function checkUrl(
  section: ConfigurationSection,
  name: string,
  text: string,
): void {
  const problem = (what: string): void =>
    section.problem(what, section.pathOf(name));
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return problem("is no URL");
  }
  if (url.protocol !== "https:") problem("URL scheme must be https");
  if (url.username !== "" || url.password !== "")
    problem("URL must not contain a username or password");
  if (text.includes("?")) problem("URL must not contain a query");
  if (text.includes("#")) problem("URL must not contain a fragment");
}

function readAudiences(issuer: ConfigurationSection): readonly string[] {
  const audiences = issuer.texts("audiences");
  const path = issuer.pathOf("audiences");
  if (audiences.length === 0)
    issuer.problem(`at least one ${path} is required`, path);
  audiences.forEach((audience, index) => {
    if (audience === "")
      issuer.problem("audience can't be empty", `${path}[${index}]`);
    if (audiences.indexOf(audience) < index)
      issuer.problem("duplicate value", `${path}[${index}]`);
  });
  const policy = issuer.text("audienceMatchPolicy");
  if (audiences.length > 1 && policy !== "MatchAny")
    issuer.problem(
      "audienceMatchPolicy must be MatchAny for multiple audiences",
      issuer.pathOf("audienceMatchPolicy"),
    );
  else if (policy !== "" && policy !== "MatchAny")
    issuer.problem(
      "audienceMatchPolicy must be empty or MatchAny for single audience",
      issuer.pathOf("audienceMatchPolicy"),
    );
  return audiences;
}

/** Where a file has problems the rules are incomplete: it is refused then. */
function readRules(
  section: ConfigurationSection,
  compiler: ExpressionCompiler,
): MappingRules {
  const reader = new RuleReader(compiler);
  const mappings = section.child("claimMappings");
  mappings.fields(["username", "groups", "uid", "extra"]);
  const { required, rules: claimRules } = reader.claimRules(section);
  const rules: MappingRules = {
    username: reader.source(mappings, "username", true) ?? {
      claim: "",
      prefix: "",
    },
    groups: reader.source(mappings, "groups", true),
    uid: reader.source(mappings, "uid", false),
    extra: reader.extra(mappings),
    requiredClaims: required,
    claimRules,
    userRules: reader.userRules(section),
  };
  const { username } = rules;
  const usesEmail =
    "expression" in username && username.expression.selects("email");
  const verifying = [
    ...("expression" in username ? [username.expression] : []),
    ...rules.extra.map(({ expression }) => expression),
    ...claimRules.map(({ expression }) => expression),
  ];
  if (usesEmail && !verifying.some((each) => each.selects("email_verified")))
    mappings.problem(
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
      `${mappings.path}.username.expression`,
    );
  return rules;
}

class RuleReader {
  constructor(private readonly compiler: ExpressionCompiler) {}

  /** Undefined: there is none, or it is refused. */
  source(
    mappings: ConfigurationSection,
    name: "username" | "groups" | "uid",
    hasPrefix: boolean,
  ): MappingRules["groups"] {
    const section = mappings.child(name);
    section.fields(["claim", "expression", ...(hasPrefix ? ["prefix"] : [])]);
    const claim = section.text("claim");
    const expression = section.text("expression");
    const prefix = section.child("prefix").value;
    if (claim !== "" && expression !== "")
      section.problem("claim and expression can't both be set");
    else if (expression !== "") {
      if (prefix !== undefined && prefix !== null)
        section.problem(
          "prefix can't be set when expression is set",
          section.pathOf("prefix"),
        );
      const compiled = this.compile(section, "expression", "claims", "any");
      return compiled && { expression: compiled };
    } else if (claim !== "") {
      if (hasPrefix && (prefix === undefined || prefix === null))
        section.problem(
          "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
          section.pathOf("prefix"),
        );
      return { claim, prefix: hasPrefix ? section.text("prefix") : "" };
    } else if (name === "username")
      section.problem("claim or expression is required");
    return undefined;
  }

  extra(mappings: ConfigurationSection): MappingRules["extra"] {
    const seen = new Set<string>();
    return mappings.items("extra").flatMap((section) => {
      section.fields(["key", "valueExpression"]);
      const key = section.text("key");
      const problem = keyProblem(key);
      if (problem) section.problem(problem, section.pathOf("key"));
      if (seen.has(key))
        section.problem("duplicate value", section.pathOf("key"));
      seen.add(key);
      if (section.text("valueExpression") === "") {
        section.problem(
          "valueExpression is required",
          section.pathOf("valueExpression"),
        );
        return [];
      }
      const expression = this.compile(
        section,
        "valueExpression",
        "claims",
        "any",
      );
      return expression ? [{ key, expression }] : [];
    });
  }

  claimRules(parent: ConfigurationSection): {
    required: Record<string, string>;
    rules: MappingRules["claimRules"];
  } {
    // A claim may be called __proto__: its rule must not get lost.
    const required = Object.create(null) as Record<string, string>;
    const seen = new Set<string>();
    const rules = parent.items("claimValidationRules").flatMap((section) => {
      section.fields(["claim", "requiredValue", "expression", "message"]);
      const claim = section.text("claim");
      const expression = section.text("expression");
      const requiredValue = section.text("requiredValue");
      const message = section.text("message");
      if (claim !== "" && expression !== "")
        section.problem("claim and expression can't both be set");
      else if (claim !== "") {
        if (message !== "")
          section.problem(
            "message can't be set when claim is set",
            section.pathOf("message"),
          );
        if (Object.hasOwn(required, claim))
          section.problem("duplicate value", section.pathOf("claim"));
        required[claim] = requiredValue;
      } else if (expression === "")
        section.problem("claim or expression is required");
      else {
        if (requiredValue !== "")
          section.problem(
            "requiredValue can't be set when expression is set",
            section.pathOf("requiredValue"),
          );
        return this.#rule(section, "claims", seen);
      }
      return [];
    });
    return { required, rules };
  }

  userRules(parent: ConfigurationSection): MappingRules["userRules"] {
    const seen = new Set<string>();
    return parent.items("userValidationRules").flatMap((section) => {
      section.fields(["expression", "message"]);
      if (section.text("expression") !== "")
        return this.#rule(section, "user", seen);
      section.problem("expression is required", section.pathOf("expression"));
      return [];
    });
  }

  #rule(
    section: ConfigurationSection,
    variable: "claims" | "user",
    seen: Set<string>,
  ): MappingRules["userRules"] {
    const text = section.text("expression");
    if (seen.has(text)) {
      section.problem("duplicate value", section.pathOf("expression"));
      return [];
    }
    seen.add(text);
    const expression = this.compile(section, "expression", variable, "bool");
    return expression ? [{ expression, message: section.text("message") }] : [];
  }

  compile(
    section: ConfigurationSection,
    name: string,
    variable: "claims" | "user",
    result: "any" | "bool",
  ): ClaimExpression | undefined {
    const compiled = this.compiler.compile(
      section.text(name),
      variable,
      result,
    );
    if ("program" in compiled) return compiled;
    section.problem(compiled.problem, section.pathOf(name));
    return undefined;
  }
}

/** A key is a path below the domain of the program that reads it. */
function keyProblem(key: string): string | undefined {
  const [domain = "", ...path] = key.split("/");
  if (
    !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(
      domain,
    ) ||
    !/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path.join("/"))
  )
    return 'must be a domain-prefixed path (such as "acme.io/foo")';
  if (key !== key.toLowerCase()) return "key must be lowercase";
  if (/(^|\.)(kubernetes|k8s)\.io$/.test(domain))
    return "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
  return undefined;
}
