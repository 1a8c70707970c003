// Options of the agent about where its pods come from, its ports, and who may use them.
import { group, option } from "../build-table.ts";
import { tlsVersions } from "../shared.ts";
import { isAddress, isUrl } from "../values/checks.ts";
import type { OptionTable } from "../table.ts";

export const agentServingOptions: OptionTable = [
  group(
    "Pod sources",
    option(
      "pod-manifest-path",
      "string",
      "",
      "Directory or file of static pods.",
      { aliases: ["manifests"], file: "staticPodPath" },
    ),
    option("manifest-url", "string", "", "URL of static pods.", {
      check: isUrl,
      file: "staticPodURL",
    }),
    option(
      "manifest-url-header",
      "repeated",
      "",
      "Header name:value of requests to --manifest-url; repeatable.",
      { file: "staticPodURLHeader" },
    ),
    option(
      "file-check-frequency",
      "duration",
      "20s",
      "Between full looks at the directory.",
      { min: 1, file: "fileCheckFrequency" },
    ),
    option(
      "http-check-frequency",
      "duration",
      "20s",
      "Between requests to --manifest-url.",
      { min: 1, file: "httpCheckFrequency" },
    ),
    option(
      "sync-frequency",
      "duration",
      "1m0s",
      "Between full syncs of a pod.",
      { min: 1, file: "syncFrequency" },
    ),
  ),
  group(
    "Serving",
    option(
      "address",
      "string",
      "0.0.0.0",
      "Address of the ports. When it is not given, the read-only port listens on 127.0.0.1, and so does the HTTPS port while anonymous requests may do everything.",
      { check: isAddress, file: "address" },
    ),
    option("port", "int", "10250", "HTTPS port.", {
      min: 1,
      max: 65535,
      file: "port",
    }),
    option(
      "read-only-port",
      "int",
      "10255",
      "HTTP port without authentication; 0 disables.",
      { min: 0, max: 65535, file: "readOnlyPort" },
    ),
    option("healthz-port", "int", "10248", "Health port; 0 disables.", {
      min: 0,
      max: 65535,
      file: "healthzPort",
    }),
    option(
      "healthz-bind-address",
      "string",
      "127.0.0.1",
      "Address of the health port.",
      { check: isAddress, file: "healthzBindAddress" },
    ),
    option("enable-server", "bool", "true", "Serve at all.", {
      file: "enableServer",
    }),
    option(
      "enable-debugging-handlers",
      "bool",
      "true",
      "Serve logs, exec, attach, port-forward.",
      { file: "enableDebuggingHandlers" },
    ),
    option(
      "enable-system-log-handler",
      "bool",
      "true",
      "Serve the node's log directory at /logs/.",
      { file: "enableSystemLogHandler", fileOnly: true },
    ),
    option(
      "enable-debug-flags-handler",
      "bool",
      "true",
      "Let the log's verbosity be set at /debug/flags/v.",
      { file: "enableDebugFlagsHandler", fileOnly: true },
    ),
    option(
      "enable-system-log-query",
      "bool",
      "false",
      "Understand /logs/?query=SERVICE: the journal, or files of that name.",
      { file: "enableSystemLogQuery", fileOnly: true },
    ),
    option(
      "tracing-endpoint",
      "string",
      "",
      "Collector of spans over OTLP gRPC, such as localhost:4317.",
      { file: "tracing.endpoint", fileOnly: true },
    ),
    option(
      "tracing-sampling-rate-per-million",
      "int",
      "0",
      "How many of a million traces are sampled.",
      { file: "tracing.samplingRatePerMillion", fileOnly: true },
    ),
    option(
      "streaming-connection-idle-timeout",
      "duration",
      "4h0m0s",
      "Idle time of a stream; at most 4 hours.",
      { min: 0, max: 14_400_000, file: "streamingConnectionIdleTimeout" },
    ),
    option(
      "cert-dir",
      "string",
      "/var/lib/orbitlet/pki",
      "Directory of the agent's certificates.",
    ),
    option("tls-cert-file", "string", "", "Serving certificate.", {
      file: "tlsCertFile",
    }),
    option("tls-private-key-file", "string", "", "Its key.", {
      file: "tlsPrivateKeyFile",
    }),
    option(
      "tls-min-version",
      "string",
      "",
      "Lowest TLS version; never below 1.2.",
      { values: tlsVersions, file: "tlsMinVersion" },
    ),
    option("tls-cipher-suites", "strings", "", "Cipher suites.", {
      file: "tlsCipherSuites",
    }),
    option(
      "tls-sni-cert-key",
      "repeated",
      "",
      "certificate,key[:name,…] of further server names, *.name for one label; repeatable.",
    ),
  ),
  group(
    "Authentication and authorization",
    option("anonymous-auth", "bool", "true", "Allow anonymous requests.", {
      file: "authentication.anonymous.enabled",
    }),
    option(
      "authentication-token-webhook",
      "bool",
      "false",
      "Check tokens at the API server.",
      { file: "authentication.webhook.enabled" },
    ),
    option(
      "authentication-token-webhook-cache-ttl",
      "duration",
      "2m0s",
      "How long its answers are kept.",
      { min: 0, file: "authentication.webhook.cacheTTL" },
    ),
    option("authorization-mode", "string", "AlwaysAllow", "Who may do what.", {
      values: ["AlwaysAllow", "Webhook"],
      file: "authorization.mode",
    }),
    option(
      "authorization-webhook-cache-authorized-ttl",
      "duration",
      "5m0s",
      "How long allowed answers are kept.",
      { min: 0, file: "authorization.webhook.cacheAuthorizedTTL" },
    ),
    option(
      "authorization-webhook-cache-unauthorized-ttl",
      "duration",
      "30s",
      "How long denied answers are kept.",
      { min: 0, file: "authorization.webhook.cacheUnauthorizedTTL" },
    ),
    option(
      "client-ca-file",
      "string",
      "",
      "CA bundle of client certificates.",
      { file: "authentication.x509.clientCAFile" },
    ),
    option(
      "bootstrap-kubeconfig",
      "string",
      "",
      "Kubeconfig that asks for the first client certificate.",
    ),
    option(
      "rotate-certificates",
      "bool",
      "false",
      "Renew the client certificate.",
      { file: "rotateCertificates" },
    ),
    option(
      "rotate-server-certificates",
      "bool",
      "false",
      "Renew the serving certificate by request.",
      { file: "serverTLSBootstrap" },
    ),
  ),
];
