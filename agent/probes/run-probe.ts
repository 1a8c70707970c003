// One probe, run once: exec, HTTP GET, TCP connect or gRPC health check, with the reference's texts for failures.
import { connect } from "node:net";
import type { Container, Probe } from "../../api/types/core-v1.ts";
import { RuntimeError, type Runtime } from "../../cri/runtime.ts";
import { runtimeStatusText } from "../../cri/runtime-error-text.ts";
import { checkGrpcHealth } from "./grpc-health.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";
import { lookUpHost } from "./host-lookup.ts";
import { httpGet, resolvePort } from "./http-get.ts";
import { dialText } from "./network-errors.ts";
import { expand } from "../pods/shape/expansion.ts";

const maxOutput = 10 * 1024;
/** How often a probe that can't be made is tried at once, as the kubelet's. */
const maxTries = 3;

/** Runs a probe once; one that could not be made is tried again at once, three times in all. */
export async function runProbe(
  runtime: Runtime,
  probe: Probe,
  container: Container,
  containerId: string,
  host: string,
): Promise<ProbeOutcome> {
  for (let tries = 1; ; tries++) {
    const outcome = await tryProbe(
      runtime,
      probe,
      container,
      containerId,
      host,
    );
    if (outcome.verdict !== "error" || tries === maxTries) return outcome;
  }
}

async function tryProbe(
  runtime: Runtime,
  probe: Probe,
  container: Container,
  containerId: string,
  host: string,
): Promise<ProbeOutcome> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  try {
    if (probe.exec)
      return await exec(
        runtime,
        containerId,
        expandedCommand(probe.exec.command ?? [], container),
        timeoutMs,
      );
    if (probe.httpGet) return await http(probe, container, host, timeoutMs);
    if (probe.tcpSocket)
      return await tcp(
        probe.tcpSocket.host || host,
        resolvePort(probe.tcpSocket.port, container),
        timeoutMs,
      );
    if (probe.grpc)
      return await checkGrpcHealth(
        host,
        probe.grpc.port,
        probe.grpc.service ?? "",
        timeoutMs,
      );
    return { verdict: "error", output: "missing probe handler" };
  } catch (error) {
    return { verdict: "error", output: runtimeStatusText(error) };
  }
}

/** $(VAR) of a probe is what `env` says; of a value from elsewhere it is "", as at the kubelet. */
function expandedCommand(command: string[], { env = [] }: Container): string[] {
  const values = new Map(env.map(({ name, value = "" }) => [name, value]));
  return command.map((text) => expand(text, (name) => values.get(name)));
}

async function exec(
  runtime: Runtime,
  containerId: string,
  command: string[],
  timeoutMs: number,
): Promise<ProbeOutcome> {
  try {
    const result = await runtime.execSync(containerId, command, timeoutMs);
    const output = Buffer.concat([result.stdout, result.stderr])
      .subarray(0, maxOutput)
      .toString("utf8");
    return { verdict: result.exitCode === 0 ? "success" : "failure", output };
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "timeout")
      return {
        verdict: "failure",
        output: `command ${JSON.stringify(command.join(" "))} timed out`,
      };
    throw error;
  }
}

async function http(
  probe: Probe,
  container: Container,
  fallbackHost: string,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const action = probe.httpGet!;
  // A port that does not exist is a fault of the specification.
  resolvePort(action.port, container);
  try {
    const answer = await httpGet(
      action,
      action.host || fallbackHost,
      container,
      { timeoutMs, userAgent: "kube-probe/1.32" },
    );
    if (answer.redirected)
      return {
        verdict: "success",
        warning: true,
        output: `Probe terminated redirects, Response body: ${answer.body}`,
      };
    if (answer.statusCode >= 200 && answer.statusCode < 400)
      return { verdict: "success", output: answer.body };
    return {
      verdict: "failure",
      output: `HTTP probe failed with statuscode: ${answer.statusCode}`,
    };
  } catch (error) {
    return {
      verdict: "failure",
      output: error instanceof Error ? error.message : String(error),
    };
  }
}

function tcp(
  host: string,
  port: number,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, lookup: lookUpHost });
    const finish = (outcome: ProbeOutcome): void => {
      socket.destroy();
      resolve(outcome);
    };
    const late = Object.assign(new Error("timeout"), { code: "ETIMEDOUT" });
    socket.setTimeout(timeoutMs, () =>
      finish({ verdict: "failure", output: dialText(host, port, late) }),
    );
    socket.on("connect", () => finish({ verdict: "success", output: "" }));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      finish({ verdict: "failure", output: dialText(host, port, error) }),
    );
  });
}
