// The reboot of an action's instance: asked for at most once for each action. Whether the machine has gone down already
// is told by the node's boot id, and by the provider, who knows the action by its uid.

import type { Command, Outcome } from "../decide/decision.ts";
import { isRecovered } from "../decide/reboot.ts";
import { projectNode } from "../snapshot/project-node.ts";
import { readAction, writeProgress } from "./execute-action.ts";
import { sawInstance } from "./execute-instance.ts";
import { alreadySo, assertSame, done, type Execution } from "./execution.ts";
import { outcomeOfProvider, Stale } from "./outcome.ts";
import { keyOf } from "./patch.ts";
import { nodes } from "./resources.ts";

export async function rebootInstance(
  { action: target, node, providerID, bootID }: Extract<Command, { kind: "reboot-instance" }>,
  execution: Execution,
): Promise<Outcome> {
  const action = await readAction(target, execution);
  const { metadata, status = {} } = action;
  const { phase, steps = [] } = status;
  if (phase !== "Running") throw new Stale(`NodeAction ${target.name} does not run.`);
  const live = assertSame(await execution.api.get(nodes, keyOf(node)), node);
  execution.picture.answered("node", live);
  const view = projectNode(live, undefined);
  if (view.bootID !== bootID) return alreadySo;
  // It may have waited long for this lane, or the provider: by a node that is well the rule ends it.
  if (isRecovered(action, view)) throw new Stale(`Node ${node.name} has recovered.`);
  const answer = await execution.provider.reboot(providerID, target.uid);
  if (typeof answer === "object") return outcomeOfProvider(answer);
  if (answer === "gone") {
    sawInstance(execution, providerID, answer);
    return done;
  }
  const before = steps.filter(({ name }) => name !== "reboot").map(({ name }) => ({ name, isFinished: true }));
  const progress = { steps: [...before, { name: "reboot", isFinished: true }] };
  await writeProgress({ ...metadata, status }, progress, execution);
  return done;
}
