// How service rules get into the kernel: by nftables, whose changes by others the kernel reports, or by iptables where there
// is no nft. Both have a table for each address family, a command that writes scripts, and a watch for what others delete.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { iptablesCommand } from "../iptables/iptables-command.ts";
import { OwnChainsWatch } from "../iptables/own-chains-watch.ts";
import { removeOwnChains, writeWhole } from "../iptables/own-chains.ts";
import { nftCommand, type RunNft } from "../nft/nft-command.ts";
import { NftMonitor } from "../nft/nft-monitor.ts";
import { OwnProcesses } from "../nft/own-processes.ts";
import { chainPrefix } from "./iptables-rules.ts";
import { IptablesRuleset } from "./iptables-ruleset.ts";
import type { RuleTable, TableOptions } from "./rule-table.ts";
import { Ruleset } from "./ruleset.ts";
import type { Family } from "./service-ports.ts";

export type ProxyMode = "nftables" | "iptables";

interface BackendOptions {
  readonly mode: ProxyMode;
  readonly tableOptions: (family: Family) => TableOptions;
  /** Rules of ours may be gone. */
  readonly onDeleted: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As nftCommand's. */
  readonly wrapper?: readonly string[];
  /** As iptablesCommand's. */
  readonly iptables?: string;
  /** Between looks for what others delete, in iptables alone; default 4000. */
  readonly lookMs?: number;
}

interface Backend {
  readonly tables: readonly {
    readonly family: Family;
    readonly rules: RuleTable;
    readonly run: RunNft;
  }[];
  readonly watch: { start(): void; stop(): void };
}

const families: readonly Family[] = [4, 6];

export function createBackend(options: BackendOptions): Backend {
  return options.mode === "nftables"
    ? nftablesBackend(options)
    : iptablesBackend(options);
}

function nftablesBackend(options: BackendOptions): Backend {
  const { tableOptions, onDeleted, clock, logger, wrapper } = options;
  const wrapped = wrapper ? { wrapper } : {};
  const processes = new OwnProcesses();
  const run = nftCommand({ ...wrapped, processes });
  const tables = families.map((family) => ({
    family,
    rules: new Ruleset(tableOptions(family)),
    run,
  }));
  return {
    tables,
    watch: new NftMonitor({
      tables: tables.map(({ rules }) => rules.table),
      processes,
      onDeleted,
      clock,
      logger,
      ...wrapped,
    }),
  };
}

function iptablesBackend(options: BackendOptions): Backend {
  const { tableOptions, onDeleted, clock, logger } = options;
  const tables = families.map((family) => {
    const rules = new IptablesRuleset(tableOptions(family));
    const command = commandOf(options, family);
    return {
      family,
      rules,
      command,
      run: (script: string) =>
        rules.isWhole(script)
          ? writeWhole(command, rules, script.slice(script.indexOf("*")))
          : command.restore(script),
    };
  });
  return {
    tables,
    watch: new OwnChainsWatch({
      chains: tables.map(({ rules, command }) => ({ own: rules, command })),
      onDeleted,
      lookMs: options.lookMs ?? 4000,
      clock,
      logger,
    }),
  };
}

function commandOf(
  { wrapper, iptables }: Pick<BackendOptions, "wrapper" | "iptables">,
  family: Family,
) {
  return iptablesCommand({
    family,
    ...(wrapper ? { wrapper } : {}),
    ...(iptables === undefined ? {} : { program: iptables }),
  });
}

/** Takes the rules of a mode away. Rejects where its program fails; none is there: it left nothing. */
export async function removeServiceRules(
  mode: ProxyMode,
  tableName: string,
  options: Pick<BackendOptions, "wrapper" | "iptables"> = {},
): Promise<void> {
  const absent = (error: Error & { code?: string }): void => {
    if (error.code !== "ENOENT") throw error;
  };
  if (mode === "iptables") {
    for (const family of families)
      await removeOwnChains(
        commandOf(options, family),
        chainPrefix(tableName),
      ).catch(absent);
    return;
  }
  const run = nftCommand(options.wrapper ? { wrapper: options.wrapper } : {});
  for (const ip of ["ip", "ip6"])
    // Declared first, so that one that is not there is no error.
    await run(
      `table ${ip} ${tableName}\ndelete table ${ip} ${tableName}\n`,
    ).catch(absent);
}
