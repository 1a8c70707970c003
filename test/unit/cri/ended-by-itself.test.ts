// What is asked again of a container that ends by itself while it is stopped or removed, and what is not.
import { retryEndedByItself } from "../../../cri/containerd/ended-by-itself.ts";
import { RuntimeError } from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const closed =
  'StopPodSandbox: failed to stop container "c": failed to kill container "c": ttrpc: closed: unknown';
const running =
  'RemoveContainer: failed to set removing state for container "c": container is still running, to stop first';

async function retried(message: string, failures: number) {
  const clock = new FakeClock();
  let calls = 0;
  const result = retryEndedByItself(clock, () =>
    ++calls > failures
      ? Promise.resolve("ended")
      : Promise.reject(new RuntimeError("unknown", message)),
  ).catch((error: Error) => error.message);
  await clock.advanceAsync(10_000);
  return { result: await result, calls };
}

test.each([closed, running])("%s", async (message) => {
  expect(await retried(message, 2)).toEqual({ result: "ended", calls: 3 });
});

test("an error that stays is given after six calls", async () => {
  expect(await retried(closed, 100)).toEqual({ result: closed, calls: 6 });
});

test("another error is given at once", async () => {
  const message = "StopContainer: the shim does not answer";
  expect(await retried(message, 1)).toEqual({ result: message, calls: 1 });
});
