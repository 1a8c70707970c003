/** The limit of one evaluation: its cost reached it. No operator catches it. */
export class CostExceeded extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}
