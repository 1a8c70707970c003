// Options of `orbit ctl` (orbitctl): those every command has, and the patch command's as the specification lists them.
import { group, option } from "./build-table.ts";
import type { OptionGroup, OptionSpec, OptionTable } from "./table.ts";

const moot = (reason: string) => ({
  unbuilt: { kind: "moot" as const, reason },
});
const uncached = moot("what is asked of the server is not cached");
/** Flags of other programs that the reference's command line has by mistake. */
const others = {
  ...moot("it belongs to another program, and no command reads it"),
  hidden: true,
};

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

export const profileOptions: OptionGroup = group(
  "Profile",
  option(
    "profile",
    "string",
    "none",
    "Profile to record while the command runs; of the others there is none in this program.",
    { values: ["none", "cpu", "heap"] },
  ),
  option(
    "profile-output",
    "string",
    "profile.pprof",
    "File of the profile, in the form of Chrome's developer tools (.cpuprofile, .heapprofile).",
  ),
);

/** Accepted for compatibility; they change nothing here. */
export const unusedOptions: OptionGroup = group(
  "Without effect",
  option(
    "cache-dir",
    "string",
    "$HOME/.orbit/cache",
    "Cache directory.",
    uncached,
  ),
  ...["not-ready", "unreachable"].map((condition) =>
    option(
      `default-${condition}-toleration-seconds`,
      "int",
      "300",
      "Toleration seconds.",
      others,
    ),
  ),
  ...(
    [
      ["buffer-duration", "duration", "1m0s"],
      ["db", "string", "cadvisor"],
      ["host", "string", "localhost:8086"],
      ["password", "string", "root"],
      ["secure", "bool", "false"],
      ["table", "string", "stats"],
      ["user", "string", "root"],
    ] as const
  ).map(([name, type, byDefault]) =>
    option(
      `storage-driver-${name}`,
      type,
      byDefault,
      "Legacy metrics storage.",
      others,
    ),
  ),
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
  profileOptions,
  unusedOptions,
];
