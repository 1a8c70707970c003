// --service-account-signing-endpoint: the socket of the program that signs tokens, and what it can't be combined with.
import type { Logger } from "pino";
import {
  connectExternalSigner,
  type ExternalSigner,
} from "../../../../apiserver-lite/index.ts";
import type { Clock } from "../../../../api/clock.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { DependencyError, UsageError } from "../../../options/table.ts";

const option = "service-account-signing-endpoint";
const gate = "ExternalServiceAccountTokenSigner";

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Undefined without the option. Rejects with a UsageError for what can't be meant, with a DependencyError when the signer
 * is not there within a minute or publishes no keys that can be used.
 */
export async function externalSigner(
  values: OptionValues,
  featureGates: Readonly<Record<string, boolean>> | undefined,
  { clock, logger }: Parts,
): Promise<ExternalSigner | undefined> {
  const endpoint = values.optionalText(option);
  if (!endpoint) return undefined;
  const problem = problemOf(endpoint, values, featureGates?.[gate] === true);
  if (problem) throw new UsageError(problem);
  try {
    return await connectExternalSigner({
      socketPath: endpoint.replace(/^@/, "\0"),
      ...{ clock, logger },
    });
  } catch (error) {
    throw new DependencyError(
      `while setting up external-jwt-signer: ${(error as Error).message}`,
    );
  }
}

function problemOf(
  endpoint: string,
  values: OptionValues,
  gateIsOn: boolean,
): string | undefined {
  if (
    values.optionalText("service-account-signing-key-file") ||
    values.list("service-account-key-file").length > 0
  )
    return `--${option} excludes --service-account-signing-key-file and --service-account-key-file`;
  if (values.number("service-account-max-token-expiration") > 0)
    return `--${option} excludes --service-account-max-token-expiration: the signer says how long tokens may live`;
  if (!gateIsOn) return `--${option} needs --feature-gates=${gate}=true`;
  return /^(@[^\0]+|\/[^\0]*[^/\0])$/.test(endpoint)
    ? undefined
    : `--${option}=${endpoint}: must be the absolute path of a socket, or the name of one without a file behind @`;
}
