// A pool with `replicas` is kept at its count: what is missing is created, what is too much goes, the least useful
// first. What has a node is only proposed; whether and when it goes is the arbiter's to say.

import { parseQuantity, wholeValue } from "../api/quantity.ts";
import type { NodeClassRef, PoolTotals } from "../snapshot/picture.ts";
import type { ClaimView, PoolView } from "../snapshot/views.ts";
import { claimFor, claimNames } from "./claim-manifest.ts";
import { type Context, type Decision, nothing, type Refusal, type Rule } from "./decision.ts";
import { type Hold, launchHold, refusalOf } from "./launch.ts";
import { isBackoffWritten, lastLaunch } from "./launch-record.ts";
import { servedClass } from "./node-class.ts";
import { policyHold } from "./safety.ts";
import { scaleDown, surplusOf } from "./scale-down.ts";

export const replicas: Rule = {
  name: "replicas",
  controller: "replicas",
  kind: "pool",
  decide(name, context) {
    const pool = context.picture.pool(name);
    const wanted = pool?.effective.replicas;
    if (pool === undefined || wanted === undefined || pool.deletingSince !== undefined) return nothing;
    const nodeClass = servedClass(pool.effective.template.nodeClassRef, context.picture.provider);
    return nodeClass === undefined ? nothing : keep(pool, { wanted, nodeClass }, context);
  },
};

/** So many are asked for at once, however many are missing: when those are seen to be made, the next are. */
const createdAtOnceMax = 50;

/** What keeps the pool from its count, for its condition. Undefined: nothing does, or the pool has no `replicas`. */
export function scalingHold(pool: PoolView, context: Context): Refusal | undefined {
  const { staying } = context.picture.totalsOfPool(pool.name);
  if (staying === pool.effective.replicas) return undefined;
  return replicas.decide(pool.name, context).refusals[0];
}

type Wish = { readonly wanted: number; readonly nodeClass: NodeClassRef };

function keep(pool: PoolView, { wanted, nodeClass }: Wish, context: Context): Decision {
  const totals = context.picture.totalsOfPool(pool.name);
  if (totals.staying === wanted) return nothing;
  if (totals.staying < wanted) return create(pool, { missing: wanted - totals.staying, nodeClass, totals }, context);
  const staying = [...context.picture.claimsOfPool(pool.name)].filter(
    ({ deletingSince }) => deletingSince === undefined,
  );
  const surplus = surplusOf(pool, context.picture);
  return surplus > 0 ? release(pool, { surplus, staying }, context) : nothing;
}

type Shortage = { readonly missing: number; readonly nodeClass: NodeClassRef; readonly totals: PoolTotals };

function create(pool: PoolView, { missing, nodeClass, totals }: Shortage, { picture, now }: Context): Decision {
  const { provider } = picture;
  const hold: Omit<Hold, "reason"> | undefined =
    launchHold({ pool, nodeClass, provider }, now) ??
    unrecorded(pool, totals) ??
    dryRun(pool, `create ${missing} claims`);
  if (hold !== undefined) return { ...nothing, refusals: [refusalOf(`pool/${pool.name}`, hold)], wakeAt: hold.until };
  const room = Math.max(0, Math.min(missing, limitOf(pool) - totals.claims));
  const names = claimNames(pool, {
    count: Math.min(room, createdAtOnceMax),
    salt: lastLaunch(pool),
    isTaken: name => picture.claim(name) !== undefined,
  });
  // They differ in nothing but their names.
  const like = claimFor(pool, "", nodeClass);
  const why = `Pool ${pool.name} wants ${pool.effective.replicas} nodes (spec.replicas) and lacks ${missing}.`;
  return {
    ...nothing,
    commands: names.map(name => ({
      kind: "create-claim",
      manifest: { ...like, metadata: { ...like.metadata, name } },
      why,
    })),
    refusals: room < missing ? [refusalOf(`pool/${pool.name}`, limited(pool, missing - room, totals))] : [],
  };
}

/** A claim that is made before the backoff is written waits for its launch while its readinessTTL runs. */
function unrecorded(pool: PoolView, { launches }: PoolTotals): Omit<Hold, "reason"> | undefined {
  const latest = launches.at(-1);
  if (latest === undefined || latest.isGood || isBackoffWritten(pool, latest)) return undefined;
  const message = `A launch for pool ${pool.name} failed, and for how long the next are held back is not written yet.`;
  return { code: "launch-not-recorded", message, liftedBy: `the write of pool ${pool.name}` };
}

/** Machines on their way out count: a limit is about what there is. One that cannot be read allows none. */
function limitOf({ effective }: PoolView): number {
  const written = effective.limits["nodes"];
  if (written === undefined) return Number.POSITIVE_INFINITY;
  const limit = parseQuantity(String(written));
  return limit.ok ? Number(wholeValue(limit.value)) : 0;
}

function limited(pool: PoolView, lacking: number, { claims, staying }: PoolTotals): Omit<Hold, "reason"> {
  const going = claims - staying;
  const here = `${claims} are here${going > 0 ? `, ${going} of them going away` : ""}`;
  return {
    code: "node-limit",
    message: `Pool ${pool.name} lacks ${lacking} of its ${pool.effective.replicas} nodes: its limit is ${pool.effective.limits["nodes"]}, and ${here}.`,
    liftedBy: `a higher limits.nodes of pool ${pool.name}${going > 0 ? ", or the end of those that go" : ""}`,
  };
}

function dryRun({ name, effective }: PoolView, would: string): Omit<Hold, "reason"> | undefined {
  if (!effective.dryRun) return undefined;
  const message = `Pool ${name} is in dry run: it would ${would}.`;
  return { code: "dry-run", message, liftedBy: `taking spec.dryRun out of pool ${name}` };
}

type Surplus = { readonly surplus: number; readonly staying: readonly ClaimView[] };

function release(pool: PoolView, { surplus, staying }: Surplus, context: Context): Decision {
  const { commands, proposals, doubtful } = scaleDown(pool, { surplus, staying }, context.picture);
  const lacking = surplus - commands.length - proposals.length;
  const held = policyHold({ action: "ScaleDown" }, context);
  const hold: Omit<Hold, "reason"> | undefined =
    (commands.length > 0 ? dryRun(pool, `delete ${commands.length} claims without a node`) : undefined) ??
    (held && { ...held, message: `Pool ${pool.name} keeps ${surplus} too many: ${held.message}` });
  return {
    ...nothing,
    commands: hold ? [] : commands,
    proposals,
    refusals: [
      ...(lacking > 0 ? [inDoubt(pool, lacking, doubtful)] : []),
      ...(hold ? [refusalOf(`pool/${pool.name}`, hold)] : []),
    ],
    wakeAt: hold?.until,
  };
}

function inDoubt(pool: PoolView, lacking: number, doubtful: readonly ClaimView[]): Refusal {
  const names = doubtful.map(({ name }) => name).join(", ");
  return refusalOf(`pool/${pool.name}`, {
    code: "surplus-in-doubt",
    message: `Pool ${pool.name} has ${lacking} too many, but of these claims nobody can tell which node they have: ${names}.`,
    liftedBy: "each of them having one node, or a person deleting one",
  });
}
