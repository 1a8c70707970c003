// A Job whose pods are refused, as by a webhook that is down: when the controller tries again.
import { errors } from "../../../api/errors.ts";
import { jobs } from "../../../client/resources.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("a refused pod is tried again after seconds, and at the latest each minute", async () => {
  const clock = new FakeClock();
  const plane = await startControlPlane({
    clock,
    controllers: { controllers: ["job-controller"] },
  });
  const triedAtSeconds: number[] = [];
  plane.api.intercept = ({ verb, resource }) => {
    if (verb !== "create" || resource.resource !== "pods") return;
    triedAtSeconds.push(clock.monotonic() / 1000);
    throw errors.internal("failed calling webhook");
  };
  await plane.client.resource(jobs).create({
    metadata: { name: "j", namespace: "default" },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: "NonIndexed",
      selector: { matchLabels: { job: "j" } },
      template: {
        metadata: { labels: { job: "j" } },
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "c", image: "a" }],
        },
      },
    },
  });
  await clock.advanceAsync(200_000);
  // The second follows from the status that the first wrote.
  expect(triedAtSeconds).toEqual([0, 0, 2, 6, 14, 30, 62, 122, 182]);
  await plane.stop();
});
