// Follows what becomes of the node's links, addresses and routes: `ip monitor` reports each change, so that a route that went
// with its link is written again when the link is back. Those of pods, which come and go, are passed over.
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Clock, Timer } from "../../api/clock.ts";
import { endingWithUs } from "../ending-program.ts";

const restartMs = 1000;
const ofPods = /\b(?:veth|cni)[0-9a-z]/;
/** An announced address that was renewed; that it went is a change. */
const renewed = /^(?!Deleted).*(?: lo:orb-| deprecated )/;

export class LinkMonitor {
  #child: ChildProcess | undefined;
  #restart: Timer | undefined;
  #stopped = false;

  constructor(
    private readonly options: {
      readonly onChange: () => void;
      readonly clock: Clock;
      readonly wrapper: readonly string[];
    },
  ) {}

  start(): void {
    if (this.#child || this.#stopped) return;
    const { wrapper, onChange, clock } = this.options;
    const [program = "", ...words] = [
      ...wrapper,
      ...endingWithUs(["ip", "-o", "monitor", "link", "address", "route"]),
    ];
    const child = spawn(program, words, {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!ofPods.test(line) && !renewed.test(line)) onChange();
    });
    const ended = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#stopped) return;
      this.#restart = clock.after(restartMs, () => {
        this.start();
        onChange();
      });
    };
    child.once("error", ended);
    child.once("exit", ended);
  }

  stop(): void {
    this.#stopped = true;
    this.#restart?.cancel();
    this.#child?.kill();
  }
}
