// The connections of one tenant, or of one address, and its requests that were read and are not handed on yet.
import { Listed, RequestList } from "../../api/queueing/request-list.ts";
import { Delays } from "./flood-pace.ts";

/** Of one lane: requests that came in one turn, and that wait to begin. An ordinary busy client has fewer. */
export const maxOfLane = 64;

/** A request that was read and is not handed on yet. */
interface Kept {
  readonly request: Arriving;
  readonly sinceMs: number;
}

/** A request as it is seen here. */
export interface Arriving {
  /** Its client is gone. */
  readonly closed: boolean;
  /** Hands it on. */
  handle(): void;
}

/** Its list: lanes with requests that are kept back. */
export class Lane<Connection extends Listed> extends Listed {
  /** Requests that came in the turn `turn`. */
  arrived = 0;
  turn = 0;
  waiting = 0;
  readonly kept: Kept[] = [];
  readonly delays = new Delays();
  readonly reading = new RequestList<Connection>();
  /** In the order in which they were held. */
  readonly held = new RequestList<Connection>();

  constructor(readonly name: string) {
    super();
  }

  /** It has as many requests as are good for it. */
  get isFull(): boolean {
    return this.waiting + this.kept.length >= maxOfLane;
  }
}
