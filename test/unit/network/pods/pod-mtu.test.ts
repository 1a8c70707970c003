// How large packets of pods may be: what the machine's routes and links say, and the VXLAN.
import { PodMtu } from "../../../../network/pods/pod-mtu.ts";

interface Machine {
  /** Link to its size. */
  links: Record<string, number>;
  /** Links of default routes, with their metrics. */
  four?: [dev: string, metric: number][];
  six?: [dev: string, metric: number][];
}

function pods(machine: Machine, overhead = 0): PodMtu {
  return new PodMtu({
    overhead,
    run: async (words) => {
      if (words.includes("link"))
        return JSON.stringify(
          Object.entries(machine.links).map(([ifname, mtu]) => ({
            ifname,
            mtu,
          })),
        );
      const routes = words.includes("-6") ? machine.six : machine.four;
      return JSON.stringify(
        (routes ?? []).map(([dev, metric]) => ({
          dst: "default",
          dev,
          metric,
        })),
      );
    },
  });
}

const links = { lo: 65536, eth0: 1500, eth1: 9000, wlan0: 1400 };

test.each<[string, Machine, number | undefined]>([
  ["the default route's link", { links, four: [["eth1", 0]] }, 9000],
  [
    "of several the one that is used",
    {
      links,
      four: [
        ["eth1", 600],
        ["wlan0", 100],
      ],
    },
    1400,
  ],
  ["IPv6 alone", { links, six: [["eth1", 1024]] }, 9000],
  ["no default route", { links }, undefined],
])("%s", async (_what, machine, expected) => {
  expect(await pods(machine).value()).toBe(expected);
});

test("a VXLAN takes its part, known before there is one or not", async () => {
  const machine: Machine = { links, four: [["eth0", 0]] };
  expect(await pods(machine, 50).value()).toBe(1450);
  const mtu = pods(machine);
  const heard: (number | undefined)[] = [];
  mtu.onChange(() => void mtu.value().then((value) => heard.push(value)));
  expect(await mtu.value()).toBe(1500);
  await mtu.setTunnel(1450);
  await mtu.setTunnel(1450);
  await mtu.setTunnel(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual([1450, 1500]);
});

test("changes of the link are reported once, and only those", async () => {
  const machine: Machine = { links: { ...links }, four: [["eth0", 0]] };
  const mtu = pods(machine);
  let heard = 0;
  mtu.onChange(() => {
    heard++;
    void mtu.value();
  });
  await mtu.value();
  await mtu.look();
  expect(heard).toBe(0);
  machine.links.eth0 = 9000;
  await mtu.look();
  await mtu.value();
  await mtu.look();
  expect(heard).toBe(1);
  expect(await mtu.value()).toBe(9000);
});
