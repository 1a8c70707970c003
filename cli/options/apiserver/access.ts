// Options of the API server about who may do what: authentication; authorization and admission.
import { group, option } from "../build-table.ts";
import type { OptionTable, OptionValue } from "../table.ts";

const authorizationModes = [
  "AlwaysAllow",
  "AlwaysDeny",
  "ABAC",
  "Webhook",
  "RBAC",
  "Node",
];
const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
];

const secureAddress = (value: OptionValue): string | undefined =>
  /^(https:\/\/|-$)/.test(String(value)) || String(value) === ""
    ? undefined
    : "must be an https URL";

export const authenticationOptions: OptionTable = [
  group(
    "Authentication",
    option("anonymous-auth", "bool", "true", "Allow anonymous requests."),
    option(
      "authentication-config",
      "string",
      "",
      "Structured authentication file.",
    ),
    option(
      "client-ca-file",
      "string",
      "",
      "CA bundle of client certificates; `orbit server` takes those of its own authority as well.",
    ),
    option(
      "token-auth-file",
      "string",
      "",
      'CSV file of static tokens: token,user,uid,"group1,group2".',
    ),
    option(
      "enable-bootstrap-token-auth",
      "bool",
      "false",
      "Accept bootstrap tokens.",
    ),
    option(
      "authentication-token-webhook-config-file",
      "string",
      "",
      "Kubeconfig of the token webhook.",
    ),
    option(
      "authentication-token-webhook-cache-ttl",
      "duration",
      "2m0s",
      "How long its answers are kept.",
    ),
    option(
      "authentication-token-webhook-version",
      "string",
      "v1beta1",
      "TokenReview version.",
      { values: ["v1beta1", "v1"] },
    ),
    option("oidc-issuer-url", "string", "", "HTTPS issuer.", {
      check: secureAddress,
    }),
    option(
      "oidc-client-id",
      "string",
      "",
      "Client id; required with the issuer.",
    ),
    option("oidc-ca-file", "string", "", "CA of the issuer."),
    option("oidc-username-claim", "string", "sub", "Claim of the user name."),
    option(
      "oidc-username-prefix",
      "string",
      "",
      "Prefix of user names; - for none.",
    ),
    option("oidc-groups-claim", "string", "", "Claim of the groups."),
    option("oidc-groups-prefix", "string", "", "Prefix of groups."),
    option(
      "oidc-required-claim",
      "map",
      "",
      "key=value claims that must be there.",
    ),
    option("oidc-signing-algs", "strings", "RS256", "Accepted algorithms.", {
      values: signingAlgorithms,
    }),
    option(
      "api-audiences",
      "strings",
      "",
      "Audiences of tokens; the issuer when unset.",
    ),
    option(
      "service-account-issuer",
      "strings",
      "",
      "Issuers; the first signs, all are accepted.",
    ),
    option(
      "service-account-jwks-uri",
      "string",
      "",
      "Key set URI told in the discovery document.",
      { check: secureAddress },
    ),
    option(
      "service-account-key-file",
      "strings",
      "",
      "Keys that verify tokens.",
    ),
    option(
      "service-account-signing-key-file",
      "string",
      "",
      "Key that signs tokens.",
    ),
    option(
      "service-account-signing-endpoint",
      "string",
      "",
      "Socket of an external signer.",
    ),
    option(
      "service-account-lookup",
      "bool",
      "true",
      "Check of legacy tokens that their Secret holds them and their account is there; that of bound tokens' objects is always made.",
    ),
    option(
      "service-account-extend-token-expiration",
      "bool",
      "true",
      "Extend injected tokens up to a year.",
    ),
    option(
      "service-account-max-token-expiration",
      "duration",
      "0s",
      "Longest validity of a token.",
      { min: 0 },
    ),
    option(
      "proxy-client-cert-file",
      "string",
      "",
      "Client certificate for aggregated servers and webhooks.",
    ),
    option("proxy-client-key-file", "string", "", "Its key."),
  ),
];

export const accessOptions: OptionTable = [
  group(
    "Authorization",
    option(
      "authorization-mode",
      "strings",
      "AlwaysAllow",
      "Ordered list of authorizers.",
      { values: authorizationModes },
    ),
    option(
      "authorization-config",
      "string",
      "",
      "Structured authorization file.",
    ),
    option(
      "authorization-policy-file",
      "string",
      "",
      "ABAC policy, a JSON object a line.",
    ),
    option(
      "authorization-webhook-config-file",
      "string",
      "",
      "Kubeconfig of the authorization webhook.",
    ),
    option(
      "authorization-webhook-version",
      "string",
      "v1beta1",
      "SubjectAccessReview version.",
      { values: ["v1beta1", "v1"] },
    ),
    option(
      "authorization-webhook-cache-authorized-ttl",
      "duration",
      "5m0s",
      "How long allowed answers are kept.",
    ),
    option(
      "authorization-webhook-cache-unauthorized-ttl",
      "duration",
      "30s",
      "How long denied answers are kept.",
    ),
  ),
  group(
    "Admission",
    option(
      "admission-control-config-file",
      "string",
      "",
      "Admission configuration.",
    ),
    option("enable-admission-plugins", "strings", "", "Plugins to turn on."),
    option("disable-admission-plugins", "strings", "", "Plugins to turn off."),
    option(
      "default-not-ready-toleration-seconds",
      "int",
      "300",
      "Toleration added to pods.",
      { min: 0 },
    ),
    option(
      "default-unreachable-toleration-seconds",
      "int",
      "300",
      "Toleration added to pods.",
      { min: 0 },
    ),
  ),
];
