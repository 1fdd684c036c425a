// Claims whose Node object has vanished, by what their own lifecycle wrote of it. Nearly always there are none, so they are
// kept apart and nobody looks through all claims for them.

import type { ClaimView } from "./views.ts";

/** As decide/registration.ts writes it of a claim that was registered. */
export function isNodeless({ conditions }: ClaimView): boolean {
  const isRegistered = conditions.some(({ type, status }) => type === "Registered" && status === "True");
  const { status, reason } = conditions.find(({ type }) => type === "Ready") ?? {};
  return isRegistered && status === "False" && reason === "NodeNotFound";
}
