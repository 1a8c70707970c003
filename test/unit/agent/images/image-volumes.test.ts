// Images that pods have as volumes: made present like those of containers, but with events of the pod; and which of them
// containers have, for garbage collection.
import { ImageManager } from "../../../../agent/images/image-manager.ts";
import { PodEvents } from "../../../../agent/events/pod-events.ts";
import type { ImageVolumeSource } from "../../../../api/types/core-v1.ts";
import { mountedImages } from "../../../../cri/images/mounted-images.ts";
import {
  RuntimeError,
  type Runtime,
  type SandboxConfig,
} from "../../../../cri/runtime.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { containerOf, testPod } from "../runtime-objects.ts";

interface Registry {
  present: Set<string>;
  /** Images that it gives, each with the user it wants. */
  has: Record<string, string>;
}

function stage({ present, has }: Registry): {
  pulls: string[];
  events: string[];
  clock: FakeClock;
  ensure: (source: ImageVolumeSource) => Promise<string>;
} {
  const pulls: string[] = [];
  const events: string[] = [];
  const clock = new FakeClock();
  const manager = new ImageManager({
    runtime: {
      imageStatus: (image: string) =>
        Promise.resolve(
          present.has(image)
            ? {
                ...{ id: `id of ${image}`, repoTags: [], repoDigests: [] },
                ...{ sizeBytes: 5, pinned: false },
              }
            : undefined,
        ),
      pullImage(image: string, auth) {
        pulls.push(`${image} as ${auth?.username ?? "nobody"}`);
        if (has[image] !== auth?.username)
          return Promise.reject(new RuntimeError("unknown", "no such image"));
        present.add(image);
        return Promise.resolve(image);
      },
    } as Runtime,
    clock,
    events: new PodEvents(
      {
        event(object, type, reason, _message, { fieldPath = "" } = {}) {
          events.push(`${type} ${reason} ${object.kind}${fieldPath}`);
        },
      },
      () => ({ apiVersion: "v1", kind: "Node", metadata: { name: "node" } }),
    ),
    serialized: true,
    maxParallel: 0,
    credentials: () =>
      Promise.resolve([{ username: "one" }, { username: "two" }]),
    mayPull: () => undefined,
    progress: { begin: () => () => undefined },
  });
  const pod = testPod();
  return {
    pulls,
    events,
    clock,
    ensure: async (source) =>
      (await manager.ensureVolume(pod, source, {} as SandboxConfig)).id,
  };
}

test("an image that is there is taken, and the pod hears of it", async () => {
  const { ensure, events, pulls } = stage({
    present: new Set(["data:1"]),
    has: {},
  });
  for (const pullPolicy of ["IfNotPresent", "Never"])
    expect(await ensure({ reference: "data:1", pullPolicy })).toBe(
      "id of data:1",
    );
  expect(events).toEqual(["Normal Pulled Pod", "Normal Pulled Pod"]);
  expect(pulls).toEqual([]);
});

test("an image that is not there is pulled with the pod's secrets in turn", async () => {
  const { ensure, events, pulls } = stage({
    present: new Set(),
    has: { "data:1": "two" },
  });
  expect(await ensure({ reference: "data:1" })).toBe("id of data:1");
  expect(pulls).toEqual(["data:1 as one", "data:1 as two"]);
  expect(events).toEqual(["Normal Pulling Pod", "Normal Pulled Pod"]);
});

test.each([
  [{ reference: "data:1", pullPolicy: "Never" }, "ErrImageNeverPull"],
  [{ reference: "data:1" }, "ErrImagePull"],
  [{ reference: "No Name" }, "InvalidImageName"],
  [{}, "InvalidImageName"],
])("%j can't be had: %s", async (source, reason) => {
  const { ensure } = stage({ present: new Set(), has: {} });
  await expect(ensure(source)).rejects.toMatchObject({ reason });
});

test("a failed pull is not tried again at once", async () => {
  const { ensure, clock, pulls } = stage({ present: new Set(), has: {} });
  const source = { reference: "data:1" };
  await expect(ensure(source)).rejects.toMatchObject({
    reason: "ErrImagePull",
  });
  await expect(ensure(source)).rejects.toMatchObject({
    reason: "ImagePullBackOff",
  });
  expect(pulls).toHaveLength(2);
  clock.advance(11_000);
  await expect(ensure(source)).rejects.toMatchObject({
    reason: "ErrImagePull",
  });
});

test("which images containers have as volumes; one that is gone meanwhile has none", async () => {
  const pod = testPod();
  const mount = {
    containerPath: "/a",
    hostPath: "",
    readonly: true,
    propagation: "private" as const,
  };
  const statuses = [
    containerOf(pod, "a", {
      mounts: [
        { ...mount, image: { id: "sha256:1", reference: "data:1" } },
        { ...mount, hostPath: "/b" },
      ],
    }),
    containerOf(pod, "b"),
    containerOf(pod, "gone"),
  ];
  const runtime = (code: RuntimeError["code"]) => ({
    listContainers: () => Promise.resolve(statuses),
    containerStatus(id: string) {
      const found = statuses.find((status) => status.id === id)!;
      return found.name === "gone"
        ? Promise.reject(new RuntimeError(code, "gone"))
        : Promise.resolve(found);
    },
  });
  expect(await mountedImages(runtime("not-found"))).toEqual(["sha256:1"]);
  await expect(mountedImages(runtime("unavailable"))).rejects.toThrow("gone");
});
