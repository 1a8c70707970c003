// What a machine lacks for routes through WireGuard is said by name before anything starts.
import type { NetworkPlan } from "../../../cli/parts/network/network-plan.ts";
import {
  checkWireguard,
  checkWireguardPort,
} from "../../../cli/parts/network/wireguard-check.ts";

const plan = {
  routes: "wireguard",
  wireguard: { port: 51820, keepaliveSeconds: 0 },
} as NetworkPlan;

interface Lacking {
  programs?: readonly string[];
  module?: boolean;
  tun?: boolean;
  taken?: boolean;
  listening?: string;
}

const machine = ({
  programs = ["wg", "wireguard-go"],
  module = true,
  tun = true,
  taken = false,
  listening = "",
}: Lacking) => {
  const links = new Set<string>();
  return {
    links,
    run: async (words: readonly string[]): Promise<string> => {
      const [program, ...rest] = words;
      if (program === "sh" && !programs.includes(words.at(-1)!))
        throw new Error("not found");
      if (program === "ip" && rest[1] === "add") {
        if (!module) throw new Error("Error: Unknown device type.");
        links.add(rest[2]!);
      }
      if (program === "ip" && rest[1] === "del") links.delete(rest[2]!);
      return program === "wg" ? listening : "";
    },
    hasTun: async () => tun,
    isTaken: async () => taken,
  };
};

test.each<[string, Lacking, string]>([
  ["wg", { programs: [] }, "install wireguard-tools"],
  ["wireguard-go", { programs: ["wg"], module: false }, "install wireguard-go"],
  ["/dev/net/tun", { module: false, tun: false }, "/dev/net/tun"],
  ["its port", { taken: true }, "--wireguard-port"],
  [
    "its port, which another's WireGuard has",
    { taken: true, listening: "wg0\t51820\n" },
    "--wireguard-port",
  ],
])("without %s", async (_, lacking, text) => {
  const found = machine(lacking);
  await expect(checkWireguard(plan, found)).rejects.toThrow(text);
  expect(found.links.size).toBe(0);
});

test.each<[string, Lacking]>([
  ["the kernel's, without wireguard-go", { programs: ["wg"], tun: false }],
  ["wireguard-go", { module: false }],
  [
    "our device of an earlier run",
    { taken: true, listening: "orbit-0a1b2c3d\t51820\n" },
  ],
])("enough: %s", async (_, has) => {
  const found = machine(has);
  await expect(checkWireguard(plan, found)).resolves.toBeUndefined();
  expect(found.links.size).toBe(0);
});

test("nothing is asked of a machine whose routes are others", async () => {
  const none = machine({ programs: [], module: false });
  await checkWireguard({ ...plan, routes: "auto" }, none);
  await checkWireguard(undefined, none);
});

test("a port that Services get is refused", () => {
  const at = (port: number): NetworkPlan => ({
    ...plan,
    wireguard: { port, keepaliveSeconds: 0 },
  });
  expect(() => checkWireguardPort(at(30000), "30000-32767")).toThrow(
    /--wireguard-port/,
  );
  expect(() => checkWireguardPort(at(30500), "30000+500")).toThrow();
  checkWireguardPort(at(51820), "30000-32767");
  checkWireguardPort({ ...at(30000), routes: "auto" }, "30000-32767");
});
