// Pulls in turn, and a registry that never answers, which must not keep the images of others away.
import { ImageManager } from "../../../../agent/images/image-manager.ts";
import type { PodEvents } from "../../../../agent/events/pod-events.ts";
import {
  RuntimeError,
  type Runtime,
  type SandboxConfig,
} from "../../../../cri/runtime.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { testPod } from "../runtime-objects.ts";

const settle = (): Promise<void> =>
  new Promise((resolve) => setImmediate(resolve));

function stage(settings: { serialized: boolean; maxParallel: number }) {
  const clock = new FakeClock();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const pulled: string[] = [];
  const manager = new ImageManager({
    runtime: {
      imageStatus: () => Promise.resolve(undefined),
      pullImage: (image: string) =>
        new Promise<string>((resolve) => {
          begun.push(image);
          ends.set(image, () => resolve(image));
        }),
    } as unknown as Runtime,
    clock,
    events: {
      container: (...[, , , reason, message]: string[]) => {
        if (reason === "Pulled") pulled.push(message!);
      },
    } as unknown as PodEvents,
    ...settings,
    credentials: () => Promise.resolve([]),
    mayPull: () => undefined,
    progress: { begin: () => () => undefined },
  });
  return {
    clock,
    begun,
    pulled,
    end: async (image: string) => {
      ends.get(image)!();
      await settle();
    },
    ask: async (...images: string[]) => {
      for (const image of images)
        void manager.ensure(
          testPod(),
          { name: "c", image },
          {} as SandboxConfig,
        );
      await settle();
    },
  };
}

test("one after another", async () => {
  const { ask, begun, end } = stage({ serialized: true, maxParallel: 0 });
  await ask("a:1", "b:1", "c:1");
  expect(begun).toEqual(["a:1"]);
  await end("a:1");
  expect(begun).toEqual(["a:1", "b:1"]);
  await end("b:1");
  expect(begun).toEqual(["a:1", "b:1", "c:1"]);
});

test("the time of a pull is without its wait for a turn", async () => {
  const { ask, clock, end, pulled } = stage({
    serialized: true,
    maxParallel: 0,
  });
  await ask("a:1", "b:1");
  clock.advance(20_000);
  await end("a:1");
  clock.advance(250);
  await end("b:1");
  expect(pulled).toEqual([
    'Successfully pulled image "a:1" in 20s (20s including waiting). Image size: 0 bytes.',
    'Successfully pulled image "b:1" in 250ms (20.25s including waiting). Image size: 0 bytes.',
  ]);
});

test.each([
  [{ serialized: true, maxParallel: 0 }, 1],
  [{ serialized: false, maxParallel: 2 }, 2],
])("%j: what hangs lets the others go on after a minute", async (how, many) => {
  const { ask, begun, clock, end } = stage(how);
  const hanging = Array.from({ length: many }, (_, index) => `evil:${index}`);
  await ask(...hanging, "good:1", "good:2", "good:3");
  clock.advance(59_999);
  await settle();
  expect(begun).toEqual(hanging);
  clock.advance(1);
  await settle();
  expect(begun.length).toBe(2 * many);
  // Those that took over have turns of their own, which their end gives on once.
  await end("good:1");
  expect(begun.length).toBe(2 * many + 1);
  // The end of one whose turn is over gives on none.
  await end("evil:0");
  expect(begun.length).toBe(2 * many + 1);
});

test("a runtime that can't say what it has: the reason, and no question where the image is pulled in any case", async () => {
  const events: string[][] = [];
  let asked = 0;
  const manager = new ImageManager({
    runtime: {
      imageStatus: (image: string) => {
        asked++;
        return asked === 1
          ? Promise.reject(new RuntimeError("unavailable", "no answer"))
          : Promise.resolve({ id: image, repoTags: [], repoDigests: [] });
      },
      pullImage: (image: string) => Promise.resolve(image),
    } as unknown as Runtime,
    clock: new FakeClock(),
    events: {
      container: (...[, , type, reason, message]: string[]) =>
        events.push([type!, reason!, message!]),
    } as unknown as PodEvents,
    serialized: false,
    maxParallel: 0,
    credentials: () => Promise.resolve([]),
    mayPull: () => undefined,
    progress: { begin: () => () => undefined },
  });
  const ensure = (imagePullPolicy: "IfNotPresent" | "Always") =>
    manager.ensure(
      testPod(),
      { name: "c", image: "a:1", imagePullPolicy },
      {} as SandboxConfig,
    );
  const message =
    'Failed to inspect image "a:1": rpc error: code = Unavailable desc = no answer';
  await expect(ensure("IfNotPresent")).rejects.toMatchObject({
    reason: "ImageInspectError",
    message,
  });
  expect(events).toEqual([["Warning", "InspectFailed", message]]);
  await ensure("Always");
  // What was pulled is looked at once.
  expect(asked).toBe(2);
});

test.each([
  [["denied", "denied"], "denied"],
  [["denied", "no such image"], "[denied, no such image]"],
])("what a registry says to each credential: %j", async (said, wanted) => {
  const left = [...said];
  const manager = new ImageManager({
    runtime: {
      imageStatus: () => Promise.resolve(undefined),
      pullImage: () =>
        Promise.reject(new RuntimeError("unknown", left.shift() ?? "")),
    } as unknown as Runtime,
    clock: new FakeClock(),
    events: { container: () => undefined } as unknown as PodEvents,
    serialized: false,
    maxParallel: 0,
    credentials: () =>
      Promise.resolve(
        said.map((_, index) => ({ username: `u${index}`, password: "p" })),
      ),
    mayPull: () => undefined,
    progress: { begin: () => () => undefined },
  });
  await expect(
    manager.ensure(testPod(), { name: "c", image: "a:1" }, {} as SandboxConfig),
  ).rejects.toMatchObject({ reason: "ErrImagePull", message: wanted });
});

test.each([
  [
    "RegistryUnavailable: no route",
    "RegistryUnavailable",
    "image pull failed for a:1 because the registry is unavailable: no route",
  ],
  [
    "SignatureValidationFailed",
    "SignatureValidationFailed",
    "image pull failed for a:1 because the signature validation failed",
  ],
])("a runtime that says %j", async (said, reason, message) => {
  const events: string[] = [];
  const clock = new FakeClock();
  const manager = new ImageManager({
    runtime: {
      imageStatus: () => Promise.resolve(undefined),
      pullImage: () => Promise.reject(new RuntimeError("unknown", said)),
    } as unknown as Runtime,
    clock,
    events: {
      container: (...event: string[]) => events.push(event.slice(2).join(" ")),
    } as unknown as PodEvents,
    serialized: false,
    maxParallel: 0,
    credentials: () => Promise.resolve([]),
    mayPull: () => undefined,
    progress: { begin: () => () => undefined },
  });
  const ensure = () =>
    manager.ensure(testPod(), { name: "c", image: "a:1" }, {} as SandboxConfig);
  await expect(ensure()).rejects.toMatchObject({ reason, message });
  expect(events.at(-1)).toBe(
    `Warning Failed Failed to pull image "a:1": ${said}`,
  );
  await expect(ensure()).rejects.toMatchObject({
    reason: "ImagePullBackOff",
    message: `Back-off pulling image "a:1": ${reason}: ${message}`,
  });
});
