// Whether the servers of one store have the same certificate authority. One with another would give pods and nodes what the
// others refuse. It is reported, not refused: after a rotation the published one is the old one for a moment.
import type { Logger } from "pino";
import { isNotFound } from "../../api/errors.ts";
import type { Client } from "../../client/client.ts";
import { configMaps } from "../../client/resources.ts";

/** @param authority PEM of this server's own */
export async function checkAuthority(
  client: Client,
  authority: string,
  logger: Logger,
): Promise<void> {
  try {
    const { data } = await client
      .resource(configMaps)
      .get("kube-root-ca.crt", "kube-system");
    if (data?.["ca.crt"]?.trim() !== authority.trim())
      logger.error(
        "the cluster in this store has another certificate authority than this server: copy ca.crt, ca.key, front-proxy-ca.crt, front-proxy-ca.key and sa.key from pki in the data directory of a server of that cluster",
      );
  } catch (err) {
    if (!isNotFound(err))
      logger.warn({ err }, "the cluster's certificate authority is not known");
  }
}
