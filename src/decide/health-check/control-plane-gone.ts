// The node of the control plane that a remediation took away last, as long as no Ready one has followed it. It is in no
// picture any more, and another that goes now may be the one that etcd still had its majority by.

import type { Instant } from "../../api/time.ts";
import { hasTakenNode } from "../../snapshot/ended-remediations.ts";
import type { ActionView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { finishedAt } from "../ledger.ts";
import { decidedAt, followedWithinMs, withoutSuccessor } from "./gate.ts";
import { isOfControlPlane } from "./manifest.ts";

/** Each remediation of such a node is granted under this cap, and so its entry says whose node that was. */
export const controlPlaneCap = "one node of the control plane at a time";

type Gone = { readonly name: string; readonly until: Instant };

/** Not those before it: it was let go only once they had been followed, perhaps by itself. */
export function controlPlaneGone(context: Context): Gone | undefined {
  const { picture, now } = context;
  const taken = [...picture.finishedSince(now - followedWithinMs)].filter(action => {
    const { uid } = action.spec.node;
    return picture.nodeByUid(uid) === undefined && hasTakenNode(action) && wasOfControlPlane(uid, context);
  });
  const [last] = taken.sort((a, b) => decidedAt(b) - decidedAt(a));
  if (last === undefined) return undefined;
  // Whether another is meant to come, nobody can ask.
  const until = untilOf(last);
  const nodes = [...picture.nodes()].filter(isOfControlPlane);
  const isFollowed = withoutSuccessor([last], nodes, context).length === 0;
  return isFollowed || until <= now ? undefined : { name: last.spec.node.name, until };
}

/** By any of its entries: what our own remediators do for a check is granted under that of the check. */
export function wasOfControlPlane(nodeUid: string, { picture }: Pick<Context, "picture">): boolean {
  return picture
    .actionsOn(nodeUid)
    .some(({ spec: { caps = [] } }) => caps.some(({ kind, path }) => kind === "Default" && path === controlPlaneCap));
}

function untilOf(action: ActionView): Instant {
  return (finishedAt(action) ?? action.createdAt) + followedWithinMs;
}
