// Objects of the manifests directory of a node without an API server: brought into memory as an API server would have them,
// so that pods' volumes and environment, the DNS server and the service proxy find them there. Of two of one name the one
// that was there first stays. What is gone from the files is removed; the directories of claims stay by default, as the only
// copy of what pods wrote (claim-rules.ts; volumes/local-path removes the others).
import {
  apiVersionOf,
  objectKey,
  type AnyObject,
  type KubeObject,
} from "../../../api/object.ts";
import type {
  PersistentVolumeClaim,
  Service,
} from "../../../api/types/core-v1.ts";
import type { ResourceRef } from "../../../client/client.ts";
import type { MemoryObjects } from "../../../client/memory-objects.ts";
import {
  configMaps,
  namespaces,
  persistentVolumeClaims,
  persistentVolumes,
  secrets,
  services,
} from "../../../client/resources.ts";
import type { OtherObject, OthersByFile } from "../file-source.ts";
import { FieldProblems } from "../manifest-reader.ts";
import { boundClaim } from "./claim-rules.ts";
import type { FieldProblem } from "../field-problem.ts";
import { assignAddresses } from "./service-addresses.ts";

interface DirectoryObjectsOptions {
  readonly objects: MemoryObjects;
  /** Directory below which the volumes of claims lie. */
  readonly volumesRoot: string;
  /** None: Services get no addresses, and those without one are refused. */
  readonly serviceRanges: readonly string[];
  readonly onProblem: (file: string, message: string) => void;
}

interface Found extends OtherObject {
  readonly file: string;
}

interface Wanted {
  readonly ref: ResourceRef;
  readonly object: KubeObject;
}

export class DirectoryObjects {
  readonly #options: DirectoryObjectsOptions;
  /** The file of each name. */
  #holders = new Map<string, string>();
  #present = new Map<string, { wanted: Wanted; text: string }>();
  #problems = new Set<string>();

  constructor(options: DirectoryObjectsOptions) {
    this.#options = options;
  }

  /** The complete set; replaces the one before. */
  set(byFile: OthersByFile): void {
    const problems = new Map<string, string>();
    const report = ({ file, place }: Found, problem: FieldProblem): void => {
      problems.set(place(new FieldProblems([problem])), file);
    };
    const found = this.#withoutDuplicates(byFile, report);
    this.#keep([
      ...ofKind(found, "ConfigMap").map(({ object }) => ({
        ref: configMaps,
        object,
      })),
      ...ofKind(found, "Secret").map(({ object }) => ({
        ref: secrets,
        object,
      })),
      ...ofKind(found, "PersistentVolumeClaim").flatMap(({ object }) =>
        this.#claimAndVolume(object),
      ),
      ...namespacesOf(found),
      ...this.#addressed(ofKind(found, "Service"), report),
    ]);
    for (const [text, file] of problems)
      if (!this.#problems.has(text)) this.#options.onProblem(file, text);
    this.#problems = new Set(problems.keys());
  }

  #withoutDuplicates(
    byFile: OthersByFile,
    report: (found: Found, problem: FieldProblem) => void,
  ): Found[] {
    const all = [...byFile].flatMap(([file, others]) =>
      others.map((other): Found => ({ ...other, file })),
    );
    const held = ({ object, file }: Found): boolean =>
      this.#holders.get(nameOf(object)) === file;
    const chosen = new Map<string, Found>();
    for (const each of [
      ...all.filter(held),
      ...all.filter((one) => !held(one)),
    ]) {
      const name = nameOf(each.object);
      const holder = chosen.get(name);
      if (!holder) chosen.set(name, each);
      else
        report(each, {
          field: "metadata.name",
          detail: `Duplicate value: "${each.object.metadata.name}": already used by ${holder.file}`,
        });
    }
    this.#holders = new Map(
      [...chosen].map(([name, { file }]) => [name, file]),
    );
    return [...chosen.values()];
  }

  #claimAndVolume(object: AnyObject): Wanted[] {
    const { claim, volume } = boundClaim(
      object as unknown as PersistentVolumeClaim,
      this.#options.volumesRoot,
    );
    return [
      { ref: persistentVolumes, object: volume },
      { ref: persistentVolumeClaims, object: claim },
    ];
  }

  #addressed(
    found: readonly Found[],
    report: (found: Found, problem: FieldProblem) => void,
  ): Wanted[] {
    const assigned = assignAddresses(
      found.map(({ object }) => object as unknown as Service),
      this.#options.serviceRanges,
    );
    return assigned.flatMap((each, n): Wanted[] => {
      if ("service" in each) return [{ ref: services, object: each.service }];
      report(found[n]!, each.problem);
      return [];
    });
  }

  #keep(wanted: readonly Wanted[]): void {
    const { objects } = this.#options;
    const before = this.#present;
    this.#present = new Map();
    for (const each of wanted) {
      const key = keyOf(each);
      const text = JSON.stringify(each.object);
      if (before.get(key)?.text !== text) objects.put(each.ref, each.object);
      this.#present.set(key, { wanted: each, text });
    }
    for (const [key, { wanted: gone }] of before)
      if (!this.#present.has(key))
        objects.remove(
          gone.ref,
          gone.object.metadata.name,
          gone.object.metadata.namespace,
        );
  }
}

const ofKind = (found: readonly Found[], kind: string): Found[] =>
  found.filter(({ object }) => object.kind === kind);

const nameOf = (object: AnyObject): string =>
  `${object.kind}/${objectKey(object)}`;

const keyOf = ({ ref, object }: Wanted): string =>
  `${ref.resource}/${objectKey(object)}`;

/** The DNS server answers for names in namespaces that there are. */
function namespacesOf(found: readonly Found[]): Wanted[] {
  const names = new Set([
    "default",
    "kube-system",
    ...found.map(({ object }) => object.metadata.namespace ?? "default"),
  ]);
  return [...names].sort().map((name) => ({
    ref: namespaces,
    object: {
      apiVersion: apiVersionOf(namespaces),
      kind: "Namespace",
      metadata: { name },
    },
  }));
}
