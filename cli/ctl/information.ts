// Commands that describe the server and the configuration: version, api-resources, api-versions, cluster-info, config view.
import { readFileSync } from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { apiVersionOf } from "../../api/object.ts";
import { option } from "../options/build-table.ts";
import { outputOptions } from "../options/ctl.ts";
import { UsageError } from "../options/table.ts";
import { kubernetesVersion, orbitVersion } from "../version.ts";
import type { CtlCommand } from "./command.ts";
import { kubeconfigPath } from "./connection.ts";
import { isNodeAgent, typesOfAgent } from "./node-agent.ts";
import { columnsText, toYaml } from "./output.ts";

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const versionCommand: CtlCommand = {
  usage: "version [--client]",
  about: "Print the versions of client and server.",
  options: [
    option("client", "bool", "false", "Only the client's."),
    ...outputOptions,
  ],
  run: async (context) => {
    const { values } = context;
    const info: Record<string, unknown> = {
      clientVersion: { gitVersion: kubernetesVersion, orbitVersion },
    };
    if (!values.flag("client"))
      info.serverVersion = await (
        await context.http()
      ).json({ path: "/version" });
    const output = values.optionalText("output");
    if (output === "json")
      context.print(`${JSON.stringify(info, undefined, 2)}\n`);
    else if (output === "yaml") context.print(await toYaml(info));
    else {
      context.print(
        `Client Version: ${kubernetesVersion} (orbit ${orbitVersion})\n`,
      );
      const server = info.serverVersion as { gitVersion: string } | undefined;
      if (server) context.print(`Server Version: ${server.gitVersion}\n`);
    }
  },
};

export const apiResourcesCommand: CtlCommand = {
  usage: "api-resources",
  about: "Print the resource types the server serves.",
  options: [
    ...outputOptions,
    option("api-group", "string", "", "Only this group."),
    option(
      "namespaced",
      "bool",
      "",
      "Only namespaced types, or only the others.",
    ),
    option("no-headers", "bool", "false", "No header line."),
    option("verbs", "strings", "", "Only types with all these verbs."),
  ],
  run: async (context) => {
    const { values } = context;
    let types = (await isNodeAgent(context))
      ? await typesOfAgent(context)
      : await (await context.names()).discovered();
    if (values.isSet("api-group"))
      types = types.filter(({ group }) => group === values.text("api-group"));
    if (values.isSet("namespaced"))
      types = types.filter(
        ({ namespaced }) => namespaced === values.flag("namespaced"),
      );
    types = types.filter(({ verbs }) =>
      values.list("verbs").every((verb) => verbs.includes(verb)),
    );
    // By group, then by name; what has no group comes first.
    types = [...types].sort(
      (a, b) => byText(a.group, b.group) || byText(a.resource, b.resource),
    );
    if (values.text("output") === "name") {
      context.print(
        types
          .map(
            ({ resource, group }) => `${resource}${group ? `.${group}` : ""}\n`,
          )
          .join(""),
      );
      return;
    }
    const wide = values.text("output") === "wide";
    const rows = types.map((type) => [
      type.resource,
      type.shortNames.join(","),
      apiVersionOf(type),
      String(type.namespaced),
      type.kind,
      ...(wide ? [type.verbs.join(","), type.categories.join(",")] : []),
    ]);
    const head = [
      "NAME",
      "SHORTNAMES",
      "APIVERSION",
      "NAMESPACED",
      "KIND",
      ...(wide ? ["VERBS", "CATEGORIES"] : []),
    ];
    context.print(
      columnsText(values.flag("no-headers") ? rows : [head, ...rows]),
    );
  },
};

export const apiVersionsCommand: CtlCommand = {
  usage: "api-versions",
  about: "Print the API versions the server serves.",
  options: [],
  run: async (context) => {
    if (await isNodeAgent(context)) return context.print("v1\n");
    const { groups } = await (
      await context.http()
    ).json<{ groups: { versions: { groupVersion: string }[] }[] }>({
      path: "/apis",
    });
    const all = [
      "v1",
      ...groups.flatMap(({ versions }) =>
        versions.map(({ groupVersion }) => groupVersion),
      ),
    ];
    context.print(
      all
        .sort()
        .map((each) => `${each}\n`)
        .join(""),
    );
  },
};

export const clusterInfoCommand: CtlCommand = {
  usage: "cluster-info",
  about: "Print where the cluster is.",
  options: [],
  run: async (context) => {
    const http = await context.http();
    await http.call({ path: "/version" });
    const what = (await isNodeAgent(context))
      ? "Node agent"
      : "Kubernetes control plane";
    context.print(`${what} is running at ${http.base.origin}\n`);
  },
};

const secrets = [
  "client-certificate-data",
  "client-key-data",
  "token",
  "password",
];

function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      secrets.includes(key)
        ? "REDACTED"
        : key === "certificate-authority-data"
          ? "DATA+OMITTED"
          : redact(each),
    ]),
  );
}

export const configCommand: CtlCommand = {
  usage: "config view|current-context",
  about: "Show the kubeconfig; secrets are left out unless --raw.",
  options: [option("raw", "bool", "false", "With secrets."), ...outputOptions],
  run: async (context) => {
    const file =
      kubeconfigPath(context.values) ??
      process.env.KUBECONFIG?.split(path.delimiter)[0] ??
      path.join(os.homedir(), ".kube", "config");
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      throw new UsageError((error as Error).message);
    }
    const { parseYaml } = await import("../../api/codec/yaml-text.ts");
    const config = (parseYaml(text)[0]?.value ?? {}) as Record<string, unknown>;
    if (context.args[0] === "current-context") {
      context.print(`${String(config["current-context"] ?? "")}\n`);
      return;
    }
    if (context.args[0] !== "view")
      throw new UsageError(
        `unknown command "config ${context.args[0] ?? ""}"; there are: view, current-context`,
      );
    const shown = context.values.flag("raw") ? config : redact(config);
    context.print(
      context.values.text("output") === "json"
        ? `${JSON.stringify(shown, undefined, 4)}\n`
        : await toYaml(shown),
    );
  },
};
