// Which runtime an endpoint is, and what is refused by name.
import pino from "pino";
import { openRuntime, runtimeKind } from "../../../cri/open-runtime.ts";
import { RuntimeError } from "../../../cri/runtime.ts";

test.each([
  "/run/containerd/containerd.sock",
  "unix:///run/crio/crio.sock",
  "unix:/run/cri-dockerd.sock",
  "unix:///run/my-docker.sock",
])("%s speaks CRI", (endpoint) => {
  expect(runtimeKind(endpoint)).toBe("cri");
});

test.each(["unix:///var/run/docker.sock", "/run/docker.sock"])(
  "%s is Docker",
  async (endpoint) => {
    expect(runtimeKind(endpoint)).toBe("docker");
    const logger = pino({ level: "silent" });
    expect((await openRuntime({ endpoint, logger })).name).toBe("docker");
  },
);

test.each([
  ["npipe:////./pipe/containerd", /npipe.* is not a unix socket/],
  ["tcp://127.0.0.1:2375", /is not a unix socket/],
  ["unix://", /is not a unix socket/],
  ["", /is not a unix socket/],
])("%s is refused", async (endpoint, message) => {
  const logger = pino({ level: "silent" });
  const opening = openRuntime({ endpoint, logger });
  await expect(opening).rejects.toThrow(message);
  await expect(opening).rejects.toBeInstanceOf(RuntimeError);
});
