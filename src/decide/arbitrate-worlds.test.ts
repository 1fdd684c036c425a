// Random clusters, policies and wishes, over hours: what the arbiter promises whatever comes. The counting here is plain
// and knows nothing of the limits that it checks.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aClaim, anAction, aNode, aSafetyPolicy, at, aWorld } from "../../test/builders.ts";
import { parseAmount, roundedUp } from "../api/amount.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import { formatTime } from "../api/time.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { SafetyView } from "../snapshot/views.ts";
import { arbitrate, type Candidate } from "./arbitrate.ts";
import type { Command, Context, Decision, Proposal } from "./decision.ts";
import { classOf, precedence } from "./precedence.ts";

type Wish = {
  readonly node: number;
  readonly action: Proposal["action"];
  readonly overdue: number;
  readonly priority: number;
  readonly dryRun: boolean;
  readonly forceful: boolean;
};
/** How many of the oldest open actions come to their end, and what is then asked for. */
type Round = {
  readonly after: number;
  readonly ends: number;
  readonly wishes: readonly Wish[];
  readonly deleted: number;
};

const amount = fc.constantFrom<string | number>(0, 1, 2, 3, "10%", "34%", "100%");
const cap = fc.record(
  {
    cluster: amount,
    zone: amount,
    perWindow: fc.record({ nodes: amount, duration: fc.constantFrom("1m", "30m", "1h") }),
  },
  { requiredKeys: [] },
);
const policy: fc.Arbitrary<SafetyPolicySpec> = fc.record({
  caps: fc.record({ repair: cap, disruption: cap, all: cap }, { requiredKeys: [] }),
});
const wish: fc.Arbitrary<Wish> = fc.record({
  node: fc.nat(8),
  action: fc.constantFrom(...precedence.filter(action => action !== "Deletion")),
  overdue: fc.integer({ min: -1, max: 3_600_000 }),
  priority: fc.constantFrom(0, 0, 50, 100),
  dryRun: fc.nat(3).map(chance => chance === 0),
  forceful: fc.boolean(),
});
const round: fc.Arbitrary<Round> = fc.record({
  after: fc.integer({ min: 1, max: 1_500_000 }),
  ends: fc.nat(3),
  wishes: fc.array(wish, { maxLength: 12 }),
  deleted: fc.nat(20),
});
const world = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  policy,
  rounds: fc.array(round, { minLength: 1, maxLength: 6 }),
});

/** What has gone or is going, kept beside the picture. */
type Entry = { readonly uid: string; readonly action: Proposal["action"]; readonly zone: string; goneAt?: number };

class Cluster {
  readonly picture: ClusterPicture;
  readonly entries: Entry[] = [];
  readonly #open: { name: string; entry: Entry }[] = [];
  readonly #safety: SafetyView;
  readonly #generations: number[];
  now = at("10h");

  constructor(size: number, spec: SafetyPolicySpec) {
    this.#safety = aSafetyPolicy(spec);
    this.#generations = Array.from({ length: size }, () => 0);
    this.picture = aWorld({ safety: this.#safety });
    for (let node = 0; node < size; node++) this.#join(node);
  }

  get size(): number {
    return this.#generations.length;
  }

  get context(): Context {
    const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
    return { picture: this.picture, now: this.now, settings, epoch: 1 };
  }

  name(node: number): string {
    const place = node % this.size;
    return `n${place}-${this.#generations[place]}`;
  }

  zone = (name: string): string => `z${Number(name.slice(1, name.indexOf("-"))) % 2}`;

  #join(node: number): void {
    const name = this.name(node);
    this.picture.put("claim", aClaim(name, { pool: "web", zone: this.zone(name) }));
    this.picture.put("node", aNode(name));
  }

  delete(node: number): void {
    const claim = this.picture.claim(this.name(node));
    if (claim !== undefined) this.picture.put("claim", { ...claim, deletingSince: this.now });
  }

  /** The node of the oldest open action goes, and another one comes in its place. */
  end(): void {
    const oldest = this.#open.shift();
    if (oldest === undefined) return;
    const { name, entry } = oldest;
    entry.goneAt = this.now;
    const action = this.picture.action(name);
    const claim = action?.spec.claim && this.picture.claim(action.spec.claim.name);
    const node = this.picture.nodeByUid(entry.uid);
    if (action === undefined || claim === undefined || node === undefined) throw new Error(`${name} is about nothing`);
    this.picture.put("action", { ...action, status: { phase: "Done", finishedAt: formatTime(this.now) } });
    this.picture.remove("claim", claim);
    this.picture.remove("node", node);
    const place = Number(node.name.slice(1, node.name.indexOf("-")));
    this.#generations[place] = (this.#generations[place] ?? 0) + 1;
    this.#join(place);
  }

  apply(commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.kind === "open-action") {
        const { name, spec, phase } = command;
        if (this.picture.action(name) !== undefined) throw new Error(`${name} is opened twice`);
        this.picture.put("action", { ...anAction(name, { phase }), createdAt: this.now, spec });
        if (phase === "DryRun") continue;
        const entry = { uid: spec.node.uid, action: spec.action, zone: this.zone(spec.node.name) };
        this.entries.push(entry);
        this.#open.push({ name, entry });
      } else if (command.kind === "update-action") {
        const action = this.picture.action(command.action.name);
        if (action === undefined) throw new Error(`${command.action.name} is not there`);
        const phase = command.progress?.phase;
        const status = { ...action.status, ...(phase ? { phase, finishedAt: formatTime(this.now) } : {}) };
        this.picture.put("action", { ...action, spec: { ...action.spec, ...command.spec }, status });
      } else throw new Error(`the arbiter never sends ${command.kind}`);
    }
  }

  /** Those that a scope of the policy counts now: going, or gone within a span. */
  count(scope: "repair" | "disruption" | "all", { zone, withinMs }: { zone?: string; withinMs?: number }): number {
    const isCounted = ({ action, goneAt, ...entry }: Entry) =>
      (scope === "all" || classOf(action) === scope) &&
      (zone === undefined || entry.zone === zone) &&
      (goneAt === undefined || (withinMs !== undefined && goneAt > this.now - withinMs));
    const uids = new Set(this.entries.filter(isCounted).map(({ uid }) => uid));
    if (scope === "all") {
      for (const { deletingSince, name } of this.picture.claims()) {
        if (deletingSince !== undefined && (zone === undefined || this.zone(name) === zone)) uids.add(`${name}-uid`);
      }
    }
    return uids.size;
  }

  /** Every cap that held this grant is kept now that everything of the pass is counted. */
  checkCaps({ spec: { action, node } }: Extract<Command, { kind: "open-action" }>): void {
    for (const scope of ["repair", "disruption", "all"] as const) {
      if (scope !== "all" && classOf(action) !== scope) continue;
      const stated = this.#safety.policy.caps[scope];
      const zone = this.zone(node.name);
      if (stated.cluster !== undefined) this.#within(this.count(scope, {}), stated.cluster, this.size);
      if (stated.zone !== undefined)
        this.#within(this.count(scope, { zone }), stated.zone, this.picture.nodeCountIn(zone));
      const { nodes, duration } = stated.perWindow ?? {};
      if (nodes === undefined || duration === undefined) continue;
      const withinMs = at(duration) - at("0s");
      this.#within(this.count(scope, { withinMs }), nodes, this.size);
    }
  }

  #within(counted: number, written: string, total: number): void {
    const parsed = parseAmount(written);
    const allowed = parsed.ok ? roundedUp(parsed.value, total) : 0;
    if (counted > allowed) throw new Error(`${counted} are counted, and ${written} of ${total} allowed`);
  }
}

function candidates(cluster: Cluster, { wishes }: Round): Candidate[] {
  const asked = wishes.map(({ node, action, overdue, priority, dryRun, forceful }, index): Candidate => {
    const name = cluster.name(node);
    const proposal: Proposal = {
      node: { name, uid: `${name}-uid` },
      claim: { name, uid: `${name}-claim-uid` },
      action,
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "web" },
      message: `Wish ${index}.`,
      evidence: [{ kind: "Age" }],
      dueAt: cluster.now - overdue,
      priority,
      dryRun,
      ...(forceful ? { termination: "Forceful" } : {}),
    };
    // Each by a rule of its own: one that asks twice for a node is given it once, and told once.
    return { subject: `node/${name}`, rule: `${action} ${index}`, proposal };
  });
  const deletions = [...cluster.picture.claims()].flatMap(({ name, deletingSince }): Candidate[] => {
    if (deletingSince === undefined || cluster.picture.openActionOn(`${name}-uid`) !== undefined) return [];
    const proposal: Proposal = {
      node: { name, uid: `${name}-uid` },
      claim: { name, uid: `${name}-claim-uid` },
      action: "Deletion",
      method: "Terminate",
      askedBy: { kind: "Person", name: "unknown" },
      message: "Deleted.",
      evidence: [{ kind: "DeletionTimestamp" }],
      dueAt: deletingSince,
    };
    return [{ subject: `claim/${name}`, rule: "termination", proposal }];
  });
  return [...asked, ...deletions];
}

const isGrant = (command: Command): command is Extract<Command, { kind: "open-action" }> =>
  command.kind === "open-action" && command.phase === "Pending";
const isJoin = (command: Command) => command.kind === "update-action" && command.spec !== undefined;

function checkOnce(cluster: Cluster, proposals: readonly Candidate[], decision: Decision): void {
  const grants = decision.commands.filter(isGrant);
  const joins = decision.commands.filter(isJoin);
  // Each proposal ends in exactly one way, and each way is told in the words of its node.
  expect(grants.length + joins.length + decision.refusals.length).toBe(proposals.length);
  const granted = grants.map(({ spec }) => spec.node.uid);
  expect(new Set(granted).size).toBe(granted.length);
  for (const uid of granted) expect(cluster.picture.openActionOn(uid)).toBeUndefined();
}

function play({
  size,
  policy: spec,
  rounds,
}: {
  size: number;
  policy: SafetyPolicySpec;
  rounds: readonly Round[];
}): void {
  const cluster = new Cluster(size, spec);
  for (const one of rounds) {
    cluster.now += one.after;
    for (let end = 0; end < one.ends; end++) cluster.end();
    if (one.deleted < cluster.size) cluster.delete(one.deleted);
    const proposals = candidates(cluster, one);
    const { context } = cluster;
    const decision = arbitrate({ proposals, context });
    expect(arbitrate({ proposals: proposals.toReversed(), context })).toEqual(decision);
    const justBefore = (decision.wakeAt ?? cluster.now + 3_600_000) - 1;
    if (justBefore > cluster.now)
      expect(arbitrate({ proposals, context: { ...context, now: justBefore } })).toEqual(decision);
    checkOnce(cluster, proposals, decision);
    cluster.apply(decision.commands);
    for (const grant of decision.commands.filter(isGrant))
      if (grant.spec.action !== "Deletion") cluster.checkCaps(grant);
    // What was decided is done: asked again, nothing more goes. What is only shown may follow what now runs, once.
    const again = arbitrate({ proposals, context }).commands;
    expect(again.filter(command => isGrant(command) || isJoin(command))).toEqual([]);
    cluster.apply(again);
    expect(arbitrate({ proposals, context }).commands).toEqual([]);
  }
}

test("each wish is granted, joined or refused once, in any order; no cap is ever exceeded; asked again, nothing is new", () => {
  fc.assert(fc.property(world, play), { numRuns: 400 });
});
