// `orbit doctor` of a machine whose runtime is Docker: with a daemon that runs, and with the same one when it has ended.
import { startPrivateDocker } from "../../support/private-docker.ts";
import { runCommand } from "../../support/kubectl.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

interface Finding {
  name: string;
  state: string;
  found: string;
  remedy?: string;
}

test("what the daemon is, what it lacks, and how to start one that is away", async () => {
  const directory = directories();
  const daemon = await startPrivateDocker({
    directory: `${directory}/docker`,
    liveRestore: false,
  });
  const findings = async (): Promise<Finding[]> => {
    const { stdout } = await runCommand(orbitProgram, [
      "doctor",
      `--data-dir=${directory}/data`,
      `--container-runtime-endpoint=${daemon.endpoint}`,
      "--output=json",
    ]);
    return JSON.parse(stdout) as Finding[];
  };
  try {
    const running = await findings();
    const of = (name: string): Finding[] =>
      running.filter((each) => each.name === name);
    expect(of("container runtime")).toMatchObject([
      { state: "ok", found: expect.stringMatching(/^docker .* at unix:/) },
    ]);
    expect(of("runtime's cgroup driver")).toHaveLength(1);
    // Called by the agent, whatever the daemon knows.
    expect(of("network plug-ins")).toMatchObject([{ state: "ok" }]);
    expect(of("Docker")).toContainEqual(
      expect.objectContaining({
        state: "warning",
        found: "containers end when the daemon does (live-restore is off)",
        remedy: expect.stringContaining("/etc/docker/daemon.json") as string,
      }),
    );
    expect(of("CDI devices")).toHaveLength(1);
    expect(JSON.stringify(running)).not.toContain("[plugins");
  } finally {
    await daemon.stop();
  }
  const away = await findings();
  expect(away).toContainEqual(
    expect.objectContaining({
      name: "container runtime",
      state: "failed",
      remedy: expect.stringContaining("systemctl restart docker;") as string,
    }),
  );
  expect(away.some(({ name }) => name === "Docker")).toBe(false);
});
