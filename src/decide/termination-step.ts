// The words that the steps of a termination share: what they are told of the claim that goes, and what each comes to.

import type { Instant } from "../api/time.ts";
import type { FailureView } from "../snapshot/picture.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import type { Command, ConditionChange, Context, MetadataChange, Notice } from "./decision.ts";

/** A claim that is being deleted, with all that its end touches. */
export type Departing = {
  readonly claim: ClaimView;
  /** Its own. */
  readonly nodes: readonly NodeView[];
  /** Nodes that have its providerID and are not its own: never touched. */
  readonly strangers: readonly NodeView[];
  /** Those that are drained: none if the claim never registered, for then nothing of ours runs there. */
  readonly drained: readonly NodeView[];
  /** One a node. */
  readonly actions: readonly ActionView[];
  /** When what is left goes by force, as the claim says: not before it is written. Absent: it may take as long as it takes. */
  readonly terminationAt?: Instant;
  /** No node is Ready and the provider says that the instance is gone: there is nothing to be gentle with. */
  readonly isDead: boolean;
  /** Repaired because its kubelets are silent, and they still are: no pod there can be told to stop, nor hold the node. */
  readonly isSilent: boolean;
  /** The provider has been asked to end the instance: there is no way back to the pods. */
  readonly isEnding: boolean;
  /** For journal and events. */
  readonly why: string;
};

/** Why the node is still here. */
export type Wait = {
  /** The refusal's code; the ledger writes it as a reason. */
  readonly code: string;
  readonly message: string;
  readonly until?: Instant;
  /** When something that failed is tried again. Too fleeting for the ledger, which tells `until` only. */
  readonly retryAt?: Instant;
  readonly liftedBy: string;
};

export type StepResult = {
  readonly isDone: boolean;
  readonly commands?: readonly Command[];
  /** Whoever holds it up first comes first. */
  readonly waits?: readonly Wait[];
  readonly notices?: readonly Notice[];
  /** On the claim. */
  readonly condition?: Omit<ConditionChange, "since">;
  readonly metadata?: MetadataChange;
  readonly wakeAt?: Instant | undefined;
};

export type Step = {
  readonly name: "taint" | "drain" | "volumes" | "instance" | "finalize";
  take(departing: Departing, context: Context): StepResult;
};

export const done: StepResult = { isDone: true };

/** What went wrong, in a sentence that fits beside another. */
export function saidOf({ message }: FailureView): string {
  return message === "" ? "no answer came." : message.slice(0, messageMax);
}

// As long as Karpenter lets a provider's message be.
const messageMax = 300;

/** The first instant that is still to come. */
export function nextOf(now: Instant, instants: Iterable<Instant | undefined>): Instant | undefined {
  let next = Number.POSITIVE_INFINITY;
  for (const instant of instants) if (instant !== undefined && instant > now && instant < next) next = instant;
  return Number.isFinite(next) ? next : undefined;
}
