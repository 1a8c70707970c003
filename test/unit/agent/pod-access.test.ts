// What exec and attach answer when the runtime refuses a container that ran when it was last looked at, and what logs
// answer of one that is not there.
import { PodAccess } from "../../../agent/pod-access.ts";
import type { ExecOptions } from "../../../api/contracts.ts";
import type { ContainerStatus as StatusInPod } from "../../../api/types/core-v1.ts";
import {
  RuntimeError,
  type ContainerStatus,
  type Runtime,
} from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { containerOf, testPod } from "./runtime-objects.ts";

const options: ExecOptions = {
  container: "app",
  command: ["true"],
  stdin: false,
  stdout: true,
  stderr: true,
  tty: false,
};
const pod = testPod();

/** The events of the container have not come: what is known says that it runs. */
function accessTo(
  refusal: RuntimeError,
  now: () => Promise<ContainerStatus>,
): PodAccess {
  const refuse = (): Promise<never> => Promise.reject(refusal);
  const runtime = { exec: refuse, attach: refuse, containerStatus: now };
  return new PodAccess({
    runtime: runtime as Partial<Runtime> as Runtime,
    rootDirectory: "/root",
    clock: new FakeClock(),
    pod: () => pod,
    refresh: () =>
      Promise.resolve({
        uid: "u",
        name: "p",
        namespace: "ns",
        sandboxes: [],
        containers: [containerOf(pod, "app", { state: "running" })],
      }),
    onChange: () => () => undefined,
  });
}

const exited = new RuntimeError(
  "unknown",
  "Attach: container is in CONTAINER_EXITED state",
);
const gone = { code: 404, message: 'container not found ("app")' };

test("a container that has just ended is not there, which is no failure of the agent", async () => {
  const access = accessTo(exited, () =>
    Promise.resolve(containerOf(pod, "app", { state: "exited" })),
  );
  await expect(access.attach("ns", "p", options)).rejects.toMatchObject(gone);
  await expect(access.exec("ns", "p", options)).rejects.toMatchObject(gone);
});

test("nor is one that has been removed", async () => {
  const access = accessTo(exited, () =>
    Promise.reject(new RuntimeError("not-found", "no such container")),
  );
  await expect(access.attach("ns", "p", options)).rejects.toMatchObject(gone);
});

test("what fails in a running container keeps the runtime's words", async () => {
  const access = accessTo(new RuntimeError("unknown", "no such program"), () =>
    Promise.resolve(containerOf(pod, "app", { state: "running" })),
  );
  await expect(access.exec("ns", "p", options)).rejects.toMatchObject({
    code: 500,
    message: "no such program",
  });
});

test("a runtime that is away is said to be", async () => {
  const away = new RuntimeError("unavailable", "connection refused");
  const access = accessTo(away, () => Promise.reject(away));
  await expect(access.exec("ns", "p", options)).rejects.toMatchObject({
    code: 503,
  });
});

test.each([
  [
    { terminated: { exitCode: 0, containerID: "cri-o://1" } },
    "unable to retrieve container logs for cri-o://1",
  ],
  [
    { waiting: { reason: "PodInitializing" } },
    'container "app" in pod "p" is waiting to start: PodInitializing',
  ],
])(
  "of a container that is not there the log says why: %j",
  async (state, message) => {
    const container = { name: "app", state };
    const access = new PodAccess({
      runtime: {} as Runtime,
      rootDirectory: "/root",
      clock: new FakeClock(),
      pod: () => ({
        ...pod,
        status: { containerStatuses: [container as StatusInPod] },
      }),
      refresh: () =>
        Promise.resolve({
          ...{ uid: "u", name: "p", namespace: "ns" },
          ...{ sandboxes: [], containers: [] },
        }),
      onChange: () => () => undefined,
    });
    await expect(
      access.logs("ns", "p", {
        container: "app",
        follow: false,
        previous: false,
        timestamps: false,
      }),
    ).rejects.toMatchObject({ code: 400, message });
  },
);
