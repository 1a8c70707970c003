// Annotations that the Node gets from the agent's options: who attaches volumes, where local volumes are.
import { annotationChanges } from "../../../agent/node/node-object.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { localPathAnnotation } from "../../../api/objects/volumes/local-path.ts";
import type { Node } from "../../../api/types/core-v1.ts";

const managed = "volumes.kubernetes.io/controller-managed-attach-detach";

const node = (annotations: Record<string, string>): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n", annotations },
  spec: {},
});

test("the controllers attach volumes unless --enable-controller-attach-detach=false", () => {
  const changes = (enabled: boolean, annotations: Record<string, string>) =>
    annotationChanges(
      node(annotations),
      resolveAgentConfig({
        nodeName: "n",
        enableControllerAttachDetach: enabled,
      }),
    );
  expect(changes(true, {})).toMatchObject({ [managed]: "true" });
  expect(changes(true, { [managed]: "true" })).not.toHaveProperty([managed]);
  expect(changes(false, { [managed]: "true" })).toMatchObject({
    [managed]: null,
  });
  expect(changes(false, {})).not.toHaveProperty([managed]);
});

test("another's annotations stay", () => {
  const changes = annotationChanges(
    node({ a: "b" }),
    resolveAgentConfig({ nodeName: "n", rootDirectory: "/r" }),
  );
  expect(Object.keys(changes).sort()).toEqual(
    [localPathAnnotation, managed].sort(),
  );
});
