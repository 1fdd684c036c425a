// Commands to the provider alone. What it says of an instance is kept in the picture with the time of asking.

import type { Command, Outcome } from "../decide/decision.ts";
import type { InstanceView } from "../snapshot/views.ts";
import { done, type Execution } from "./execution.ts";
import { outcomeOfProvider } from "./outcome.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export async function deleteInstance(
  { providerID }: Of<"delete-instance">,
  { provider, ...execution }: Execution,
): Promise<Outcome> {
  const answer = await provider.delete(providerID);
  if (typeof answer === "object") return outcomeOfProvider(answer);
  sawInstance(execution, providerID, answer);
  return done;
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
