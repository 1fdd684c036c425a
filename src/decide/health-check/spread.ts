// What outbreaks and settling have to know of health checks: which nodes are sick by their word, and whose nodes they are.

import type { CheckView } from "../../snapshot/check-views.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ConditionView, NodeView } from "../../snapshot/views.ts";
import { ownClaimOf } from "../own-node.ts";
import { hasBeenReady } from "../readiness.ts";
import type { Spread } from "../settle.ts";

/** Those that concern the node: looked up once for all of its conditions. */
type Concerning = { readonly checks: readonly CheckView[]; readonly picture: Picture };

/** A node that has not been Ready yet only boots. */
export function isSickByCheck(node: NodeView, condition: ConditionView, { checks, picture }: Concerning): boolean {
  const isMeant = checks.some(({ pairs }) =>
    pairs.some(({ type, status }) => type === condition.type && status === condition.status),
  );
  if (!isMeant) return false;
  const claim = ownClaimOf(node, picture);
  return claim === undefined || hasBeenReady(claim, node);
}

export function spreadOf({ name }: CheckView): Spread {
  return `NodeHealthCheck/${name}`;
}
