// Why a node's serving certificate is approved: what the cluster's Nodes, Services and API servers have is looked up here,
// the rules are serving-approval's.
import type { CertificateRequest } from "../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import { isNotFound } from "../../api/errors.ts";
import type { Client } from "../../client/client.ts";
import { endpointSlices, nodes, services } from "../../client/resources.ts";
import type { Reconciler } from "../reconciler.ts";
import { mayServe, nodeOfUser } from "./serving-approval.ts";

export class ServingApprover {
  readonly #client: Client;
  readonly #nodes;
  readonly #services;
  readonly #slices;

  constructor(client: Client) {
    this.#client = client;
    this.#nodes = client.informer(nodes);
    this.#services = client.informer(services);
    this.#slices = client.informer(endpointSlices);
  }

  /** Nothing is approved before all who have names and addresses are known. */
  watchedBy(reconciler: Reconciler): void {
    reconciler
      .watch(this.#nodes, {})
      .watch(this.#services, {})
      .watch(this.#slices, {});
  }

  /** @returns the condition's message; undefined: the request is left to others */
  async approval(
    csr: CertificateSigningRequest,
    request: CertificateRequest | undefined,
  ): Promise<string | undefined> {
    const name = nodeOfUser(csr.spec.username);
    if (name === undefined || !request) return undefined;
    const node = await this.#client
      .resource(nodes)
      .get(name)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    return mayServe(csr, request, node, {
      nodes: this.#nodes.lister.list(),
      services: this.#services.lister.list(),
      slices: this.#slices.lister.list("default"),
    })
      ? "Auto approving a node's serving certificate for its own name and addresses."
      : undefined;
  }
}
