// --disabled-metrics, --allow-metric-labels and its manifest, on /metrics of every program that takes them.
import * as https from "node:https";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort, type PortProgram } from "./part-ports.ts";
import {
  useStopped,
  fileIn,
  authorityNamed,
  certificateOf,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

const authority = authorityNamed("clients");
const admin = certificateOf(authority, "admin", ["system:masters"]);
const file = fileIn(directories);

/** The text of /metrics, for an administrator. */
async function metrics(
  program: PortProgram,
  ...argv: string[]
): Promise<string> {
  const port = await openPort(program, directories(), [
    `--client-ca-file=${file(authority.certificate)}`,
    ...argv,
  ]);
  open.push(port);
  return get(port.port, "/metrics");
}

function get(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = https.get(
      {
        host: "127.0.0.1",
        port,
        path,
        rejectUnauthorized: false,
        agent: false,
        cert: admin.certificate,
        key: admin.key,
      },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
      },
    );
    sent.on("error", reject);
  });
}

/** All but one that is there as soon as garbage was collected. */
const families = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== "nodejs_gc_duration_seconds");

describe.each(["apiserver", "controller-manager", "agent"] as const)(
  "orbit %s",
  (program) => {
    test("it says what was built and which gates are on, with their stages", async () => {
      const text = await metrics(
        program,
        "--feature-gates=ContextualLogging=false",
        "--disabled-metrics=process_max_fds",
      );
      for (const line of [
        /^kubernetes_build_info\{.*major="1",minor="32",.*\} 1$/m,
        /^kubernetes_feature_enabled\{name="AllAlpha",stage="ALPHA"\} 0$/m,
        /^kubernetes_feature_enabled\{name="ContextualLogging",stage="BETA"\} 0$/m,
        /^kubernetes_feature_enabled\{name="APIResponseCompression",stage="BETA"\} 1$/m,
        /^kubernetes_feature_enabled\{name="APIListChunking",stage=""\} 1$/m,
        /^disabled_metrics_total 1$/m,
        /^hidden_metrics_total 0$/m,
      ])
        expect(text).toMatch(line);
    });

    test("--disabled-metrics leaves families out", async () => {
      const all = families(await metrics(program));
      expect(all.length).toBeGreaterThan(2);
      const [first, second] = all as [string, string];
      const text = await metrics(
        program,
        `--disabled-metrics=${first},${second}`,
      );
      expect(families(text)).toEqual(
        all.filter((name) => name !== first && name !== second),
      );
      for (const gone of [first, second])
        expect(text).not.toMatch(new RegExp(`^${gone}(_|\\{| |$)`, "m"));
    });

    test("labels have only the values of the list, by option and manifest", async () => {
      // A family with a label, whatever this program has.
      const text = await metrics(program);
      const [, family, label] =
        /^(\w+?)(?:_bucket|_sum|_count)?\{(\w+)="/m.exec(text)!;
      const limited = await metrics(
        program,
        `--allow-metric-labels=${family},${label}=nothing-else`,
      );
      const manifest = await metrics(
        program,
        `--allow-metric-labels-manifest=${file(`"${family},${label}": nothing-else\n`)}`,
      );
      for (const each of [limited, manifest]) {
        const values = [
          ...each.matchAll(
            new RegExp(
              `^${family}(?:_\\w+)?\\{[^}]*?\\b${label}="([^"]*)"`,
              "gm",
            ),
          ),
        ].map(([, value]) => value);
        expect(values.length).toBeGreaterThan(0);
        expect(new Set(values)).toEqual(new Set(["unexpected"]));
      }
    });

    test("what can't be read stops the start", async () => {
      for (const argv of [
        "--allow-metric-labels=requests",
        "--allow-metric-labels=a,b=",
        "--allow-metric-labels=a,b,c=d",
        "--allow-metric-labels-manifest=/absent",
        `--allow-metric-labels-manifest=${file("- a\n")}`,
        `--allow-metric-labels-manifest=${file("a: [\n")}`,
      ])
        await expect(metrics(program, argv)).rejects.toThrow(
          argv.split("=")[0],
        );
    });
  },
);

test("the results of health checks are shown under /metrics/slis", async () => {
  const opened = await openPort("controller-manager", directories(), [
    `--client-ca-file=${file(authority.certificate)}`,
  ]);
  open.push(opened);
  const { port } = opened;
  expect(await get(port, "/metrics/slis")).toBe("");
  expect(await get(port, "/healthz")).toBe("ok");
  await get(port, "/healthz");
  await get(port, "/readyz");
  const text = await get(port, "/metrics/slis");
  for (const line of [
    'kubernetes_healthcheck{name="ping",type="healthz"} 1',
    'kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 2',
    'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1',
  ])
    expect(text).toContain(`${line}\n`);
});
