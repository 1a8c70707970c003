// A service entry with as little memory as it needs: what came from the other thread has texts and lists of its own for each
// service, and most services have the same namespaces and ports.
import type {
  EntryEndpoint,
  EntryPort,
  ServiceEntry,
} from "../service-entry.ts";

/** What many entries share; beyond this it is begun again, and entries keep what they have. */
const maxShared = 2000;
const noEndpoints: readonly EntryEndpoint[] = [];
const noAddresses: readonly string[] = [];

export class EntryCompactor {
  readonly #namespaces = new Map<string, string>();
  readonly #ports = new Map<string, readonly EntryPort[]>();

  compact(entry: ServiceEntry): ServiceEntry {
    const { namespace, name, addresses, endpoints, externalName } = entry;
    return {
      namespace: shared(this.#namespaces, namespace, namespace),
      name,
      addresses: addresses.length === 0 ? noAddresses : addresses,
      ports: this.#sharedPorts(entry.ports),
      endpoints:
        endpoints.length === 0
          ? noEndpoints
          : endpoints.map(({ address, host, ports }) => ({
              address,
              host,
              ports: this.#sharedPorts(ports),
            })),
      ...(externalName === undefined ? {} : { externalName }),
    };
  }

  #sharedPorts(ports: readonly EntryPort[]): readonly EntryPort[] {
    const key = ports
      .map(({ name, protocol, port }) => `${name} ${protocol} ${port}`)
      .join();
    return shared(this.#ports, key, ports);
  }
}

function shared<T>(known: Map<string, T>, key: string, value: T): T {
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= maxShared) known.clear();
  known.set(key, value);
  return value;
}
