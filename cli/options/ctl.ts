// Options of `orbit ctl` (orbitctl): those every command has, and the patch command's as the specification lists them.
import { group, option } from "./build-table.ts";
import type { OptionGroup, OptionSpec, OptionTable } from "./table.ts";

const none = { unbuilt: { kind: "harmless" as const } };

export const connectionOptions: OptionGroup = group(
  "Connection",
  option(
    "kubeconfig",
    "string",
    "",
    "Connection and credentials; else $KUBECONFIG, ~/.kube/config, /etc/orbit/orbit.yaml.",
  ),
  option(
    "server",
    "string",
    "",
    "Address of the API server, or of a node agent (https://host:10250).",
    { short: "s" },
  ),
  option("namespace", "string", "", "Namespace scope.", { short: "n" }),
  option("context", "string", "", "Context of the kubeconfig."),
  option("cluster", "string", "", "Cluster of the kubeconfig."),
  option("user", "string", "", "User of the kubeconfig."),
  option("token", "string", "", "Bearer token."),
  option("username", "string", "", "User name of basic authentication."),
  option("password", "string", "", "Its password."),
  option("client-certificate", "string", "", "File of the client certificate."),
  option("client-key", "string", "", "File of its key."),
  option("certificate-authority", "string", "", "File of the server's CA."),
  option(
    "insecure-skip-tls-verify",
    "bool",
    "false",
    "Don't check the server's certificate.",
  ),
  option(
    "tls-server-name",
    "string",
    "",
    "Name for checking the server's certificate.",
  ),
  option("as", "string", "", "User to impersonate."),
  option("as-group", "repeated", "", "Group to impersonate; repeatable."),
  option("as-uid", "string", "", "UID to impersonate."),
  option(
    "request-timeout",
    "string",
    "0",
    "Time a request may take, with a unit; 0: no limit.",
  ),
  option(
    "match-server-version",
    "bool",
    "false",
    "Fail when the server's version is another.",
  ),
  option(
    "disable-compression",
    "bool",
    "false",
    "Ask for uncompressed answers.",
  ),
  option(
    "warnings-as-errors",
    "bool",
    "false",
    "Treat warnings of the server as errors.",
  ),
  option("v", "int", "0", "Verbosity.", { short: "v", min: 0 }),
);

/** Accepted for compatibility; they change nothing here. */
export const unusedOptions: OptionGroup = group(
  "Without effect",
  option("cache-dir", "string", "$HOME/.orbit/cache", "Cache directory.", none),
  option("profile", "string", "none", "Profile to capture.", {
    ...none,
    values: [
      "none",
      "cpu",
      "heap",
      "goroutine",
      "threadcreate",
      "block",
      "mutex",
    ],
  }),
  option(
    "profile-output",
    "string",
    "profile.pprof",
    "File of the profile.",
    none,
  ),
  option(
    "default-not-ready-toleration-seconds",
    "int",
    "300",
    "Toleration seconds.",
    { ...none, hidden: true },
  ),
  option(
    "default-unreachable-toleration-seconds",
    "int",
    "300",
    "Toleration seconds.",
    { ...none, hidden: true },
  ),
  option(
    "storage-driver-buffer-duration",
    "duration",
    "1m0s",
    "Legacy metrics storage.",
    { ...none, hidden: true },
  ),
  option("storage-driver-db", "string", "cadvisor", "Legacy metrics storage.", {
    ...none,
    hidden: true,
  }),
  option(
    "storage-driver-host",
    "string",
    "localhost:8086",
    "Legacy metrics storage.",
    { ...none, hidden: true },
  ),
  option(
    "storage-driver-password",
    "string",
    "root",
    "Legacy metrics storage.",
    { ...none, hidden: true },
  ),
  option("storage-driver-secure", "bool", "false", "Legacy metrics storage.", {
    ...none,
    hidden: true,
  }),
  option("storage-driver-table", "string", "stats", "Legacy metrics storage.", {
    ...none,
    hidden: true,
  }),
  option("storage-driver-user", "string", "root", "Legacy metrics storage.", {
    ...none,
    hidden: true,
  }),
);

export const fileOptions: readonly OptionSpec[] = [
  option(
    "filename",
    "strings",
    "",
    "Files, directories or URLs; - is standard input.",
    { short: "f" },
  ),
  option("kustomize", "string", "", "Customization directory.", { short: "k" }),
  option(
    "recursive",
    "bool",
    "false",
    "Process the -f directory recursively.",
    { short: "R" },
  ),
];

export const outputOptions: readonly OptionSpec[] = [
  option(
    "output",
    "string",
    "",
    "json, yaml, name, wide, jsonpath=…, jsonpath-as-json=…, jsonpath-file=…, go-template=…, template=….",
    { short: "o" },
  ),
  option(
    "template",
    "string",
    "",
    "Template text or file for template outputs.",
  ),
  option(
    "allow-missing-template-keys",
    "bool",
    "true",
    "Ignore missing keys in template and jsonpath outputs.",
  ),
  option(
    "show-managed-fields",
    "bool",
    "false",
    "Keep managedFields in JSON or YAML output.",
  ),
];

export const dryRunOption: OptionSpec = option(
  "dry-run",
  "string",
  "none",
  "client: print only; server: submit without persisting.",
  {
    values: ["none", "server", "client", "unchanged"],
    bare: "unchanged",
  },
);

export const patchOptions: OptionTable = [
  group(
    "Patch",
    ...fileOptions,
    option("patch", "string", "", "Patch body, JSON or YAML.", { short: "p" }),
    option("patch-file", "string", "", "File with the patch body."),
    option("type", "string", "strategic", "Kind of the patch.", {
      values: ["json", "merge", "strategic"],
    }),
    option("subresource", "string", "", "Patch a subresource."),
    dryRunOption,
    option(
      "field-manager",
      "string",
      "orbit-patch",
      "Manager name for field ownership.",
    ),
    option(
      "local",
      "bool",
      "false",
      "Work on the file's content, not the server's resource.",
    ),
    ...outputOptions,
  ),
  connectionOptions,
  unusedOptions,
];
