// Options that several programs share: TLS serving, request-header authentication, logging, metrics, gates.
import { group, option } from "./build-table.ts";
import type { OptionGroup, OptionValue } from "./table.ts";

export const tlsVersions = [
  "VersionTLS10",
  "VersionTLS11",
  "VersionTLS12",
  "VersionTLS13",
];

export function tlsOptions(certDir: string): OptionGroup {
  return group(
    "TLS serving",
    option(
      "cert-dir",
      "string",
      certDir,
      "Directory of the serving pair when no files are given; made where it is not there.",
    ),
    option(
      "tls-cert-file",
      "string",
      "",
      "File with the serving certificate (chain).",
    ),
    option(
      "tls-private-key-file",
      "string",
      "",
      "File with the key of --tls-cert-file.",
    ),
    option(
      "tls-min-version",
      "string",
      "",
      "Lowest TLS version; never below 1.2.",
      {
        values: tlsVersions,
      },
    ),
    option(
      "tls-cipher-suites",
      "strings",
      "",
      "Cipher suites by their IANA names; the secure ones of TLS 1.2 and 1.3 when empty.",
    ),
    option(
      "tls-sni-cert-key",
      "repeated",
      "",
      "certificate,key[:name,…] of further server names, *.name for one label; the certificate's names when none are given; repeatable.",
    ),
  );
}

export function requestHeaderOptions(
  userDefault: string,
  groupDefault: string,
  extraDefault: string,
): OptionGroup {
  return group(
    "Request headers of an authenticating proxy",
    option(
      "requestheader-client-ca-file",
      "string",
      "",
      "CA of the proxies whose headers are trusted.",
    ),
    option(
      "requestheader-allowed-names",
      "strings",
      "",
      "Common names of trusted proxies; all when empty.",
    ),
    option(
      "requestheader-username-headers",
      "strings",
      userDefault,
      "Headers with the user name.",
    ),
    option(
      "requestheader-group-headers",
      "strings",
      groupDefault,
      "Headers with the groups.",
    ),
    option(
      "requestheader-extra-headers-prefix",
      "strings",
      extraDefault,
      "Prefixes of headers with extra information.",
    ),
    option(
      "requestheader-uid-headers",
      "strings",
      "",
      "Headers with the user's UID.",
    ),
  );
}

/** Undefined: valid. */
function vmoduleProblem(settings: OptionValue): string | undefined {
  return (settings as readonly string[]).every((setting) =>
    /^[^=\s]+=\d{1,2}$/.test(setting),
  )
    ? undefined
    : "expect comma-separated list of filename=N";
}

export const loggingOptions: OptionGroup = group(
  "Logging",
  option("logging-format", "string", "text", "Form of the log's records.", {
    values: ["text", "json"],
  }),
  option(
    "log-flush-frequency",
    "duration",
    "5s",
    "Longest time between flushes; records are written at once here.",
    { min: 0 },
  ),
  option("v", "int", "0", "Verbosity: 4 debug, 6 trace.", {
    short: "v",
    min: 0,
    max: 10,
  }),
  option(
    "vmodule",
    "strings",
    "",
    "pattern=N settings: parts and controllers whose names fit the pattern get verbosity N.",
    { check: vmoduleProblem },
  ),
);

export const metricsOptions: OptionGroup = group(
  "Metrics",
  option(
    "allow-metric-labels",
    "repeated",
    "",
    "METRIC,LABEL=VALUE,…: other values of the label are shown as unexpected; repeatable.",
  ),
  option(
    "allow-metric-labels-manifest",
    "string",
    "",
    "YAML map with the same: METRIC,LABEL: VALUE,…",
  ),
  option("disabled-metrics", "strings", "", "Metrics that are not shown."),
  option(
    "show-hidden-metrics-for-version",
    "string",
    "",
    "Previous version whose hidden metrics are shown.",
  ),
);

export const gateOptions: OptionGroup = group(
  "Features",
  option("feature-gates", "map", "", "Feature=true|false pairs."),
  option("emulated-version", "strings", "", "Versions to behave like."),
);

export const profilingOptions: OptionGroup = group(
  "Profiling",
  option("profiling", "bool", "true", "Serve profiling endpoints."),
  option("contention-profiling", "bool", "false", "Profile lock contention."),
);

export const sharingOptions: OptionGroup = group(
  "Sharing of addresses",
  option(
    "permit-address-sharing",
    "bool",
    "false",
    "SO_REUSEADDR on the serving socket.",
  ),
  option(
    "permit-port-sharing",
    "bool",
    "false",
    "SO_REUSEPORT on the serving socket.",
  ),
  option("disable-http2-serving", "bool", "false", "Serve HTTP/1.1 only."),
  option(
    "http2-max-streams-per-connection",
    "int",
    "0",
    "Streams per connection; 0: the runtime's default.",
    { min: 0 },
  ),
);

/** @param schedule the default of --snapshot-schedule */
export function snapshotOptions(schedule: string): OptionGroup {
  return group(
    "Snapshots",
    option(
      "snapshot-schedule",
      "string",
      schedule,
      "Cron expression (UTC) of snapshots of a file store; empty: none.",
    ),
    option(
      "snapshot-retention",
      "int",
      "5",
      "Scheduled snapshots that are kept; the oldest go.",
      { min: 1 },
    ),
    option(
      "snapshot-dir",
      "string",
      "",
      "Directory of scheduled snapshots; default: snapshots below the data directory.",
    ),
  );
}
