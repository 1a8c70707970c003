// Runs rounds. The kind of a round follows from its seed, so that a seed alone makes the same round again.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { bundleProgram } from "../support/bundle-program.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../support/temp-directory.ts";
import { podRound } from "./pods/pod-round.ts";
import { serverRound } from "./processes/server-round.ts";
import { startersRound } from "./processes/starters-round.ts";
import type { RoundResult } from "./round.ts";
import { storeRound } from "./store-round.ts";

export type RoundKind = "store" | "pods" | "starters" | "server";

/** Of a hundred rounds two are with the real server, two with processes that start at once, 24 with pods. */
export function kindOf(seed: number): RoundKind {
  if (seed % 50 === 17) return "server";
  if (seed % 50 === 34) return "starters";
  return seed % 4 === 1 ? "pods" : "store";
}

export interface Run {
  rounds: number;
  readonly kinds: Map<RoundKind, number>;
  readonly faults: Map<string, number>;
  /** Rounds in which something broke. */
  readonly broken: { seed: number; kind: RoundKind; what: string[] }[];
}

export class Runner {
  readonly run: Run = {
    rounds: 0,
    kinds: new Map(),
    faults: new Map(),
    broken: [],
  };
  readonly #root: string;
  #programs: string | undefined;

  /** @param root of the project */
  constructor(root: string) {
    this.#root = root;
  }

  async round(seed: number): Promise<RoundResult> {
    const kind = kindOf(seed);
    const directory = makeTempDirectory("orbit-robustness-");
    let result: RoundResult;
    try {
      result = await this.#round(kind, seed, directory);
    } finally {
      removeTempDirectory(directory);
    }
    const { run } = this;
    run.rounds++;
    run.kinds.set(kind, (run.kinds.get(kind) ?? 0) + 1);
    for (const [fault, count] of result.faults)
      run.faults.set(fault, (run.faults.get(fault) ?? 0) + count);
    if (result.broken.length > 0)
      run.broken.push({ seed, kind, what: [...result.broken] });
    return result;
  }

  /** Removes the programs it built. */
  close(): void {
    if (this.#programs)
      fs.rmSync(this.#programs, { recursive: true, force: true });
  }

  async #round(
    kind: RoundKind,
    seed: number,
    directory: string,
  ): Promise<RoundResult> {
    switch (kind) {
      case "store":
        return storeRound(seed);
      case "pods":
        return podRound(seed, directory);
      case "starters":
        return startersRound(seed, directory, await this.#starter());
      case "server":
        return serverRound(seed, directory, {
          program: this.server(),
          preload: this.preload,
        });
    }
  }

  /** Below the root: programs load their packages from its node_modules. */
  get #directory(): string {
    return (this.#programs ??= fs.mkdtempSync(
      path.join(this.#root, ".cache-bundled-"),
    ));
  }

  async #starter(): Promise<string> {
    const program = path.join(this.#directory, "starter.cjs");
    if (!fs.existsSync(program))
      await bundleProgram(
        path.join(this.#root, "test/robustness/processes/starter.ts"),
        program,
      );
    return program;
  }

  /** What ends a process at a crash point. */
  get preload(): string {
    return path.join(this.#root, "test/robustness/processes/kill-at.cjs");
  }

  /** The program, built with its crash points. */
  server(): string {
    const out = path.join(this.#directory, "server");
    const program = path.join(out, "orbit.js");
    if (!fs.existsSync(program)) {
      const { status, stderr } = spawnSync(
        process.execPath,
        ["tools/build.mjs", "--out", out, "--crash-points"],
        { cwd: this.#root, encoding: "utf8" },
      );
      if (status !== 0) throw new Error(`the server can't be built: ${stderr}`);
    }
    return program;
  }
}
