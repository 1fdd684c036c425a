// Commands to the provider alone. What it says of an instance is kept in the picture with the time of asking.

import type { Command, Outcome } from "../decide/decision.ts";
import type { InstanceView } from "../snapshot/views.ts";
import { done, type Execution } from "./execution.ts";
import { assertNodeless, assertUnused } from "./live-nodes.ts";
import { outcomeOfProvider } from "./outcome.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export async function deleteInstance(command: Of<"delete-instance">, execution: Execution): Promise<Outcome> {
  const { providerID } = command;
  await assertNoneJoined(command, execution);
  const answer = await execution.provider.delete(providerID);
  if (typeof answer === "object") return outcomeOfProvider(answer);
  sawInstance(execution, providerID, answer);
  return done;
}

/**
 * A node that joined after its claim was deleted is entered in the ledger before its machine goes; of a machine without a
 * claim one that runs there keeps it.
 */
async function assertNoneJoined({ providerID, claim }: Of<"delete-instance">, execution: Execution): Promise<void> {
  const { picture } = execution;
  if (claim === undefined) return assertUnused(providerID, execution);
  const view = claim && picture.claim(claim.name);
  if (view === undefined || view.uid !== claim?.uid || picture.nodesOf(view).length > 0) return;
  if (picture.instance(providerID)?.state !== "terminating") await assertNodeless(view, execution);
}

export async function lookUpInstance(
  { providerID }: Pick<Of<"look-up-instance">, "providerID">,
  { provider, ...execution }: Execution,
): Promise<Outcome> {
  const answer = await provider.get(providerID);
  if (answer === "gone") sawInstance(execution, providerID, "gone");
  else if ("error" in answer) return outcomeOfProvider(answer);
  else sawInstance(execution, providerID, answer.state);
  return done;
}

export async function listInstances({ provider, picture, clock, settings }: Execution): Promise<Outcome> {
  // What is launched while the list is made may be missing from it: it is as old as its beginning.
  const at = clock.now();
  const answer = await provider.list(settings.cluster);
  if ("error" in answer) return outcomeOfProvider(answer);
  picture.setInstanceList({ at, instances: answer });
  return done;
}

export function sawInstance(
  { picture, clock }: Pick<Execution, "picture" | "clock">,
  providerID: string,
  state: InstanceView["state"],
): void {
  const seenAt = clock.now();
  const before = picture.instance(providerID);
  const goneSince = before?.state === "gone" ? (before.goneSince ?? seenAt) : seenAt;
  picture.setInstance({ providerID, state, seenAt, ...(state === "gone" ? { goneSince } : {}) });
}
