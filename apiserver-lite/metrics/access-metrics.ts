// How requests passed authentication and authorization, under the reference's names. A name of a user is counted only where
// it is one of a few that the reference knows, so that users can't make series.
import {
  Counters,
  exponentialBounds,
  Histograms,
} from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

export type Authenticated = "success" | "failure" | "error";
export type Authorized = "allowed" | "denied" | "no-opinion" | "error";

const bounds = exponentialBounds(0.001, 2, 15);
const knownUsers = new Set([
  "admin",
  "client",
  "kube_proxy",
  "kubelet",
  "system:serviceaccount:kube-system:default",
]);

function shownUser(name: string): string {
  if (knownUsers.has(name)) return name;
  return name.includes("@") ? "email_id" : "other";
}

export class AccessMetrics {
  readonly #users = new Counters({
    name: "authenticated_user_requests",
    help: "Requests whose user is known, by the user's kind.",
    labels: ["username"],
  });
  readonly #attempts = new Counters({
    name: "authentication_attempts",
    help: "Requests by whether their user was found out.",
    labels: ["result"],
  });
  readonly #took = new Histograms(
    {
      name: "authentication_duration_seconds",
      help: "How long finding out the user took.",
      labels: ["result"],
    },
    bounds,
  );
  readonly #decisions = new Counters({
    name: "authorization_attempts_total",
    help: "Requests by what authorization said.",
    labels: ["result"],
  });
  readonly #deciding = new Histograms(
    {
      name: "authorization_duration_seconds",
      help: "How long authorization took.",
      labels: ["result"],
    },
    bounds,
  );

  /** @param user undefined: none was found @param beganMs of performance.now() */
  authenticated(
    result: Authenticated,
    user: string | undefined,
    beganMs: number,
  ): void {
    if (user !== undefined) this.#users.count(shownUser(user));
    this.#attempts.count(result);
    this.#took.observe((performance.now() - beganMs) / 1000, result);
  }

  /** @param beganMs of performance.now() */
  authorized(result: Authorized, beganMs: number): void {
    this.#decisions.count(result);
    this.#deciding.observe((performance.now() - beganMs) / 1000, result);
  }

  families(): Family[] {
    return [
      this.#users.family(),
      this.#attempts.family(),
      this.#took.family(),
      this.#decisions.family(),
      this.#deciding.family(),
    ];
  }
}
