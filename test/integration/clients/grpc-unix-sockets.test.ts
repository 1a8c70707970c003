// A Go client at the agent's sockets: etcdctl, which knows none of their methods, but is answered so.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { DeviceRegistration } from "../../../agent/resources/devices/device-registration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

test("a client that names the socket's path as its authority gets the server's own answer", async () => {
  const directory = directories();
  const registration = new DeviceRegistration({
    directory,
    connect: () => Promise.resolve(),
    disconnect: () => undefined,
  });
  await registration.start();
  const socket = join(directory, "kubelet.sock");
  const failure = await promisify(execFile)(
    "etcdctl",
    [`--endpoints=unix://${socket}`, "--command-timeout=20s", "get", "x"],
    { env: { ...process.env, ETCDCTL_API: "3" } },
  ).catch((error: { stderr: string }) => error.stderr);
  await registration.stop();
  expect(failure).toContain("code = Unimplemented");
});
