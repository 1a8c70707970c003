// The groups and versions of discovery, this server's own and those of aggregated servers, in their common order. The older
// form lists what has an APIService; the aggregated form what is served.
import type { Catalogue } from "../../api/catalogue.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import type {
  DescribedVersion,
  GroupVersions,
  ServedGroups,
} from "../discovery/served-groups.ts";
import type { StateReader } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import type { ExtensionDiscovery } from "./extension-discovery.ts";
import { orderedGroups, type Prioritised } from "./group-order.ts";
import { builtinPriorities, otherPriorities } from "./group-priorities.ts";
import {
  apiServicesResource,
  registrationGroup,
  registrationOf,
} from "./registration.ts";
import type { RemoteServices } from "./remote-services.ts";

interface GroupSources {
  readonly state: StateReader;
  readonly catalogue: Catalogue;
  readonly remotes: RemoteServices;
  readonly discovery: ExtensionDiscovery;
}

/** The aggregator's own group is the first: no APIService can have as high a priority. */
const firstPriority = 20_001;

export class AggregatedGroups implements ServedGroups {
  #listed: readonly GroupVersions<Prioritised>[] | undefined;

  constructor(private readonly sources: GroupSources) {}

  /** To be called when APIServices or served kinds changed. */
  invalidate(): void {
    this.#listed = undefined;
  }

  listed(): readonly GroupVersions<Prioritised>[] {
    return (this.#listed ??= this.#list());
  }

  described(): readonly GroupVersions<DescribedVersion>[] {
    const { remotes, discovery } = this.sources;
    const own = this.#own().filter(
      ({ group, version }) => !remotes.get(`${version}.${group}`),
    );
    const others = [...remotes.all()].flatMap((remote) => {
      const document = discovery.of(remote.name);
      return document && remote.group !== "" ? [{ ...remote, document }] : [];
    });
    return orderedGroups<
      Prioritised & { document?: DescribedVersion["document"] }
    >([...own, ...others]);
  }

  #list(): GroupVersions<Prioritised>[] {
    const { resource } = apiServicesResource;
    const registered = typed<readonly APIService[]>(
      this.sources.state.list(registrationGroup, resource),
    ).map(registrationOf);
    const names = new Set(registered.map(({ name }) => name));
    // A group that is registered without a definition has no APIService.
    const unregistered = this.#own().filter(
      ({ group, version, custom }) =>
        (custom || group === registrationGroup) &&
        !names.has(`${version}.${group}`),
    );
    return orderedGroups<Prioritised>([...registered, ...unregistered]).filter(
      ({ name }) => name !== "",
    );
  }

  #own(): (Prioritised & { custom: boolean })[] {
    return this.sources.catalogue
      .groupVersions()
      .filter(({ group }) => group !== "")
      .map(({ group, version }) => {
        const builtin =
          group === registrationGroup
            ? ([firstPriority, 0] as const)
            : builtinPriorities(group, version);
        const [groupPriority, versionPriority] =
          builtin ?? otherPriorities(group);
        const custom = builtin === undefined;
        return { group, version, groupPriority, versionPriority, custom };
      });
  }
}
