// Whether what a search has found answers what is asked.

import type { Move } from "../../snapshot/moves.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ActionView } from "../../snapshot/views.ts";
import { waitsForReplacement } from "../../snapshot/waiting-action.ts";
import { isTrue } from "../conditions.ts";
import { isOpen } from "../ledger.ts";
import type { Reason } from "./candidate.ts";

/** Consolidation must pay, so that only its own answer will do; another reason is served by any that is about this node alone. */
export function moveFor({ action }: Pick<Reason, "action">, move: Move | undefined): Move | undefined {
  const isOfItsOwn = move?.action === action || (action !== "Consolidation" && move?.nodes.length === 1);
  return isOfItsOwn ? move : undefined;
}

/** Its replacements are there, and no answer stands that knows them. */
export function isJudgedAgain(action: ActionView, picture: Pick<Picture, "claim" | "moveOf">): boolean {
  const { batch, replacements = [], node, claim } = action.spec;
  const isThere = ({ name }: { name: string }) => isTrue(picture.claim(name)?.conditions ?? [], "Initialized");
  if (!isOpen(action) || !waitsForReplacement(action) || action.isProvisional || !replacements.every(isThere))
    return false;
  // Its start is under way.
  if (claim !== undefined && picture.claim(claim.name)?.deletingSince !== undefined) return false;
  const move = picture.moveOf(node.uid);
  return move?.batch !== batch || move?.stuck.length !== 0;
}
