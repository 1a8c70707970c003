// Which of containerd's events are asked for, and what each of them says of a container, a sandbox or an image.
import type { RuntimeEvent } from "../runtime.ts";

/** topic → message of its payload, event type, field with the id. */
export const topics: Readonly<
  Record<
    string,
    readonly [message: string, type: RuntimeEvent["type"], field: string]
  >
> = {
  "/containers/create": ["ContainerCreate", "created", "id"],
  "/containers/delete": ["ContainerDelete", "deleted", "id"],
  "/tasks/start": ["TaskStart", "started", "container_id"],
  "/tasks/exit": ["TaskExit", "exited", "container_id"],
  "/tasks/oom": ["TaskOOM", "oom", "container_id"],
  "/images/create": ["ImageEvent", "image", "name"],
  "/images/update": ["ImageEvent", "image", "name"],
  "/images/delete": ["ImageEvent", "image", "name"],
};

export const filters = Object.keys(topics).map(
  (topic) => `namespace==k8s.io,topic=="${topic}"`,
);
