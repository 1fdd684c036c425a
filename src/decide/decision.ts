// The words of the core: what a rule is asked and what it answers. Plain values, so that the shell, the views and the
// tests share them and none needs the other.

import type { NodeActionSpec, NodeActionStatus } from "../api/node-action.ts";
import type { NodeClaimStatus } from "../api/node-claim.ts";
import type { Manifest, Resource } from "../api/meta.ts";
import type { NodeHealthCheckStatus } from "../api/node-health-check.ts";
import type { NodePoolStatus } from "../api/node-pool.ts";
import type { RebootRemediationStatus } from "../api/remediation.ts";
import type { SafetyPolicyStatus } from "../api/safety-policy.ts";
import type { Taint } from "../api/taint.ts";
import type { Instant, Millis } from "../api/time.ts";
import type { CheckView } from "../snapshot/check-views.ts";
import type { MoveScore } from "../snapshot/moves.ts";
import type { Picture, Subject, SubjectKind } from "../snapshot/picture.ts";
import type { ActionView, ConditionView } from "../snapshot/views.ts";
import type { Remembered } from "./remembered.ts";

/** An object a command is meant for. With another uid it is another object, and the command does nothing. */
export type Target = { readonly name: string; readonly uid: string; readonly namespace?: string };
type PodTarget = Target & { readonly namespace: string };

/** Values to set; null takes a key away. Finalizers are added or taken away one by one. */
export type MetadataChange = {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly addFinalizers?: readonly string[];
  readonly removeFinalizers?: readonly string[];
};

/** A condition to be written; the executor stamps it with its own time where `since` is absent. */
export type ConditionChange = Omit<ConditionView, "since"> & { readonly since?: Instant };
/** `conditions` is the whole list as it shall be (decide/conditions.ts keeps `since` where the status stays). */
export type StatusChange<S> = Partial<Omit<S, "conditions">> & { readonly conditions?: readonly ConditionChange[] };

export type NodeChange = MetadataChange & {
  readonly addTaints?: readonly Taint[];
  /** By key and effect. */
  readonly removeTaints?: readonly Pick<Taint, "key" | "effect">[];
  /** spec.unschedulable as it shall be. */
  readonly isCordoned?: boolean;
  /** The claim that owns the node from now on. */
  readonly owner?: Target;
};

/** How an action stands. Steps and waits are written without times; the executor stamps what is new. */
export type ActionProgress = {
  readonly phase?: NonNullable<NodeActionStatus["phase"]>;
  /** Steps that have begun, in order; the last may be running. */
  readonly steps?: readonly { readonly name: string; readonly isFinished: boolean; readonly message?: string }[];
  /** null: it waits for nothing any more. */
  readonly waitingFor?: { readonly reason: string; readonly message: string; readonly until?: Instant } | null;
  /** Of the node as it was read live. */
  readonly bootID?: string;
  readonly outcome?: string;
  readonly error?: string;
};

export type Command =
  | RemediationCommand
  | ({ readonly why: string } & (
      | { readonly kind: "create-claim"; readonly manifest: Manifest & { metadata: { name: string } } }
      /** Metadata first, then status, both only if the claim still has this version. */
      | {
          readonly kind: "update-claim";
          readonly claim: Target;
          readonly resourceVersion: string;
          readonly metadata?: MetadataChange;
          readonly status?: StatusChange<NodeClaimStatus>;
        }
      /** Of a claim on which nothing runs yet; a claim with a node goes by an action. */
      | { readonly kind: "delete-claim"; readonly claim: Target; readonly resourceVersion: string }
      /** Asks the provider, and writes what it answered into the claim. */
      | { readonly kind: "launch-instance"; readonly claim: Target }
      | { readonly kind: "delete-instance"; readonly providerID: string; readonly claim?: Target }
      | { readonly kind: "look-up-instance"; readonly providerID: string }
      /** For an action that runs, once: not if the node says another boot id than `bootID` by now. */
      | {
          readonly kind: "reboot-instance";
          readonly action: Target;
          readonly node: Target;
          readonly providerID: string;
          readonly bootID: string;
        }
      | { readonly kind: "list-instances" }
      /** Beside the turns; what it finds comes into the picture. `askedAt`: when it was due. */
      | { readonly kind: "search"; readonly for: "provisioning" | "disruption"; readonly askedAt: Instant }
      | { readonly kind: "update-node"; readonly node: Target; readonly change: NodeChange }
      | { readonly kind: "delete-node"; readonly node: Target }
      /** Tells the scheduler where a pod that waits shall go. */
      | { readonly kind: "nominate-pod"; readonly pod: PodTarget; readonly nodeName: string }
      /** `hardness`: how hard it is to place elsewhere (pod-hardness.ts). Absent: not at all. */
      | { readonly kind: "evict-pod"; readonly pod: PodTarget; readonly hardness?: number }
      /** By force: gone at `deadline`, or in a second if that has passed; at once where its machine is gone. */
      | {
          readonly kind: "delete-pod";
          readonly pod: PodTarget;
          readonly deadline: Instant;
          readonly isMachineGone?: true;
        }
      | {
          readonly kind: "open-action";
          readonly name: string;
          readonly spec: NodeActionSpec;
          readonly phase: "Pending" | "DryRun";
        }
      | {
          readonly kind: "update-action";
          readonly action: Target;
          readonly resourceVersion: string;
          readonly spec?: Partial<
            Pick<NodeActionSpec, "epoch" | "deadline" | "joined" | "termination" | "replacements">
          >;
          /** Reads node, lease and claim live, as a start does: the last reason joins only if it holds. */
          readonly looksFirst?: true;
          readonly progress?: ActionProgress;
        }
      /** Reads node, lease and claim live, judges once more (decide/actions.ts `stillHolds`), then deletes the claim or notes the boot id. */
      | { readonly kind: "start-action"; readonly action: Target }
      | { readonly kind: "delete-action"; readonly action: Target }
      | {
          readonly kind: "update-pool";
          readonly pool: Target;
          readonly metadata?: MetadataChange;
          readonly status?: StatusChange<NodePoolStatus>;
        }
      | {
          readonly kind: "update-safety-policy";
          readonly policy: Target;
          readonly status: StatusChange<SafetyPolicyStatus>;
        }
    ));
export type CommandKind = Command["kind"];
/** An object of a kind that is known only by its name. */
export type ObjectTarget = Target & { readonly resource: Resource };

/** Taken, taken over once it has run out, or renewed: only over the version that was seen, or where there was none. */
export type LeaseTaking = {
  readonly lease: { readonly name: string; readonly namespace: string };
  /** Owns the lease, so that it goes with the node. */
  readonly node: Target;
  readonly holder: string;
  readonly durationSeconds: number;
  readonly over?: { readonly uid: string; readonly resourceVersion: string };
};

/** What health checks ask for, beside what everybody may. */
export type RemediationCommand = { readonly why: string } & (
  | { readonly kind: "delete-remediation"; readonly remediation: ObjectTarget }
  /**
   * Reads node, lease and action live and judges once more (`stillHolds`; for an action that has not begun, what holds
   * its starts too), then takes the lease and creates the object. One of that name that is there already is as good if
   * check and node are the same: its name says what it is for, so that it is made once.
   */
  | {
      readonly kind: "create-remediation";
      readonly resource: Resource;
      readonly manifest: Manifest & { metadata: { name: string } };
      readonly node: Target;
      readonly action: Target;
      /** Absent: it is held. */
      readonly takes?: LeaseTaking;
    }
  /** Of our own kinds. Metadata first, then status. */
  | {
      readonly kind: "update-remediation";
      readonly remediation: ObjectTarget;
      readonly metadata?: MetadataChange;
      readonly status?: StatusChange<RebootRemediationStatus>;
    }
  /** null takes an annotation away, an empty text is replaced by the time of writing. */
  | {
      readonly kind: "annotate-remediation";
      readonly remediation: ObjectTarget;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  | ({ readonly kind: "take-node-lease" } & LeaseTaking)
  /** With uid and version as preconditions, so that only our own is given back. */
  | {
      readonly kind: "release-node-lease";
      readonly lease: Target & { readonly namespace: string };
      readonly resourceVersion: string;
    }
  /** Conditions and lastUpdateTime are stamped by the executor. */
  | {
      readonly kind: "update-check";
      readonly check: Target;
      readonly status: StatusChange<Omit<NodeHealthCheckStatus, "lastUpdateTime">>;
    }
  /** Both only where nothing of the name is there; the template first. */
  | { readonly kind: "create-default-check"; readonly check: Manifest; readonly template?: Manifest }
  /** Written where it outlives the check: there was a health check once, and none is made by default again. */
  | { readonly kind: "note-default-check" }
);

/** After these something that worked may not; none is sent on a stale picture. */
export const destructiveKinds: ReadonlySet<CommandKind> = new Set<CommandKind>([
  "delete-claim",
  "delete-instance",
  "reboot-instance",
  "delete-node",
  "evict-pod",
  "delete-pod",
  "open-action",
  "start-action",
  "create-remediation",
  "delete-remediation",
]);

/** A "no" or "not yet". */
export type Refusal = {
  readonly subject: Subject;
  /** The health check that it is refused to, where one asks for the subject: others may ask for the same node. */
  readonly check?: string;
  /** A fact in a few words, such as budget-spent. */
  readonly code: string;
  readonly message: string;
  /** What a limit counts, by name. Apart from the sentence: it changes with each end, and is no other "no" by that. */
  readonly counted?: string;
  /** When it ends by itself, where that is known. */
  readonly until?: Instant;
  /** What would end it sooner. */
  readonly liftedBy: string;
};

/** All of it, for a person. */
export function sentenceOf({ message, counted }: Pick<Refusal, "message" | "counted">): string {
  return counted === undefined ? message : `${message} Counted: ${counted}.`;
}

/** For an Event; said once, however often it is decided. */
export type Notice = {
  readonly about: {
    readonly kind: "Node" | "NodeClaim" | "NodePool" | "Pod" | "NodeAction" | "SafetyPolicy" | "NodeHealthCheck";
  } & Target;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
};

/** A reason to take a node away; the arbiter says whether and when. What `NodeActionSpec` needs and the rule knows. */
export type Proposal = Pick<
  NodeActionSpec,
  | "node"
  | "claim"
  | "machine"
  | "action"
  | "method"
  | "termination"
  | "askedBy"
  | "message"
  | "policy"
  | "replacements"
  | "batch"
  | "timeout"
> & {
  /** `seenAt` is stamped when the action is written. */
  readonly evidence: readonly Omit<NodeActionSpec["evidence"][number], "seenAt">[];
  /** Since when it is due: among equals the longest due goes first. */
  readonly dueAt: Instant;
  /** Higher goes first among the same action; default 0. */
  readonly priority?: number;
  /** When what is left on the node goes by force. */
  readonly deadline?: Instant;
  /** The pool's, check's or policy's own wish. */
  readonly dryRun?: boolean;
};

export type Decision = {
  readonly commands: readonly Command[];
  readonly proposals: readonly Proposal[];
  readonly refusals: readonly Refusal[];
  readonly notices: readonly Notice[];
  /** The decision stands until what it read changes, or this instant. */
  readonly wakeAt: Instant | undefined;
};

export const nothing: Decision = { commands: [], proposals: [], refusals: [], notices: [], wakeAt: undefined };

export function isNothing(decision: Decision): boolean {
  if (decision === nothing) return true;
  const { commands, proposals, refusals, notices, wakeAt } = decision;
  return wakeAt === undefined && commands.length + proposals.length + refusals.length + notices.length === 0;
}

/** Several as one: all that they say, and the earliest of their looks. */
export function together(all: readonly Decision[]): Decision {
  const decisions = all.filter(one => !isNothing(one));
  // Mostly one of them has something to say, or none.
  if (decisions.length <= 1) return decisions[0] ?? nothing;
  const wakes = decisions.flatMap(({ wakeAt }) => wakeAt ?? []);
  return {
    commands: decisions.flatMap(({ commands }) => commands),
    proposals: decisions.flatMap(({ proposals }) => proposals),
    refusals: decisions.flatMap(({ refusals }) => refusals),
    notices: decisions.flatMap(({ notices }) => notices),
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
}

/** What was chosen at the start and holds for every turn. */
export type Settings = {
  /** The tag of our instances. */
  readonly cluster: string;
  readonly dryRun: boolean;
  readonly foreignClaims: "ignore" | "repair";
  /** Pods that want a node are looked at together once none has come for so long. Default 1 s. */
  readonly batchIdleMs?: Millis;
  /** And no later than this after the first of them came. Default 10 s. */
  readonly batchMaxMs?: Millis;
  /** Whether spot nodes may be replaced by cheaper spot nodes. Default no, as upstream. */
  readonly spotToSpot?: boolean;
  /** Places are searched for the pods of nodes that are to go: a gentle repair waits for them. Default false. */
  readonly findsPlaces?: boolean;
  /** Repair is among the controllers, so that a node can be left to it. Default true. */
  readonly repairs?: boolean;
  /** Health checks are among the controllers, so that what they have begun is looked after. Default true. */
  readonly checks?: boolean;
  /** Our own remediators are among the controllers, so that somebody serves what is made from their templates. Default true. */
  readonly remediates?: boolean;
  /** Whether remediations start while nobody can tell if the cluster is being upgraded. Default hold. */
  readonly upgradeUnknown?: "hold" | "proceed";
  /** The health check of a cluster that has none. `mark`: the Lease whose being says that there was one. Absent: none. */
  readonly defaultCheck?: {
    readonly isWanted: boolean;
    readonly mark: { readonly name: string; readonly namespace: string };
  };
};

export type Context = {
  readonly picture: Picture;
  readonly now: Instant;
  readonly settings: Settings;
  /** Of our term as leader. */
  readonly epoch: number;
  /** Absent: by somebody who has seen nothing before. */
  readonly remembered?: Remembered;
  /** What holds starts back beyond what the picture shows; of those that are written down and have not begun as well. */
  readonly vetoes?: readonly Veto[];
  /** Those seen together (decide/waiting.ts), once a turn. Absent: each is judged alone. */
  readonly waiting?: Waiting;
  /** Of health checks: whose gate was seen closed, though their status does not say so yet. */
  readonly storms?: { wasClosed(check: CheckView): boolean };
};

/** What holds an action that is written down and has not begun because of others. */
export type Waiting = {
  /** By the budgets and caps of now too many were written down before it. `as`: as it would be asked for now. */
  overBudget(action: ActionView, as: Proposal): Omit<Refusal, "subject"> | undefined;
  /** It goes only together with another, and that is held. */
  heldWith(action: ActionView): Omit<Refusal, "subject"> | undefined;
};

/** Something that remembers more than the picture shows and may object; a person's own delete it is not asked about. */
export type Veto = (proposal: Proposal, context: Context) => Omit<Refusal, "subject"> | undefined;

/** The parts that --controllers can switch off. */
export const controllers = [
  "lifecycle",
  "termination",
  "replicas",
  "garbage",
  "ledger",
  "repair",
  "provisioning",
  "health-checks",
  "remediators",
  "disruption",
] as const;
export type ControllerName = (typeof controllers)[number];

/** One rule judges one subject at a time. */
export type Rule = {
  readonly name: string;
  readonly controller: ControllerName;
  readonly kind: SubjectKind;
  decide(name: string, context: Context): Decision;
};

/** How a command ended. `stale`: the object had moved on; `retry`: not now; `refused`: never so. */
export type Outcome =
  /** `note`: what was done instead. Of a search `tookMs`, how moves for money were weighed, and whether all were answered. */
  | {
      readonly result: "done" | "already-so" | "stale";
      readonly note?: string;
      readonly tookMs?: number;
      readonly isCutShort?: boolean;
      readonly scores?: readonly MoveScore[];
    }
  /** `unknown`: no definite answer came, so it may have been carried out all the same. */
  | {
      readonly result: "retry";
      readonly reason: string;
      readonly message: string;
      readonly afterMs?: number;
      readonly unknown?: true;
    }
  | { readonly result: "refused"; readonly reason: string; readonly message: string };

export type JournalEntry =
  | {
      readonly at: Instant;
      readonly event: "decided";
      readonly rule: string;
      readonly subject: Subject;
      readonly command: Command;
      /** In a dry run: it is not sent. */
      readonly isShown?: true;
    }
  | { readonly at: Instant; readonly event: "ended"; readonly command: Command; readonly outcome: Outcome }
  | { readonly at: Instant; readonly event: "refused" | "lifted"; readonly refusal: Refusal }
  | { readonly at: Instant; readonly event: "noticed"; readonly notice: Notice }
  | { readonly at: Instant; readonly event: "leading" | "following"; readonly epoch: number; readonly message: string };
