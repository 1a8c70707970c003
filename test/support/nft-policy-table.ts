// The part of nftables that the rules of network policies use, read from their text: what a script changes, and whether a
// packet between two addresses passes. It is as strict as the kernel: what a script deletes must be there, and nothing
// that is in use may go.
import { BlockList, isIP } from "node:net";
import type { Attempt } from "./policy-oracle.ts";

export class NftPolicyTable {
  readonly #sets = new Map<
    string,
    { definition: string; elements: Set<string> }
  >();
  readonly #maps = new Map<string, Map<string, string>>();
  readonly #chains = new Map<string, string[]>();

  apply(script: string): void {
    for (const line of script.split("\n").map((each) => each.trim())) {
      if (line === "" || line === "}") continue;
      this.#line(line.replace(/ (inet|ip6?) orbit-policy(?= )/, ""));
    }
    for (const [name, rules] of this.#chains)
      for (const rule of rules) this.#checkReferences(name, rule);
    for (const map of this.#maps.values())
      for (const verdict of map.values())
        if (!this.#chains.has(verdict.replace("jump ", "")))
          throw new Error(`no chain for ${verdict}`);
  }

  #line(line: string): void {
    const [verb = "", kind = "", name = ""] = line.split(" ");
    const body = /\{ (.*?) ?\}$/.exec(line)?.[1] ?? "";
    if (verb === "table" || (verb === "delete" && kind === "table")) {
      for (const all of [this.#sets, this.#maps, this.#chains]) all.clear();
    } else if (verb === "set") this.#addSet(kind, body);
    else if (verb === "map") this.#maps.set(kind, new Map());
    else if (verb === "chain") this.#chains.set(kind, []);
    else if (kind === "set" && verb === "add") this.#addSet(name, body);
    else if (kind === "set" && verb === "delete") {
      if (!this.#sets.delete(name)) throw new Error(`no set: ${line}`);
    } else if (kind === "chain" && verb === "add") {
      if (this.#chains.has(name)) throw new Error(`a second chain: ${line}`);
      this.#chains.set(name, []);
    } else if (kind === "chain") {
      if (!this.#chains.has(name)) throw new Error(`no chain: ${line}`);
      if (verb === "delete") this.#chains.delete(name);
      else this.#chains.set(name, []);
    } else if (kind === "rule") {
      const rules = this.#chains.get(name);
      if (!rules) throw new Error(`no chain: ${line}`);
      rules.push(line.slice(`${verb} ${kind} ${name} `.length));
    } else if (kind === "element") this.#elements(verb, name, body);
    // Else a rule of the fixed part.
  }

  #addSet(name: string, body: string): void {
    if (this.#sets.has(name)) throw new Error(`a second set ${name}`);
    const elements = /elements = \{ (.*?) \}/.exec(`${body} }`)?.[1];
    this.#sets.set(name, {
      definition: body,
      elements: new Set(elements?.split(", ")),
    });
  }

  #elements(verb: string, name: string, body: string): void {
    for (const each of body.split(", ")) {
      const map = this.#maps.get(name);
      const elements = this.#sets.get(name)?.elements;
      const [key = "", data = ""] = each.split(" : ");
      if (verb === "add") {
        if (map && map.has(key)) throw new Error(`${name} has ${key}`);
        map?.set(key, data);
        elements?.add(each);
      } else if (map ? map.get(key) !== data : !elements?.has(each))
        throw new Error(`${name} has no ${each}`);
      else {
        map?.delete(key);
        elements?.delete(each);
      }
      if (!map && !elements) throw new Error(`no ${name}`);
    }
  }

  #checkReferences(chain: string, rule: string): void {
    for (const [, set = ""] of rule.matchAll(/@([\w-]+)/g))
      if (!this.#sets.has(set)) throw new Error(`${chain} reads no set ${set}`);
  }

  /** All that is in it, in no order. */
  snapshot(): unknown {
    const sorted = <T>(entries: Iterable<[string, T]>): [string, T][] =>
      [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      chains: sorted(this.#chains),
      maps: sorted([...this.#maps].map(([name, map]) => [name, sorted(map)])),
      sets: sorted(
        [...this.#sets].map(([name, { definition, elements }]) => [
          name,
          [definition, [...elements].sort()],
        ]),
      ),
    };
  }

  /** Whether what is forwarded from one address to the other passes. */
  allows(attempt: Attempt): boolean {
    const digit = isIP(attempt.from) === 4 ? 4 : 6;
    return (
      this.#passes(
        this.#maps.get(`ingress${digit}`)?.get(attempt.to),
        attempt,
      ) &&
      this.#passes(this.#maps.get(`egress${digit}`)?.get(attempt.from), attempt)
    );
  }

  #passes(verdict: string | undefined, attempt: Attempt): boolean {
    if (verdict === undefined) return true;
    for (const rule of this.#chains.get(verdict.replace("jump ", "")) ?? []) {
      if (rule === "counter drop") return false;
      if (!rule.endsWith("return")) throw new Error(`unknown rule ${rule}`);
      if (this.#matches(rule.slice(0, -"return".length).trim(), attempt))
        return true;
    }
    throw new Error("a chain without an end");
  }

  #matches(rule: string, { from, to, protocol, port }: Attempt): boolean {
    let rest = rule;
    const version = isIP(from) === 4 ? "ip" : "ip6";
    const value = (expression: string): string | undefined => {
      if (expression === "meta l4proto") return protocol;
      if (expression === "ct reply proto-src") return String(port);
      const [, ip, end] =
        /^ct (?:(?:original|reply) )?(\w+) saddr$/.exec(expression) ?? [];
      if (ip === undefined) throw new Error(`unknown expression ${expression}`);
      if (ip !== version) return undefined;
      return end ?? (expression.startsWith("ct original") ? from : to);
    };
    while (rest !== "") {
      const match =
        /^((?:(?:meta l4proto|ct reply proto-src|ct (?:original|reply) ip6? saddr)(?: \. )?)+) (@[\w-]+|\{ .*? \}|[\w-]+) ?/.exec(
          rest,
        );
      if (!match) throw new Error(`unknown rule ${rule}`);
      const [text, key = "", wanted = ""] = match;
      rest = rest.slice(text.length);
      const values = key.split(" . ").map(value);
      if (values.includes(undefined)) return false;
      if (!this.#holds(wanted, values.join(" . "))) return false;
    }
    return true;
  }

  #holds(wanted: string, key: string): boolean {
    const elements = wanted.startsWith("@")
      ? this.#sets.get(wanted.slice(1))!.elements
      : wanted.replace(/^\{ | \}$/g, "").split(", ");
    for (const element of elements) {
      if (element === key) return true;
      const [first, last] = element.split("-");
      if (last === undefined) continue;
      if (isIP(key) !== 0) {
        const list = new BlockList();
        list.addRange(first!, last, isIP(key) === 4 ? "ipv4" : "ipv6");
        if (list.check(key, isIP(key) === 4 ? "ipv4" : "ipv6")) return true;
      } else if (Number(key) >= Number(first) && Number(key) <= Number(last))
        return true;
    }
    return false;
  }
}
