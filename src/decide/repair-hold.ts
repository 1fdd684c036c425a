// The annotation karpenter.sh/do-not-repair on a node, its claim or its pool: "true" for as long as it is there, or a
// time until which it holds. What nobody can read holds too, and says so.

import { formatTime, type Instant, parseTime } from "../api/time.ts";
import { doNotRepairKey } from "../api/well-known.ts";
import type { MetaView } from "../snapshot/views.ts";
import type { Objection } from "./safety.ts";

type Holder = { readonly kind: "Node" | "NodeClaim" | "NodePool"; readonly view: MetaView | undefined };

/** Who may hold the repair of a node. */
export function ofNode(of: { node?: MetaView; claim: MetaView | undefined; pool: MetaView | undefined }): Holder[] {
  return [
    { kind: "Node", view: of.node },
    { kind: "NodeClaim", view: of.claim },
    { kind: "NodePool", view: of.pool },
  ];
}

/** Of several the one that lasts longest. */
export function repairHold(holders: readonly Holder[], now: Instant): Objection | undefined {
  return holders
    .flatMap(holder => objectionOf(holder, now) ?? [])
    .reduce<Objection | undefined>(
      (longest, one) => (longest && lasts(longest) >= lasts(one) ? longest : one),
      undefined,
    );
}

function objectionOf({ kind, view }: Holder, now: Instant): Objection | undefined {
  const written = view?.annotations[doNotRepairKey];
  if (view === undefined || written === undefined || written === "false") return undefined;
  const who = `${kind} ${view.name}`;
  const held = { code: "do-not-repair", liftedBy: `taking ${doNotRepairKey} off ${who}` };
  if (written === "true") return { ...held, message: `${who} says ${doNotRepairKey}.` };
  const until = parseTime(written);
  if (!until.ok) {
    const message = `${who} says ${doNotRepairKey}, and until when cannot be read: ${until.error}, or true.`;
    return { ...held, message };
  }
  if (until.value <= now) return undefined;
  return { ...held, message: `${who} says ${doNotRepairKey} until ${formatTime(until.value)}.`, until: until.value };
}

function lasts({ until }: Objection): Instant {
  return until ?? Number.POSITIVE_INFINITY;
}
