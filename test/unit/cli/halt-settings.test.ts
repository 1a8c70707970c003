// How long `orbit stop-pods` gives pods, from its own options and the daemon's, and where it looks for them.
import * as fs from "node:fs";
import * as path from "node:path";
import { parseOptions } from "../../../cli/options/parse.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import {
  haltOptions,
  haltSettings,
} from "../../../cli/parts/agent/halt/settings.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();
const critical = 2_000_000_000;

/** `body`: a KubeletConfiguration, which the daemon's options name. */
async function settingsWith(argv: readonly string[], body?: string) {
  const file = path.join(temp(), "kubelet.yaml");
  if (body !== undefined)
    fs.writeFileSync(
      file,
      `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${body}`,
    );
  return haltSettings(
    parseOptions(
      [...haltOptions, ...serverOptions],
      [...argv, ...(body === undefined ? [] : [`--agent-arg=config=${file}`])],
    ),
    "/data",
  );
}

test.each<[string, string[], string | undefined, [number, number][]]>([
  [
    "nothing is said",
    [],
    undefined,
    [
      [0, 5],
      [critical, 2],
    ],
  ],
  [
    "it is asked to wait longer",
    ["--shutdown-grace-period=60s"],
    undefined,
    [
      [0, 58],
      [critical, 2],
    ],
  ],
  [
    "the daemon has periods",
    [],
    "shutdownGracePeriod: 50s\nshutdownGracePeriodCriticalPods: 20s\n",
    [
      [0, 30],
      [critical, 20],
    ],
  ],
  [
    "the daemon has periods by priority",
    [],
    "shutdownGracePeriodByPodPriority:\n- {priority: 5, shutdownGracePeriodSeconds: 40}\n- {priority: 0, shutdownGracePeriodSeconds: 9}\n",
    [
      [5, 40],
      [0, 9],
    ],
  ],
  [
    "both have",
    ["--shutdown-grace-period=10s"],
    "shutdownGracePeriodByPodPriority:\n- {priority: 5, shutdownGracePeriodSeconds: 40}\n",
    [
      [0, 8],
      [critical, 2],
    ],
  ],
])("periods when %s", async (_when, argv, body, wanted) => {
  const { periods } = await settingsWith(argv, body);
  expect(
    periods.map(({ priority, graceSeconds }) => [priority, graceSeconds]),
  ).toEqual(wanted);
});

test("a configuration that can't be read any more keeps no pod from ending", async () => {
  const stderr = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  const { periods, settings } = await settingsWith(
    ["--cgroup-root=/mine"],
    "shutdownGracePeriod: long\n",
  );
  expect(stderr.mock.calls.join()).toMatch(
    /kubelet\.yaml.*shutdownGracePeriod.*is left out/s,
  );
  stderr.mockRestore();
  expect(periods).toHaveLength(2);
  expect(settings.cgroupRoot).toBe("/mine");
});

test("the driver of the daemon's configuration says where pods are", async () => {
  const { settings } = await settingsWith([], "cgroupDriver: systemd\n");
  expect(settings.cgroupDriver).toBe("systemd");
});

test("less in all than for critical pods is refused", async () => {
  await expect(settingsWith(["--shutdown-grace-period=1s"])).rejects.toThrow(
    "--shutdown-grace-period-critical-pods must not be longer",
  );
});
