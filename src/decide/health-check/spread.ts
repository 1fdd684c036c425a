// What outbreaks and settling have to know of health checks: which nodes are sick by their word, and whose nodes they are.

import type { Picture } from "../../snapshot/picture.ts";
import type { ConditionView, NodeView } from "../../snapshot/views.ts";
import { ownClaimOf } from "../own-node.ts";
import { hasBeenReady } from "../readiness.ts";
import type { Spread } from "../settle.ts";

/** A node that has not been Ready yet only boots. */
export function isSickByCheck(node: NodeView, condition: ConditionView, picture: Picture): boolean {
  const checks = picture.checks.concerning(node.name);
  const isMeant = checks.some(({ pairs }) =>
    pairs.some(({ type, status }) => type === condition.type && status === condition.status),
  );
  if (!isMeant) return false;
  const claim = ownClaimOf(node, picture);
  return claim === undefined || hasBeenReady(claim, node);
}

export function checksOver(node: NodeView, { checks }: Pick<Picture, "checks">): readonly Spread[] {
  return checks.concerning(node.name).map(({ name }) => `NodeHealthCheck/${name}`);
}
