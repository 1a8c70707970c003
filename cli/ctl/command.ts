// What every orbitctl command is made of.
import type { OptionValues } from "../options/parse.ts";
import type { OptionSpec } from "../options/table.ts";
import type { CtlHttp } from "./http.ts";
import type { ResourceNames } from "./resource-names.ts";

export interface CtlContext {
  readonly values: OptionValues;
  /** Operands without the command's own name. */
  readonly args: readonly string[];
  /** Connects when first used: offline commands never touch it. */
  http(): Promise<CtlHttp>;
  readonly names: () => Promise<ResourceNames>;
  /** -n, else the kubeconfig's, else default. */
  namespace(): Promise<string>;
  print(text: string): void;
  warn(text: string): void;
}

export interface CtlCommand {
  readonly usage: string;
  readonly about: string;
  /** Beside those of the connection. */
  readonly options: readonly OptionSpec[];
  /** Resolves to the exit code; undefined means 0. */
  readonly run: (context: CtlContext) => Promise<number | void>;
}
