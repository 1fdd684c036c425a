// Random pools over hours, through the rule and the arbiter: what repair promises whatever comes. The counting here is
// plain, over all nodes, and knows nothing of the counts that are kept.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aClaim, aNode, aPool, aProvider, aSafetyPolicy, at, aWorld } from "../../test/builders.ts";
import type { Budget } from "../api/budget.ts";
import type { Repair } from "../api/repair.ts";
import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
import { arbitrate, type Candidate } from "./arbitrate.ts";
import { brakeVeto } from "./brake.ts";
import { budgetLimits } from "./budget-limits.ts";
import type { Command, Context } from "./decision.ts";
import { decideRepair } from "./repair.ts";
import { RepairMemory } from "./repair-memory.ts";

const toleration = 10 * minuteMs;
const ttl = 15 * minuteMs;
const provider = aProvider({
  repairStatements: ["False", "Unknown"].map(conditionStatus => ({
    conditionType: "Ready",
    conditionStatus,
    toleration,
  })),
});
const unlimited = { cluster: "100%", zone: "100%", perWindow: { nodes: 1_000, duration: "1h" } };
const safety = aSafetyPolicy({ caps: { repair: unlimited } });

type Act = { readonly node: number; readonly ready: "True" | "False" | "Unknown"; readonly lie: number };
type Round = { readonly minutes: number; readonly acts: readonly Act[]; readonly ends: number; readonly comes: number };
type Story = {
  readonly size: number;
  readonly repair: Repair;
  readonly budgets: readonly Budget[];
  readonly rounds: readonly Round[];
};

const act: fc.Arbitrary<Act> = fc.record({
  node: fc.nat(11),
  ready: fc.constantFrom("True", "False", "Unknown"),
  lie: fc.integer({ min: -90, max: 90 }),
});
const story: fc.Arbitrary<Story> = fc.record({
  size: fc.integer({ min: 1, max: 12 }),
  repair: fc.record({ maxUnhealthy: fc.constantFrom<string | number>("20%", "50%", 3, "100%") }),
  budgets: fc.array(
    fc.record({
      action: fc.constant("Repair" as const),
      nodes: fc.constantFrom<string | number>(0, 1, 2, "30%", "100%"),
    }),
    { maxLength: 2 },
  ),
  rounds: fc.array(
    fc.record({
      minutes: fc.integer({ min: 0, max: 16 }),
      acts: fc.array(act, { maxLength: 8 }),
      ends: fc.nat(2),
      comes: fc.nat(2),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

class Cluster {
  readonly picture: ClusterPicture;
  readonly memory = new RepairMemory();
  readonly size: number;
  now = at("10h");
  #next = 0;
  /** Since when, by our own eyes, a node has been bad, and when it was bad before. */
  readonly badByNode = new Map<string, { from: Instant; until?: Instant }[]>();
  readonly gone: { decidedAt: Instant; finishedAt: Instant }[] = [];
  readonly arrived: Instant[] = [];
  readonly open: { name: string; decidedAt: Instant }[] = [];

  constructor({ size, repair, budgets }: Story) {
    this.size = size;
    const disruption = { budgets: [...budgets] };
    this.picture = aWorld({ pools: [aPool("web", { spec: { repair, disruption } })], provider, safety });
    for (let node = 0; node < size; node++) this.join();
    this.arrived.length = 0;
  }

  get context(): Context {
    const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
    return { picture: this.picture, now: this.now, settings, epoch: 1 };
  }

  join(): void {
    const name = `n${this.#next++}`;
    this.picture.put("claim", aClaim(name, { pool: "web", createdAt: this.now }));
    this.#show(undefined, aNode(name, { createdAt: this.now, since: this.now }));
    this.arrived.push(this.now);
  }

  sicken({ node, ready, lie }: Act): void {
    const before = this.picture.nodes()[node % this.size];
    if (before === undefined) return;
    const after = { ...before, conditions: aNode("x", { ready, since: this.now + lie * minuteMs }).conditions };
    this.#show(before, after);
    const spells = this.badByNode.get(before.name) ?? [];
    const last = spells.at(-1);
    const isBad = last !== undefined && last.until === undefined;
    if (ready === "True" && isBad) last.until = this.now;
    if (ready !== "True" && !isBad) spells.push({ from: this.now });
    this.badByNode.set(before.name, spells);
  }

  #show(before: NodeView | undefined, after: NodeView): void {
    this.picture.put("node", after);
    this.memory.observe({ ...(before ? { before } : {}), after }, this.now);
  }

  /** Rules over all nodes, then the arbiter; what is granted is open from now on. */
  turn(): readonly string[] {
    const { context, memory, picture } = this;
    for (const subject of picture.takeDirty()) memory.recount(subject, context);
    const candidates: Candidate[] = picture.nodes().flatMap(({ name }) => {
      const { proposals } = decideRepair(name, context, memory.sight);
      return proposals.map(proposal => ({ subject: `node/${name}` as const, rule: "repair", proposal }));
    });
    const limits = budgetLimits(picture.pools(), { picture, now: context.now, health: memory.health });
    const { commands } = arbitrate({
      proposals: candidates,
      context,
      gates: { limits, vetoes: [brakeVeto(memory.health)] },
    });
    return commands.flatMap(command => this.#grant(command));
  }

  #grant(command: Command): string[] {
    if (command.kind !== "open-action") return [];
    const { name, spec } = command;
    const decidedAt = formatTime(this.now);
    const meta = {
      name,
      uid: name,
      resourceVersion: "1",
      createdAt: this.now,
      labels: {},
      annotations: {},
      finalizers: [],
    };
    this.picture.put("action", { ...meta, spec: { ...spec, decidedAt }, status: { phase: "Running" } });
    this.open.push({ name, decidedAt: this.now });
    return [spec.node.name];
  }

  /** The oldest repair ends: node and claim are gone. */
  end(): void {
    const oldest = this.open.shift();
    const action: ActionView | undefined = oldest && this.picture.action(oldest.name);
    if (oldest === undefined || action === undefined) return;
    const node = this.picture.nodeByUid(action.spec.node.uid);
    const claim = this.picture.claim(action.spec.claim?.name ?? "");
    this.picture.put("action", { ...action, status: { phase: "Done", finishedAt: formatTime(this.now) } });
    if (node !== undefined) {
      this.picture.remove("node", node);
      this.memory.observe({ before: node }, this.now);
    }
    if (claim !== undefined) this.picture.remove("claim", claim);
    this.gone.push({ decidedAt: oldest.decidedAt, finishedAt: this.now });
  }

  /** By a plain count: repairs whose node is there, or whose successor is not. */
  repairsInFlight(): number {
    const successors = [...this.arrived].sort((a, b) => a - b);
    const recent = this.gone.filter(({ finishedAt }) => this.now < finishedAt + ttl);
    const waiting = recent.filter(({ decidedAt }) => {
      const index = successors.findIndex(arrivedAt => arrivedAt >= decidedAt);
      if (index >= 0) successors.splice(index, 1);
      return index < 0;
    });
    return this.open.length + waiting.length;
  }
}

function amount(written: string | number, total: number): number {
  return typeof written === "number" ? written : Math.ceil((total * Number(written.slice(0, -1))) / 100);
}

function badWithin(spells: readonly { from: Instant; until?: Instant }[], now: Instant, windowMs: number): number {
  return spells.reduce((sum, { from, until = now }) => sum + Math.max(0, until - Math.max(from, now - windowMs)), 0);
}

test("no brake, budget or pace is ever passed, and nobody goes before we saw it sick for as long as it is borne", () => {
  fc.assert(
    fc.property(story, told => {
      const cluster = new Cluster(told);
      for (const { minutes, acts, ends, comes } of told.rounds) {
        cluster.now += minutes * minuteMs;
        for (const one of acts) cluster.sicken(one);
        for (let end = 0; end < ends; end++) cluster.end();
        for (let come = 0; come < comes; come++) if (cluster.picture.nodeCount < cluster.size) cluster.join();
        // Objects tell times in whole seconds: what comes in the same one as a decision is taken for its successor.
        cluster.now += 1_000;
        const { nodeCount: total } = cluster.picture;
        const sick = [...cluster.picture.nodes()].filter(({ conditions }) => conditions[0]?.status !== "True").length;
        const granted = cluster.turn();
        // Once granted, the same picture asks for nothing more.
        cluster.picture.takeDirty();
        expect(cluster.turn()).toEqual([]);
        if (granted.length === 0) continue;
        expect(sick).toBeLessThanOrEqual(amount(told.repair.maxUnhealthy ?? "20%", total));
        for (const { nodes = 0 } of told.budgets) expect(cluster.open.length).toBeLessThanOrEqual(amount(nodes, total));
        if (told.budgets.length === 0)
          expect(cluster.repairsInFlight()).toBeLessThanOrEqual(Math.max(1, amount("10%", total)));
        for (const name of granted) {
          const spells = cluster.badByNode.get(name) ?? [];
          expect(badWithin(spells, cluster.now, 2 * toleration)).toBeGreaterThanOrEqual(toleration);
        }
      }
    }),
    { numRuns: 300 },
  );
});
