// Whether a node still is what its pool and its provider would make today. What nobody can tell is no drift: a class
// without types, a type that no label names.

import type { InstanceType, Offering } from "../../api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, nodePoolKey } from "../../api/node.ts";
import { hourMs, type Instant, type Millis } from "../../api/time.ts";
import type { Labels } from "../../api/selector.ts";
import type { NodeClassRef } from "../../snapshot/picture.ts";
import type { ClaimView, PoolView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { setsOfRequirements } from "../packing/requirements.ts";
import { allows, overlaps } from "../packing/value-set.ts";
import { hashOf, templateHash } from "./drift-hash.ts";

export type Drift = { readonly reason: string; readonly message: string };

/** `lookAt`: when what is not held against it yet will be. */
export type DriftJudgement = { readonly drift?: Drift; readonly lookAt?: Instant };

/** A type may be missing from a list for a while; a claim as young as this was launched from one that had it. */
const settledMs: Millis = hourMs;

type Made = { readonly claim: ClaimView; readonly pool: PoolView; readonly nodeClass: NodeClassRef };

/** `nodeClass`: the pool's, or the provider's default. */
export function judgeDrift(made: Made, { picture, now }: Pick<Context, "picture" | "now">): DriftJudgement {
  const { claim } = made;
  if (claim.providerID === undefined) return {};
  const drift = templateDrift(made) ?? requirementsDrift(made);
  if (drift !== undefined) return { drift };
  const { provider } = picture;
  const unoffered = typeDrift(claim, provider.instanceTypes(made.nodeClass));
  const settledAt = claim.createdAt + settledMs;
  if (unoffered !== undefined && settledAt <= now) return { drift: unoffered };
  const byProvider = provider.driftOf?.(claim);
  if (byProvider !== undefined) return { drift: byProvider };
  return unoffered === undefined ? {} : { lookAt: settledAt };
}

function templateDrift({ claim, pool, nodeClass }: Made): Drift | undefined {
  const stamped = hashOf(claim);
  const present = templateHash(pool, nodeClass);
  if (stamped === undefined || stamped === present) return undefined;
  const message = `NodePool ${pool.name} has another template than claim ${claim.name} was made from (hash ${present}, not ${stamped}).`;
  return { reason: "NodePoolDrifted", message };
}

/** By the claim's labels; where it has none, by what it was made to have. */
function requirementsDrift({ claim, pool }: Made): Drift | undefined {
  const made = setsOfRequirements(claim.spec.requirements);
  for (const [key, wanted] of setsOfRequirements(pool.effective.template.requirements)) {
    const label = claim.labels[key];
    const had = label === undefined ? made.get(key) : undefined;
    if (key === nodePoolKey || (had ? overlaps(wanted, had) : allows(wanted, label))) continue;
    const is = label === undefined ? "nothing" : label;
    const message = `NodePool ${pool.name} has another requirement on ${key} now than claim ${claim.name} meets with ${is}.`;
    return { reason: "RequirementsDrifted", message };
  }
  return undefined;
}

function typeDrift({ name, labels }: ClaimView, types: readonly InstanceType[]): Drift | undefined {
  const called = labels[instanceTypeKey];
  if (called === undefined || types.length === 0) return undefined;
  const type = types.find(one => one.name === called);
  const reason = "InstanceTypeNotFound";
  if (type === undefined) return { reason, message: `Instance type ${called} of claim ${name} is offered no more.` };
  if (type.offerings.some(offering => covers(offering, labels))) return undefined;
  return { reason, message: `Instance type ${called} is offered no more where and how claim ${name} has it.` };
}

// Whether it can be had just now is another matter. A reservation that has ended leaves the machine on demand.
function covers({ requirements }: Offering, labels: Labels): boolean {
  for (const [key, set] of setsOf(requirements)) {
    const label = labels[key];
    const isMet = label === undefined || allows(set, label);
    const isFallback = key === capacityTypeKey && label === "reserved" && allows(set, "on-demand");
    if (!isMet && !isFallback) return false;
  }
  return true;
}

const setsByRequirements = new WeakMap<Offering["requirements"], ReturnType<typeof setsOfRequirements>>();

/** Read once: the catalogue stays, and every claim is asked again and again whether it is still offered. */
function setsOf(requirements: Offering["requirements"]): ReturnType<typeof setsOfRequirements> {
  let sets = setsByRequirements.get(requirements);
  if (sets === undefined) {
    sets = setsOfRequirements(requirements);
    setsByRequirements.set(requirements, sets);
  }
  return sets;
}
