// An informer on a cache of this process: no second copy of the objects. Selectors and namespaces are filters on reads
// and events; an object that enters or leaves the filter is seen as added or deleted.
import type { KubeObject } from "../api/object.ts";
import { splitKey } from "../api/object.ts";
import type { Logger } from "pino";
import type { InformerOptions } from "./informer.ts";
import type { ObjectCache } from "./transport.ts";
import { objectFilter } from "./object-filter.ts";
import { SharedInformer } from "./shared-informer.ts";
import type { ObjectReader } from "./shared-informer.ts";

export function cacheInformer<T extends KubeObject>(
  cache: ObjectCache<T>,
  options: InformerOptions<T>,
  logger: Logger,
): { informer: SharedInformer<T>; stop: () => void } {
  const matches = objectFilter<T>(options);
  const { namespace } = options;
  // Handlers must see reads that agree with the events they got: objects deleted in the meantime are simply absent.
  const reader: ObjectReader<T> = {
    get(key) {
      const { name, namespace: objectNamespace } = splitKey(key);
      const object = cache.lister.get(name, objectNamespace || undefined);
      return object && matches(object) ? object : undefined;
    },
    list(ofNamespace) {
      if (namespace && ofNamespace && namespace !== ofNamespace) return [];
      const objects = cache.lister.list(ofNamespace || namespace);
      return options.labelSelector || options.fieldSelector
        ? objects.filter(matches)
        : objects;
    },
  };
  const informer = new SharedInformer<T>(reader, logger);
  const stop = cache.subscribe({
    onAdd: (object) => {
      if (matches(object)) informer.deliver(undefined, object);
    },
    onUpdate: (old, object) => {
      // A deletion and a new creation seen as one step: two objects, two events.
      const replaced = old.metadata.uid !== object.metadata.uid;
      const was = matches(old);
      const is = matches(object);
      if (was && is && !replaced) informer.deliver(old, object);
      else {
        if (was) informer.deliver(old, undefined);
        if (is) informer.deliver(undefined, object);
      }
    },
    onDelete: (object) => {
      if (matches(object)) informer.deliver(object, undefined);
    },
  });
  informer.markSynced();
  return { informer, stop };
}
