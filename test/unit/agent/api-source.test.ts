// Pods of the API server are pods of the API server: an annotation that calls one static makes it none.
import pino from "pino";
import { isStaticPod } from "../../../agent/pods/shape/labels.ts";
import { isCriticalPod } from "../../../agent/pods/shape/critical-pod.ts";
import { ApiSource } from "../../../agent/sources/api-source.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { pods } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const logger = pino({ level: "silent" });

test.each(["file", "http", "", undefined])(
  "config.source %j: not static, not critical, its other annotations kept",
  async (source) => {
    const clock = new FakeClock();
    const client = createClient(new MemoryApi(clock), { clock, logger });
    const api = client.resource(pods);
    await api.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "p",
        namespace: "default",
        annotations: {
          mine: "x",
          ...(source === undefined
            ? {}
            : { "kubernetes.io/config.source": source }),
        },
      },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
    });
    const seen: Pod[] = [];
    const gone: Pod[] = [];
    const apiSource = new ApiSource({
      client,
      nodeName: "n",
      onPod: (pod) => seen.push(pod),
      onPodGone: (pod) => gone.push(pod),
      onMirror: () => undefined,
      onMirrorGone: () => undefined,
      onSynced: () => undefined,
    });
    apiSource.start();
    await eventually(() => seen.length > 0);
    await api.delete("p", "default", { gracePeriodSeconds: 0 });
    await eventually(() => gone.length > 0);
    apiSource.stop();
    for (const pod of [...seen, ...gone]) {
      expect(isStaticPod(pod)).toBe(false);
      expect(isCriticalPod(pod)).toBe(false);
      expect(pod.metadata.annotations).toMatchObject({ mine: "x" });
    }
  },
);
