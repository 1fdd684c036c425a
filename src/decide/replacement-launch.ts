// Makes the claims that actions wait for: once all nodes of a batch are in the ledger, within the limits of the claims'
// pools, each under the name that was chosen with the plan. Over all that wait at once, so that limits are spent once.

import { replacementForKey } from "../api/well-known.ts";
import type { PlannedClaim } from "../snapshot/placement.ts";
import type { ActionView, PoolView } from "../snapshot/views.ts";
import { waitsForReplacement } from "../snapshot/waiting-action.ts";
import { type Command, type Context, type Decision, nothing, type Refusal, type Rule, together } from "./decision.ts";
import { launchHold, refusalOf } from "./launch.ts";
import { servedClass } from "./node-class.ts";
import { limitsOf, passedBy, usageOf, used } from "./provisioning/limits.ts";
import { isOpen } from "./ledger.ts";
import { isComplete, isLaunched, plannedFor } from "./replacement.ts";
import { type Objection, policyHold } from "./safety.ts";

export const replacementLaunch: Rule = {
  name: "replacement-launch",
  controller: "disruption",
  kind: "cluster",
  decide: (_, context) => decideLaunches(context),
};

type Wanted = { readonly planned: PlannedClaim; readonly action: ActionView };

function decideLaunches(context: Context): Decision {
  if (context.picture.staleness !== undefined) return nothing;
  const wantedByPool = new Map<string, Map<string, Wanted>>();
  const waits: Decision[] = [];
  for (const wanted of wantedClaims(context)) {
    const { pool, name } = wanted.planned;
    const hold = heldByPolicy(wanted.action, context);
    if (hold !== undefined) {
      waits.push({ ...nothing, wakeAt: hold.until });
      continue;
    }
    const ofPool = wantedByPool.get(pool) ?? new Map<string, Wanted>();
    // All of a batch want the same.
    wantedByPool.set(pool, ofPool.has(name) ? ofPool : ofPool.set(name, wanted));
  }
  return together([
    ...waits,
    ...[...wantedByPool].map(([pool, wanted]) => launchIn(pool, [...wanted.values()], context)),
  ]);
}

/** In a freeze, or by a clock that nobody can believe, nothing is made for a plan, which says so itself. */
function heldByPolicy({ spec }: ActionView, context: Context): Objection | undefined {
  const batch = context.picture.actionsOfBatch(spec.batch ?? "").filter(isOpen);
  return batch.flatMap(one => policyHold(one.spec, context) ?? [])[0];
}

function* wantedClaims({ picture, epoch }: Context): Iterable<Wanted> {
  for (const action of picture.openActions()) {
    if (!waitsForReplacement(action) || isLaunched(action) || action.spec.epoch !== epoch) continue;
    const move = picture.moveOf(action.spec.node.uid);
    if (move === undefined || !isComplete(move, picture)) continue;
    for (const planned of plannedFor(action, picture)) {
      if (picture.claim(planned.name) === undefined) yield { planned, action };
    }
  }
}

function launchIn(name: string, wanted: readonly Wanted[], { picture, now }: Context): Decision {
  const pool = picture.pool(name);
  const nodeClass = pool && servedClass(pool.effective.template.nodeClassRef, picture.provider);
  if (pool === undefined || nodeClass === undefined) return nothing;
  const hold = launchHold({ pool, nodeClass, provider: picture.provider }, now);
  if (hold !== undefined) {
    return { ...nothing, refusals: wanted.map(one => refusalOf(subjectOf(one), hold)), wakeAt: hold.until };
  }
  const limits = limitsOf(pool);
  if (limits === undefined) return { ...nothing, commands: wanted.map(made) };
  const commands: Command[] = [];
  const refusals: Refusal[] = [];
  let usage = usageOf(limits, picture.claimsOfPool(name), picture.provider.instanceTypes(nodeClass));
  for (const one of wanted) {
    const passed = passedBy(one.planned.capacity, { limits, usage });
    if (passed !== undefined) {
      refusals.push(limited(one, pool, passed));
      continue;
    }
    usage = used(usage, one.planned.capacity);
    commands.push(made(one));
  }
  return { ...nothing, commands, refusals };
}

/** The claim says for whom it was made: whoever comes later finds it by that, and knows when it is left over. */
function made({ planned, action }: Wanted): Command {
  const { metadata } = planned.manifest;
  const annotations = { ...metadata.annotations, [replacementForKey]: action.spec.batch ?? "" };
  return {
    kind: "create-claim",
    manifest: { ...planned.manifest, metadata: { ...metadata, annotations } },
    why: `It replaces node ${action.spec.node.name} (NodeAction ${action.name}) before that goes.`,
  };
}

function limited(one: Wanted, { name }: PoolView, limit: string): Refusal {
  return refusalOf(subjectOf(one), {
    code: "limit-reached",
    message: `Node ${one.action.spec.node.name} gets no replacement: pool ${name} would pass limits.${limit}.`,
    liftedBy: `a higher limits.${limit} of pool ${name}, or the end of some of its nodes`,
  });
}

function subjectOf({ action }: Wanted): `action/${string}` {
  return `action/${action.name}`;
}
