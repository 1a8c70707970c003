// The CNI configuration: written where there is none, ours brought up to date, others' left alone.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  cniConfiguration,
  cniFileName,
  writeCniConfiguration,
} from "../../../cri/cni/configuration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

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
      { type: "portmap", capabilities: { portMappings: true }, snat: true },
    ],
  });
});

test("both families", () => {
  const options = {
    directory: "",
    podCidr: "10.1.0.0/24",
    extraCidrs: ["fd00::/64"],
    portMap: false,
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
