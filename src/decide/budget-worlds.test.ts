// Random pools with all five kinds of action, over days: budgets are edited, pools grow and shrink, freezes come and go.
// Whatever happens, no budget is ever exceeded by a start. The counting here is plain and knows nothing of the limits.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, aSafetyPolicy, at, aWorld } from "../../test/builders.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime, hourMs } from "../api/time.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Move } from "../snapshot/moves.ts";
import { arbitrate, type Candidate } from "./arbitrate.ts";
import { budgetLimits } from "./budget-limits.ts";
import type { Command, Context, Decision, Proposal } from "./decision.ts";
import type { Health } from "./remembered.ts";

const planned = ["Consolidation", "Emptiness", "Expiration", "Drift"] as const;
const actions = [...planned, "Repair"] as const;
type Action = (typeof actions)[number];

/** `from`: the hour of the day at which it begins to hold, for eight hours; absent: always. */
type Budget = { readonly nodes: string; readonly action?: Action; readonly from?: number };
type Wish = { readonly nodes: readonly number[]; readonly action: Action; readonly isBatch: boolean };
type Round = {
  readonly afterHours: number;
  /** How many of the oldest open actions come to their end. */
  readonly ends: number;
  /** By pool; undefined: as before. */
  readonly budgets: readonly (readonly Budget[] | undefined)[];
  readonly joins: number;
  readonly leaves: number;
  readonly isFrozen: boolean;
  readonly wishes: readonly Wish[];
};

const poolNames = ["red", "blue"] as const;
const sizeMax = 12;

const budget: fc.Arbitrary<Budget> = fc.record(
  {
    nodes: fc.constantFrom("0", "1", "2", "3", "10%", "34%", "100%"),
    action: fc.constantFrom(...actions),
    from: fc.integer({ min: 0, max: 23 }),
  },
  { requiredKeys: ["nodes"] },
);
const budgets = fc.array(budget, { minLength: 1, maxLength: 4 });
const wish: fc.Arbitrary<Wish> = fc.record({
  nodes: fc.uniqueArray(fc.nat(sizeMax * 2), { minLength: 1, maxLength: 4 }),
  action: fc.constantFrom(...actions),
  isBatch: fc.boolean(),
});
const round: fc.Arbitrary<Round> = fc.record({
  afterHours: fc.integer({ min: 1, max: 30 }),
  ends: fc.nat(4),
  budgets: fc.tuple(fc.option(budgets, { nil: undefined }), fc.option(budgets, { nil: undefined })),
  joins: fc.nat(2),
  leaves: fc.nat(2),
  isFrozen: fc.nat(4).map(chance => chance === 0),
  wishes: fc.array(wish, { maxLength: 10 }),
});

class Cluster {
  readonly picture: ClusterPicture = aWorld({});
  readonly #open: string[] = [];
  readonly #budgets = new Map<string, readonly Budget[]>(poolNames.map(name => [name, [{ nodes: "1" }]]));
  readonly #nodes: { readonly name: string; readonly pool: string }[] = [];
  #born = 0;
  #generation = 1;
  #batches = 0;
  #isFrozen = false;
  now = at("10h");

  constructor(size: number) {
    for (const pool of poolNames) this.edit(pool, [{ nodes: "1" }]);
    for (let index = 0; index < size; index++) this.join();
  }

  edit(pool: string, written: readonly Budget[], others: NodePoolSpec["disruption"] = {}): void {
    this.#budgets.set(pool, written);
    const schedules = written.map(({ from, ...rest }) => ({
      ...rest,
      ...(from === undefined ? {} : { schedule: `0 ${from} * * *`, duration: "8h" }),
    }));
    const spec: NodePoolSpec = { disruption: { ...others, budgets: schedules } };
    this.picture.put("pool", aPool(pool, { spec, generation: this.#generation++ }));
  }

  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    const all = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } };
    const spec = {
      caps: { repair: all },
      ...(isFrozen ? { freeze: { reason: "exams", scope: "Disruption" as const } } : {}),
    };
    this.picture.put("safety-policy", aSafetyPolicy(spec));
  }

  /** Of all that goes by a plan. */
  cap(most: number | string): void {
    const all = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } };
    this.picture.put("safety-policy", aSafetyPolicy({ caps: { repair: all, disruption: { cluster: most } } }));
  }

  join(): void {
    const pool = poolNames[this.#born % poolNames.length] ?? "red";
    const name = `n${this.#born++}`;
    this.#nodes.push({ name, pool });
    this.picture.put("claim", aClaim(name, { pool }));
    this.picture.put("node", aNode(name));
  }

  /** The oldest that nobody is taking away goes by itself. */
  leave(): void {
    const found = this.#nodes.find(({ name }) => this.picture.openActionOn(`${name}-uid`) === undefined);
    if (found !== undefined) this.#remove(found.name);
  }

  end(): void {
    const name = this.#open.shift();
    const action = name === undefined ? undefined : this.picture.action(name);
    if (action === undefined) return;
    const status = { phase: "Done" as const, finishedAt: formatTime(this.now) };
    this.picture.put("action", { ...action, resourceVersion: "2", status });
    this.#remove(action.spec.node.name);
  }

  #remove(name: string): void {
    const index = this.#nodes.findIndex(node => node.name === name);
    if (index >= 0) this.#nodes.splice(index, 1);
    this.picture.remove("node", aNode(name));
    this.picture.remove("claim", aClaim(name));
  }

  /** What is asked for; those that go together have a move that says so. */
  asked(wishes: readonly Wish[]): readonly Candidate[] {
    const moves: Move[] = [];
    const taken = new Set<string>();
    const candidates = wishes.flatMap(({ nodes, action, isBatch }) => {
      const found = nodes.flatMap(index => this.#nodes[index] ?? []);
      const free = found.filter(
        ({ name }) => !taken.has(name) && this.picture.openActionOn(`${name}-uid`) === undefined,
      );
      const isTogether = isBatch && action === "Consolidation" && free.length > 1;
      const batch = isTogether ? `batch-${this.#batches++}` : undefined;
      if (batch !== undefined) {
        for (const { name } of free) taken.add(name);
        moves.push(
          moveOver(
            free.map(({ name }) => name),
            batch,
          ),
        );
      }
      return (isTogether ? free : found).map(({ name }) => this.#candidate(name, action, batch));
    });
    this.picture.beginMoves();
    const all = moves.map(move => ({ move, places: new Map(), poolVersions: new Map() }));
    this.picture.settleMoves({ at: this.now, moves: all, stays: new Map(), unanswered: [] });
    return candidates;
  }

  #candidate(name: string, action: Action, batch: string | undefined): Candidate {
    const proposal: Proposal = {
      node: { name, uid: `${name}-uid` },
      claim: { name, uid: `${name}-claim-uid` },
      action,
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "x" },
      message: action,
      evidence: [],
      dueAt: this.now - 1,
      ...(batch === undefined ? {} : { batch }),
    };
    return { subject: `node/${name}`, rule: action, proposal };
  }

  decide(proposals: readonly Candidate[], now = this.now): Decision {
    const { picture } = this;
    const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
    const context: Context = { picture, now, settings, epoch: 1 };
    const limits = budgetLimits(picture.pools(), { picture, now, health: this.#health });
    return arbitrate({ proposals, context, gates: { limits } });
  }

  /** Everything that is opened is there at once. Says what of it was more than it should be. */
  open(commands: readonly Command[]): readonly string[] {
    const wrong: string[] = [];
    for (const command of commands) {
      if (command.kind !== "open-action") continue;
      const { name, spec } = command;
      this.picture.put(
        "action",
        anAction(name, { node: spec.node.name, phase: "Pending", spec: { ...spec, decidedAt: formatTime(this.now) } }),
      );
      this.#open.push(name);
      const pool = this.#nodes.find(node => node.name === spec.node.name)?.pool ?? "";
      const action = spec.action as Action;
      const going = this.#nodes.filter(
        node => node.pool === pool && this.picture.openActionOn(`${node.name}-uid`),
      ).length;
      const most = this.#allowed(pool, action);
      if (going > most) wrong.push(`${name}: ${going} of ${pool} are going where ${action} may bring it to ${most}`);
      if (this.#isFrozen && action !== "Repair") wrong.push(`${name} begins in a freeze`);
    }
    return wrong;
  }

  /** By hand. Where nobody holds repair with a budget it has a pace, which counts otherwise. */
  #allowed(pool: string, action: Action): number {
    const size = this.#nodes.filter(node => node.pool === pool).length;
    const hour = Math.floor(this.now / hourMs) % 24;
    const written = this.#budgets.get(pool) ?? [];
    const names = (one: Budget) => one.action === action || (one.action === undefined && action !== "Repair");
    // The default: a tenth, where no budget speaks of the action at all.
    const words = written.some(names) || action === "Repair" ? written : [{ nodes: "10%" }];
    const amounts = words.filter(names).filter(({ from }: Budget) => from === undefined || (hour - from + 24) % 24 < 8);
    return Math.min(
      ...amounts.map(({ nodes }) =>
        nodes.endsWith("%") ? Math.ceil((size * Number.parseInt(nodes, 10)) / 100) : Number(nodes),
      ),
    );
  }

  readonly #health: Health = {
    count: pool => {
      const nodes = this.#nodes.filter(node => pool === undefined || node.pool === pool).length;
      return { nodes, unhealthy: 0, byPolicy: new Map(), initialized: nodes };
    },
  };
}

function moveOver(names: readonly string[], batch: string): Move {
  const nodes = names.map(name => ({ name, uid: `${name}-uid` }));
  return {
    batch,
    action: "Consolidation",
    nodes,
    claims: [],
    podCount: 0,
    price: { before: 1, after: 0 },
    stuck: [],
    at: 0,
  };
}

/** Of each batch, how many were opened of how many. */
function partsOf(asked: readonly Candidate[], { commands }: Decision): ReadonlyMap<string, readonly [number, number]> {
  const opened = new Set(commands.flatMap(command => (command.kind === "open-action" ? command.spec.node.uid : [])));
  const parts = new Map<string, readonly [number, number]>();
  for (const { proposal } of asked) {
    if (proposal.batch === undefined) continue;
    const [some, all] = parts.get(proposal.batch) ?? [0, 0];
    // One that goes by another reason is not of the batch any more.
    parts.set(proposal.batch, [some + (opened.has(proposal.node.uid) ? 1 : 0), all + 1]);
  }
  return parts;
}

/** Windows begin and end at full hours. */
const aroundEdges = Array.from({ length: 25 }, (_, hour) => (hour + 1) * hourMs).flatMap(edge => [edge - 1, edge]);

test("what the arbiter says stands until its next look: around each edge of a window it is what it is from scratch", () => {
  const world = fc.record({
    size: fc.integer({ min: 2, max: sizeMax * 2 }),
    budgets: fc.tuple(budgets, budgets),
    precedence: fc.constantFrom("MostRestrictive" as const, "ActionOverridesAll" as const),
    windowFrom: fc.option(fc.nat(23), { nil: undefined }),
    going: fc.array(wish, { maxLength: 3 }),
    wishes: fc.array(wish, { minLength: 1, maxLength: 6 }),
    isTight: fc.boolean(),
  });
  let lookCount = 0;
  fc.assert(
    fc.property(world, ({ size, budgets: written, precedence, windowFrom, going, wishes, isTight }) => {
      const cluster = new Cluster(size);
      const windows = windowFrom === undefined ? [] : [{ schedule: `0 ${windowFrom} * * *`, duration: "3h" }];
      cluster.cap(isTight ? 0 : "100%");
      cluster.open(cluster.decide(cluster.asked(going)).commands);
      poolNames.forEach((pool, index) =>
        cluster.edit(pool, written[index] ?? [], { budgetPrecedence: precedence, windows }),
      );
      const asked = cluster.asked(wishes);
      let standing = cluster.decide(asked);
      for (const afterMs of aroundEdges) {
        const now = cluster.now + afterMs;
        const fresh = cluster.decide(asked, now);
        if (standing.wakeAt === undefined || standing.wakeAt > now) expect(told(standing)).toEqual(told(fresh));
        else lookCount++;
        standing = fresh;
      }
    }),
    { numRuns: 30 },
  );
  expect(lookCount).toBeGreaterThan(100);
});

/** A grant says when it was made. */
function told({ commands, refusals, wakeAt }: Decision) {
  return { refusals, wakeAt, opened: commands.map(one => (one.kind === "open-action" ? one.name : one.kind)) };
}

test("no start ever exceeds a budget, a freeze freezes, a batch goes whole, and asked again nothing is new", () => {
  const world = fc.record({
    size: fc.integer({ min: 1, max: sizeMax * 2 }),
    rounds: fc.array(round, { minLength: 1, maxLength: 6 }),
  });
  let openedCount = 0;
  fc.assert(
    fc.property(world, ({ size, rounds }) => {
      const cluster = new Cluster(size);
      for (const { afterHours, ends, budgets: edits, joins, leaves, isFrozen, wishes } of rounds) {
        cluster.now += afterHours * hourMs;
        for (let count = 0; count < ends; count++) cluster.end();
        for (let count = 0; count < joins; count++) cluster.join();
        for (let count = 0; count < leaves; count++) cluster.leave();
        poolNames.forEach((pool, index) => {
          const edit = edits[index];
          if (edit !== undefined) cluster.edit(pool, edit);
        });
        cluster.freeze(isFrozen);
        const asked = cluster.asked(wishes);
        const decision = cluster.decide(asked);
        const batched = decision.commands.filter(one => one.kind === "open-action" && one.spec.batch !== undefined);
        for (const [batch, [some, all]] of partsOf(asked, { ...decision, commands: batched })) {
          expect([0, all], `${batch} goes whole`).toContain(some);
        }
        expect(cluster.open(decision.commands)).toEqual([]);
        expect(cluster.decide(asked).commands.filter(({ kind }) => kind === "open-action")).toEqual([]);
        openedCount += decision.commands.length;
      }
    }),
    { numRuns: 150 },
  );
  // Else all of this says nothing.
  expect(openedCount).toBeGreaterThan(100);
});
