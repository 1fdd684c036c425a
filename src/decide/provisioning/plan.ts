// From the answer of packing to a plan: who goes where, which claims are to be made, and why some can go nowhere.

import type { InstanceType } from "../../api/instance-type.ts";
import { instanceTypeKey } from "../../api/node.ts";
import type { NodeRequirement } from "../../api/node-selector.ts";
import type { Requirement } from "../../api/node-template.ts";
import type { Pod } from "../../api/pod.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import { type Placement, type Plan, type PlannedClaim, poolVersion } from "../../snapshot/placement.ts";
import { claimFor, claimNames } from "../claim-manifest.ts";
import type { Answer, NewNode } from "../packing/answer.ts";
import type { Effort } from "../packing/effort.ts";
import { type Reason, reasonText, shortForm } from "../packing/reasons.ts";
import { largest } from "./limits.ts";
import type { Held, OfferedPool, Offers } from "./offers.ts";

/** As upstream: more types make a claim large and a launch no better. */
const typesMax = 600;

type Asked = { readonly offers: Offers; readonly now: Instant; readonly isTaken: (name: string) => boolean };

export function* planOf(
  { placements, newNodes, unplaced }: Answer,
  { offers, now, isTaken }: Asked,
  effort: Effort,
): Generator<void, Plan> {
  const taken = new Set<string>();
  const claims: PlannedClaim[] = [];
  for (const node of newNodes) {
    const offered = offers.offeredByName.get(node.pool);
    if (offered === undefined) throw new Error(`Pool ${node.pool} was not among those asked about.`);
    const claim = plannedClaim(node, offered, { now, isTaken: name => taken.has(name) || isTaken(name) });
    taken.add(claim.name);
    claims.push(claim);
    effort.work += 40;
    yield;
  }
  const found = new Map<string, Placement>();
  for (const { pod, target } of placements) {
    if (target.kind === "existing") found.set(uidOf(pod), { on: "node", name: target.node, at: now });
    else {
      const name = target.kind === "upcoming" ? target.claim : (claims[target.index]?.name ?? "");
      found.set(uidOf(pod), { on: "claim", name, at: now });
    }
  }
  for (const { pod, reason } of unplaced) found.set(uidOf(pod), nowhere(reason, offers.held));
  const { lookAgainAt } = offers;
  return { at: now, placements: found, claims, ...(lookAgainAt === undefined ? {} : { lookAgainAt }) };
}

/** Beside what packing was asked about: the pools that it was not. */
function nowhere(reason: Reason, held: readonly Held[]): Placement {
  const branches = held.map(({ pool, code, until }) => ({
    what: `pool ${pool}`,
    branches: [{ what: until === undefined ? code : `${code} until ${formatTime(until)}` }],
  }));
  const whole = { ...reason, branches: [...(reason.branches ?? []), ...branches] };
  return { on: "nothing", short: shortForm(whole), tree: reasonText(whole) };
}

type Naming = { readonly now: Instant; readonly isTaken: (name: string) => boolean };

export function plannedClaim(
  node: NewNode,
  { view, nodeClass, types, limits }: OfferedPool,
  naming: Naming,
): PlannedClaim {
  const pods = node.pods.map(uidOf);
  // By whom it is for, not by when: if a leader dies and its last request is carried out after all, whoever comes next
  // asks for the same claim and makes no second.
  const [name = view.name] = claimNames(view, { count: 1, salt: pods[0] ?? "", isTaken: naming.isTaken });
  const manifest = claimFor(view, name, nodeClass);
  const named = node.instanceTypes.slice(0, typesMax);
  const spec = {
    ...(manifest["spec"] as object),
    requirements: requirementsOf(
      node,
      { labels: manifest.metadata.labels ?? {}, ofPool: view.effective.template },
      named,
    ),
    resources: { requests: node.requests },
  };
  const become = types.filter((type: InstanceType) => named.includes(type.name));
  return {
    name,
    pool: view.name,
    poolVersion: poolVersion(view),
    manifest: { ...manifest, spec },
    pods,
    capacity: limits === undefined ? {} : largest(become, Object.keys(limits)),
    at: naming.now,
  };
}

type Written = {
  readonly labels: Readonly<Record<string, string>>;
  readonly ofPool: { readonly requirements: readonly Requirement[] };
};

/** What its labels say anyway is left out; what the pool asks a wide choice of stays so. */
function requirementsOf(
  { requirements }: NewNode,
  { labels, ofPool }: Written,
  types: readonly string[],
): readonly Requirement[] {
  const own = new Set([...Object.keys(labels), instanceTypeKey]);
  const written = (requirement: NodeRequirement): Requirement => {
    const { minValues } =
      ofPool.requirements.find(({ key, minValues: least }) => key === requirement.key && least) ?? {};
    return { ...requirement, ...(minValues === undefined ? {} : { minValues }) };
  };
  const named: NodeRequirement = { key: instanceTypeKey, operator: "In", values: [...types] };
  return [...requirements.filter(({ key }) => !own.has(key)), named].map(written);
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}
