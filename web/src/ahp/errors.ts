/** Errors between a host and this client. Each message is a sentence for people. */

/** The host refused a request. `code` is one of `ErrorCode`, or a newer one. */
export class AhpError extends Error {
  override name = "AhpError";
  constructor(
    message: string,
    readonly code: number,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** The host refused an action. */
export class Rejected extends Error {
  override name = "Rejected";
}

/** The connection broke before the answer arrived: the outcome of the request is unknown. */
export class Disconnected extends Error {
  override name = "Disconnected";
}

export class TimedOut extends Error {
  override name = "TimedOut";
}
