// How long the annotation karpenter.sh/do-not-disrupt holds a node: on a pod for ever, or for a time from its start; on a
// node or its claim for ever; never longer than the pool bears it. What nobody can read holds like "true", and says so.

import { quoted } from "../api/parsed.ts";
import { formatTime, type Instant, type Millis, parseDuration } from "../api/time.ts";
import { doNotDisruptKey } from "../api/well-known.ts";
import type { ClaimView, NodeView, PodView, PoolView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";

export type Hold = {
  /** Infinity: nobody knows; -Infinity: not at all. */
  readonly until: Instant;
  /** What is wrong with what is written, and what to write. */
  readonly invalid?: string;
};

const none: Hold = { until: Number.NEGATIVE_INFINITY };

export function podHold({ doNotDisrupt: written, startedAt, createdAt }: PodView, maxMs: Millis): Hold {
  if (written === undefined || written === "false") return none;
  const lasting = lastingOf(written);
  // One that has not started has not begun to use up its own time, but has that of the pool.
  const ownEnd = startedAt === undefined ? Number.POSITIVE_INFINITY : startedAt + (lasting ?? Number.POSITIVE_INFINITY);
  const until = Math.min(ownEnd, (startedAt ?? createdAt) + maxMs);
  return lasting === undefined
    ? { until, invalid: unreadable(written, '"true" or a duration such as 30m') }
    : { until };
}

/** Undefined: nobody can read it. */
function lastingOf(written: string): Millis | undefined {
  if (written === "true" || isEndless(written)) return Number.POSITIVE_INFINITY;
  const lasting = parseDuration(written);
  return lasting.ok && lasting.value >= 0 ? lasting.value : undefined;
}

// A duration in form, but longer than one can be: whoever writes 292 years or more means for ever, not nothing.
function isEndless(written: string): boolean {
  if (parseDuration(written).ok) return false;
  const unit = parseDuration(written.replace(/\d+/g, "1"));
  return unit.ok && unit.value > 0;
}

export function podHoldSentence({ namespace, name, doNotDisrupt }: PodView, { until, invalid }: Hold): string {
  const bound = Number.isFinite(until) ? ` until ${formatTime(until)}` : "";
  const said = `Pod ${namespace}/${name} has ${doNotDisruptKey}=${doNotDisrupt} and holds its node${bound}.`;
  return invalid === undefined ? said : `${said} ${invalid}`;
}

/** The claim's condition that says since when, for whoever bears it for a time only. */
export const heldCondition = "DoNotDisrupt";

type Held = { readonly node: NodeView; readonly claim: ClaimView; readonly pool: PoolView };

/** Of the node itself, or of its claim. */
type NodeHold = Hold & { readonly who: string; readonly sentence: string };

/** Its time counts from when the claim has said so. Undefined: neither asks for it. */
export function nodeHold({ node, claim, pool }: Held): NodeHold | undefined {
  const [who, written] =
    asked(node) === undefined ? [`NodeClaim ${claim.name}`, asked(claim)] : [`Node ${node.name}`, asked(node)];
  if (written === undefined) return undefined;
  const invalid = written === "true" ? undefined : unreadable(written, '"true"');
  const since = conditionOf(claim.conditions, heldCondition)?.since ?? Number.POSITIVE_INFINITY;
  const until = since + longestHold(pool);
  const bound = Number.isFinite(until) ? `, which holds until ${formatTime(until)}` : "";
  const said = `${who} has ${doNotDisruptKey}=${written}${bound}.`;
  if (invalid === undefined) return { until, who, sentence: said };
  return { until, who, invalid, sentence: `${said} ${invalid}` };
}

function asked({ annotations }: Pick<NodeView, "annotations">): string | undefined {
  const written = annotations[doNotDisruptKey];
  return written === "false" ? undefined : written;
}

/** The longest that a pool bears it; one that cannot be read bounds nothing. */
export function longestHold(pool: PoolView | undefined): Millis {
  const written = pool?.effective.disruption.maxDoNotDisrupt;
  const max = written === undefined ? undefined : parseDuration(written);
  return max?.ok ? max.value : Number.POSITIVE_INFINITY;
}

function unreadable(written: string, right: string): string {
  return `${doNotDisruptKey}: ${quoted(written)} cannot be read and holds like "true": write ${right}.`;
}
