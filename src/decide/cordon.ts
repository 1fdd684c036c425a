// The cordon that a reboot puts on its node and takes off again. Only what an annotation says is ours is undone: whoever
// had cordoned the node before keeps it so.

import { cordonedByKey } from "../api/well-known.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
import { type Command, type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { isOpen } from "./ledger.ts";

/** Lifts what is left of an action that is over or gone, however it ended. */
export const uncordonRule: Rule = { name: "uncordon", controller: "ledger", kind: "node", decide: decideUncordon };

function decideUncordon(name: string, { picture }: Context): Decision {
  const node = picture.node(name);
  const by = node?.annotations[cordonedByKey];
  if (node === undefined || by === undefined || node.deletingSince !== undefined) return nothing;
  const action = picture.action(by);
  if (action !== undefined && isOpen(action)) return nothing;
  return { ...nothing, commands: [uncordon(node, `NodeAction ${by}, which cordoned node ${name}, is over.`)] };
}

export function isCordonedBy({ annotations }: NodeView, { name }: ActionView): boolean {
  return annotations[cordonedByKey] === name;
}

export function cordon({ name, uid }: NodeView, action: ActionView): Command {
  const change = { isCordoned: true, annotations: { [cordonedByKey]: action.name } };
  const why = `Nothing new is to start on node ${name} while it is rebooted.`;
  return { kind: "update-node", node: { name, uid }, change, why };
}

export function uncordon({ name, uid }: NodeView, why: string): Command {
  const change = { isCordoned: false, annotations: { [cordonedByKey]: null } };
  return { kind: "update-node", node: { name, uid }, change, why };
}
