// How large the packets of pods may be: as large as the link with the default route takes them, less what the VXLAN adds
// where pods of other nodes are reached through one. Pods that are made after a change have the new size.
import { queryJson, type RunProgram } from "../links/ip-command.ts";

interface RouteAnswer {
  readonly dst?: string;
  readonly dev?: string;
  readonly metric?: number;
}

interface LinkAnswer {
  readonly ifname?: string;
  readonly mtu?: number;
}

interface PodMtuOptions {
  readonly run: RunProgram;
  /** Bytes that every packet between nodes has more, when that is known before there are other nodes. */
  readonly overhead: number;
}

/** Undefined: there is no default route. */
async function defaultMtu(run: RunProgram): Promise<number | undefined> {
  const links = await queryJson<LinkAnswer>(run, ["ip", "-j", "link", "show"]);
  for (const family of ["-4", "-6"]) {
    const routes = await queryJson<RouteAnswer>(run, [
      "ip",
      "-j",
      family,
      "route",
      "show",
      "default",
    ]).catch((): RouteAnswer[] => []);
    const [best] = routes.toSorted((a, b) => (a.metric ?? 0) - (b.metric ?? 0));
    const found = links.find(
      ({ ifname }) => best?.dev !== undefined && ifname === best.dev,
    );
    if (found?.mtu !== undefined) return found.mtu;
  }
  return undefined;
}

export class PodMtu {
  readonly #options: PodMtuOptions;
  readonly #listeners = new Set<() => void>();
  #tunnel: number | undefined;
  /** As it was given out last. */
  #given: number | undefined;

  constructor(options: PodMtuOptions) {
    this.#options = options;
  }

  /** Undefined: the plug-in's own default. */
  async value(): Promise<number | undefined> {
    return (this.#given = await this.#find());
  }

  /** Called when the value is another than the last one that was asked for. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The largest packet of the VXLAN; undefined: there is none. */
  async setTunnel(mtu: number | undefined): Promise<void> {
    this.#tunnel = mtu;
    await this.look();
  }

  /** The machine's links may have changed. */
  async look(): Promise<void> {
    if ((await this.#find()) === this.#given) return;
    for (const listener of this.#listeners) listener();
  }

  async #find(): Promise<number | undefined> {
    const { run, overhead } = this.#options;
    const found = await defaultMtu(run);
    const own = found === undefined ? undefined : found - overhead;
    if (this.#tunnel === undefined) return own;
    return Math.min(own ?? this.#tunnel, this.#tunnel);
  }
}
