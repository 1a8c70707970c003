// One run of a credential provider: CredentialProviderRequest on its standard input, CredentialProviderResponse on its
// standard output (credentialprovider.kubelet.k8s.io). A program that hangs or floods is killed; its output is never part
// of an error or a log, because it holds credentials.
import { spawn } from "node:child_process";
import { parseDurationMs } from "../../api/duration.ts";
import type { CredentialProvider } from "../config/credential-provider.ts";

export interface ProviderAnswer {
  readonly cacheKeyType: "Image" | "Registry" | "Global";
  /** Undefined: the provider's default. */
  readonly cacheDurationMs: number | undefined;
  readonly auth: Readonly<
    Record<string, { username: string; password: string }>
  >;
}

const timeoutMs = 60_000;
const maxOutputBytes = 1 << 20;
const maxErrorBytes = 4096;

/**
 * @param onFailure called when the program can't be run, exits with an error, hangs or floods
 * @throws Error naming the provider: it could not be run, failed, hung or gave no valid answer
 */
export async function runProvider(
  provider: CredentialProvider,
  repository: string,
  onFailure: () => void,
): Promise<ProviderAnswer> {
  const request = JSON.stringify({
    kind: "CredentialProviderRequest",
    apiVersion: provider.apiVersion,
    image: repository,
  });
  let output: string;
  try {
    output = await outputOf(provider, request);
  } catch (error) {
    onFailure();
    throw new Error(
      `error execing credential provider plugin ${provider.name} for image ${repository}: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return parseAnswer(output, provider.apiVersion);
}

function outputOf(
  { program, arguments: args, environment }: CredentialProvider,
  input: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
      // Killed with what it started.
      detached: true,
    });
    const kill = (why: string): void => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      // What it started in a session of its own may live on and write for ever.
      for (const end of [child.stdin, child.stdout, child.stderr])
        end.destroy();
      reject(new Error(why));
    };
    const timer = setTimeout(
      () => kill(`no answer within ${timeoutMs / 1000} s`),
      timeoutMs,
    );
    timer.unref();
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) kill(`more than ${maxOutputBytes} bytes`);
      else chunks.push(chunk);
    });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (complaint.length < maxErrorBytes)
        complaint += chunk.toString("utf8").slice(0, maxErrorBytes);
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
      else
        reject(
          new Error(
            `${signal ? `signal: ${signal}` : `exit status ${code}`}: ${complaint.trim()}`,
          ),
        );
    });
    // A program that does not read its input is no failure by itself.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

const invalid = (): Error =>
  new Error("error decoding credential provider plugin response from stdout");

function parseAnswer(output: string, apiVersion: string): ProviderAnswer {
  let answer: Record<string, unknown>;
  try {
    answer = mapOf(JSON.parse(output));
  } catch {
    throw invalid();
  }
  if (answer["apiVersion"] !== apiVersion)
    throw new Error(
      `apiVersion from credential plugin response did not match expected apiVersion:${apiVersion}, actual apiVersion:${String(answer["apiVersion"] ?? "").slice(0, 256)}`,
    );
  if (answer["kind"] !== "CredentialProviderResponse") throw invalid();
  const cacheKeyType = answer["cacheKeyType"];
  if (
    cacheKeyType !== "Image" &&
    cacheKeyType !== "Registry" &&
    cacheKeyType !== "Global"
  )
    throw new Error(
      `credential provider plugin did not return a valid cacheKeyType: ${JSON.stringify(String(cacheKeyType ?? "").slice(0, 64))}`,
    );
  const text = (value: unknown): string =>
    typeof value === "string" ? value : "";
  try {
    return {
      cacheKeyType,
      cacheDurationMs:
        typeof answer["cacheDuration"] === "string"
          ? parseDurationMs(answer["cacheDuration"])
          : undefined,
      auth: Object.fromEntries(
        Object.entries(mapOf(answer["auth"] ?? {})).map(([location, entry]) => [
          location,
          {
            username: text(mapOf(entry)["username"]),
            password: text(mapOf(entry)["password"]),
          },
        ]),
      ),
    };
  } catch {
    throw invalid();
  }
}

function mapOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw invalid();
  return value as Record<string, unknown>;
}
