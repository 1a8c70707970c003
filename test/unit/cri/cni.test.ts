// The CNI configuration: written where there is none, ours brought up to date, others' left alone.
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import {
  cniConfiguration,
  cniFileName,
} from "../../../cri/cni/configuration.ts";
import { setUpPodNetwork } from "../../../cri/cni/network.ts";
import { writeCniConfiguration } from "../../../cri/cni/write-configuration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const logger = pino({ level: "silent" });
const temporary = useTempDirectories();

test("the configuration", () => {
  expect(
    cniConfiguration({ directory: "", podCidr: "10.1.0.0/24", mtu: 1400 }),
  ).toEqual({
    cniVersion: "0.4.0",
    name: "orbit",
    plugins: [
      {
        type: "ptp",
        ipMasq: false,
        mtu: 1400,
        ipam: {
          type: "host-local",
          ranges: [[{ subnet: "10.1.0.0/24" }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
    ],
  });
});

test("where rules of our own can't be had, plug-ins make them", () => {
  expect(
    cniConfiguration({ directory: "", podCidr: "10.1.0.0/24", iptables: true }),
  ).toMatchObject({
    plugins: [
      { type: "ptp", ipMasq: true },
      { type: "portmap", capabilities: { portMappings: true }, snat: true },
    ],
  });
});

test("limits of bandwidth: our own plug-in takes them, else the machine's follows", () => {
  const range = { directory: "", podCidr: "10.1.0.0/24" };
  expect(
    cniConfiguration({ ...range, pairPlugin: "orbit-pair" }),
  ).toMatchObject({
    plugins: [{ type: "orbit-pair", capabilities: { bandwidth: true } }],
  });
  expect(
    cniConfiguration({ ...range, iptables: true, bandwidthPlugin: true }),
  ).toMatchObject({
    plugins: [
      { type: "ptp" },
      { type: "portmap" },
      { type: "bandwidth", capabilities: { bandwidth: true } },
    ],
  });
});

test.each<[string, string[][], boolean]>([
  ["beside ptp", [["ptp", "bandwidth"], []], true],
  ["not beside each ptp", [["ptp", "bandwidth"], ["ptp"]], false],
  ["elsewhere alone", [["ptp"], ["bandwidth"]], false],
  ["nowhere", [[], []], false],
])("the plug-in for limits is used where it is %s", async (_, places, used) => {
  const machinePluginDirectories = places.map((names) => {
    const bin = temporary();
    for (const name of names)
      fs.writeFileSync(path.join(bin, name), "", { mode: 0o755 });
    return bin;
  });
  const directory = temporary();
  await setUpPodNetwork(
    { directory, podCidr: "10.1.0.0/24", machinePluginDirectories },
    logger,
  );
  const text = fs.readFileSync(path.join(directory, cniFileName), "utf8");
  expect(text.includes('"type": "bandwidth"')).toBe(used);
});

test("both families", () => {
  const options = {
    directory: "",
    podCidr: "10.1.0.0/24",
    extraCidrs: ["fd00::/64"],
  };
  expect(cniConfiguration(options)).toMatchObject({
    plugins: [
      {
        ipam: {
          ranges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "fd00::/64" }]],
          routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
        },
      },
    ],
  });
});

test("written once, changed when the range changes, nothing left beside it", async () => {
  const directory = path.join(temporary(), "net.d");
  expect(
    await writeCniConfiguration({ directory, podCidr: "10.1.0.0/24" }),
  ).toBe(true);
  expect(
    await writeCniConfiguration({ directory, podCidr: "10.1.0.0/24" }),
  ).toBe(false);
  expect(
    await writeCniConfiguration({ directory, podCidr: "10.2.0.0/24" }),
  ).toBe(true);
  expect(fs.readdirSync(directory)).toEqual([cniFileName]);
  expect(fs.readFileSync(path.join(directory, cniFileName), "utf8")).toContain(
    "10.2.0.0/24",
  );
});

test.each(["10-calico.conflist", "old.conf", "x.json"])(
  "somebody else's %s wins",
  async (name) => {
    const directory = temporary();
    fs.writeFileSync(path.join(directory, name), "{}");
    expect(
      await writeCniConfiguration({ directory, podCidr: "10.1.0.0/24" }),
    ).toBe(false);
    expect(fs.readdirSync(directory)).toEqual([name]);
  },
);

describe("masquerading and host ports", () => {
  const read = (directory: string): string =>
    fs.readFileSync(path.join(directory, cniFileName), "utf8");

  test("our rule takes the plug-in's place", async () => {
    const directory = temporary();
    const ranges: string[] = [];
    await setUpPodNetwork(
      {
        directory,
        podCidr: "10.1.0.0/24",
        extraCidrs: ["fd00::/64"],
        setPodRules: async (given) => void ranges.push(...given),
      },
      logger,
    );
    expect(ranges).toEqual(["10.1.0.0/24", "fd00::/64"]);
    expect(read(directory)).toContain('"ipMasq": false');
    expect(read(directory)).not.toContain("portmap");
  });

  test("where it can't be set, the plug-in does it", async () => {
    const directory = temporary();
    await setUpPodNetwork(
      {
        directory,
        podCidr: "10.1.0.0/24",
        setPodRules: () => Promise.reject(new Error("nft: there is none")),
      },
      logger,
    );
    expect(read(directory)).toContain('"ipMasq": true');
  });

  test("somebody else's network gets no rule", async () => {
    const directory = temporary();
    fs.writeFileSync(path.join(directory, "10-other.conflist"), "{}");
    const setPodRules = jest.fn(async () => undefined);
    expect(
      await setUpPodNetwork(
        { directory, podCidr: "10.1.0.0/24", setPodRules },
        logger,
      ),
    ).toBe(false);
    expect(setPodRules).not.toHaveBeenCalled();
  });

  // Configurations of Multus: by the network's name, by its file, and with a copy of it inside.
  test.each([
    { clusterNetwork: "orbit" },
    { clusterNetwork: `/host/etc/cni/net.d/${cniFileName}` },
    { delegates: [{ name: "orbit", plugins: [{ type: "ptp" }] }] },
  ])("a plug-in that calls ours leaves it in use: %j", async (call) => {
    const directory = temporary();
    const other = { name: "multus-cni-network", type: "multus", ...call };
    fs.writeFileSync(
      path.join(directory, "00-multus.conf"),
      JSON.stringify(other),
    );
    const ranges: string[] = [];
    const start = async (podCidr: string): Promise<boolean> =>
      setUpPodNetwork(
        {
          directory,
          podCidr,
          setPodRules: async (given) => void ranges.push(...given),
        },
        logger,
      );
    expect(await start("10.1.0.0/24")).toBe(true);
    expect(await start("10.1.0.0/24")).toBe(false);
    expect(await start("10.2.0.0/24")).toBe(true);
    expect(ranges).toEqual(["10.1.0.0/24", "10.1.0.0/24", "10.2.0.0/24"]);
    expect(read(directory)).toContain("10.2.0.0/24");
  });

  test.each([
    ["of its own name alone", { name: "orbit", plugins: [{ type: "ptp" }] }],
    ["of another network", { type: "multus", clusterNetwork: "other" }],
  ])("a configuration %s takes the place of ours", async (_, other) => {
    const directory = temporary();
    fs.writeFileSync(
      path.join(directory, "00-other.conf"),
      JSON.stringify(other),
    );
    fs.writeFileSync(path.join(directory, cniFileName), "{}");
    const setPodRules = jest.fn(async () => undefined);
    await setUpPodNetwork(
      { directory, podCidr: "10.1.0.0/24", setPodRules },
      logger,
    );
    expect(setPodRules).not.toHaveBeenCalled();
    expect(read(directory)).toBe("{}");
  });
});
