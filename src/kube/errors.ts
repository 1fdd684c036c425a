// What can go wrong between us and an API server, apart from its own "no" (ApiError). No message holds a body, a
// header or a credential: these errors are logged.

/** No answer came. A write's result is then unknown, unless `sent` is false: such a request never reached a socket. */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError";
  readonly sent: boolean;

  constructor(message: string, options: ErrorOptions & { sent: boolean }) {
    super(message, options);
    this.sent = options.sent;
  }
}

/** The answer did not come in time. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError";
}

/** A watch brought nothing, not even a bookmark, for longer than a healthy one can. */
export class SilenceError extends ConnectionError {
  override readonly name: string = "SilenceError";
}

/** The lease leaves no time for this write, so it was not sent. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/** The server's bytes are not what the protocol promises: a cut line, no JSON, no event. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** How to reach the cluster, or as whom, is not usable as configured. One sentence for the user. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
