// Every "no" that only HTTP has: who may ask, in which form, and which parts of Kubernetes are not here at all. In the
// words of Kubernetes 1.36 where it has them; the store's own are in ../refusal.ts.

import { ApiError, type Status } from "../../api/status.ts";

type Refused = { code: number; reason?: string; message: string; details?: NonNullable<Status["details"]> };

function refusal({ code, reason, message, details }: Refused): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

export const unauthorized = (): ApiError => refusal({ code: 401, reason: "Unauthorized", message: "Unauthorized" });

export const notAcceptable = (accepted: readonly string[]): ApiError =>
  refusal({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${accepted.join(", ")}`,
  });

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  refusal({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });

/** 415 is what kubectl takes for "this server cannot do it". */
export const noServerSideApply = (): ApiError =>
  refusal({
    code: 415,
    reason: "UnsupportedMediaType",
    message:
      "the cluster in the box has no server-side apply: use kubectl apply without --server-side, or another patch",
  });

export const tooLarge = (limit: number): ApiError =>
  refusal({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: limit is ${limit}`,
  });

/** What answers at this path in a real cluster but not in the box: the sentence says why. */
export const notServed = (message: string): ApiError =>
  refusal({ code: 404, reason: "NotFound", message, details: {} });

/** The object is there, but what is asked of it needs something that the box does not have, such as a kubelet. */
export const notImplemented = (message: string): ApiError => refusal({ code: 501, reason: "NotImplemented", message });
