// The API server's answer when the answer is no: metav1.Status as a value, and the one error that carries it.

export type StatusCause = { reason?: string; message?: string; field?: string };

export type Status = {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, unknown>;
  status: "Success" | "Failure";
  message?: string;
  /** NotFound, AlreadyExists, Conflict, Invalid, Expired, Gone, TooManyRequests, … as the server spells them. */
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
  code?: number;
};

/** A refusal by an API server, real or embedded. `status.code` is the HTTP code. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? `status ${status.code}`, options);
    this.status = status;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? "";
  }
}
