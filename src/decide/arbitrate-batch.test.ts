import { describe, expect, test } from "vitest";
import {
  aClaim,
  anAction,
  aNode,
  aPool,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { Move } from "../snapshot/moves.ts";
import { arbitrate, type Candidate, type Gates } from "./arbitrate.ts";
import type { Limit } from "./caps.ts";
import type { Context, Decision, Proposal } from "./decision.ts";

const now = at("2h");
const together = "consolidation-1";

function asked(node: string, more: Partial<Proposal> = {}): Candidate {
  const action = more.action ?? "Consolidation";
  const proposal: Proposal = {
    node: { name: node, uid: `${node}-uid` },
    claim: { name: node, uid: `${node}-claim-uid` },
    action,
    method: "Terminate",
    termination: "Graceful",
    askedBy: { kind: "NodePool", name: "web" },
    message: `${action} of ${node}.`,
    evidence: [{ kind: "Cheaper" }],
    dueAt: at("1h"),
    batch: together,
    replacements: [{ name: "r" }],
    ...more,
  };
  return { subject: `node/${node}`, rule: "disruption", proposal };
}

function moveOver(nodes: readonly string[], batch = together): Move {
  return {
    batch,
    action: "Consolidation",
    nodes: nodes.map(name => ({ name, uid: `${name}-uid` })),
    claims: [],
    podCount: 1,
    price: { before: 2, after: 1 },
    stuck: [],
    at: t0,
  };
}

type Scene = { world?: WorldOptions; gates?: Gates; moves?: readonly Move[] };

/** Nodes a, b, c with their claims in pool web; a and b are to go together. */
function decide(
  proposals: readonly Candidate[],
  { world, gates, moves = [moveOver(["a", "b"])] }: Scene = {},
): Decision {
  const names = ["a", "b", "c"];
  const picture = aWorld({
    nodes: names.map(name => aNode(name)),
    claims: names.map(name => aClaim(name, { pool: "web" })),
    pools: [aPool("web")],
    ...world,
  });
  picture.beginMoves();
  const found = moves.map(move => ({ move, places: new Map(), poolVersions: new Map() }));
  picture.settleMoves({ at: t0, moves: found, stays: new Map(), unanswered: [] });
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  const context: Context = { picture, now, settings, epoch: 1 };
  return arbitrate({ proposals, context, ...(gates ? { gates } : {}) });
}

function atMost(allowed: number, more: Partial<Limit> = {}): Limit {
  return {
    role: "budget",
    place: { kind: "NodePool", name: "web", path: "spec.disruption.budgets[0]" },
    what: "going away in NodePool web",
    allowed,
    counted: 0,
    frees: [],
    applies: () => true,
    ...more,
  };
}

const opened = ({ commands }: Decision) =>
  commands.flatMap(command => (command.kind === "open-action" ? [command.spec.node.name] : []));
const refused = ({ refusals }: Decision) => refusals.map(({ subject, code }) => `${subject} ${code}`);

describe("nodes of one batch", () => {
  test("go together, each with the batch and its replacements in the ledger", () => {
    const decision = decide([asked("a"), asked("b")]);
    expect(opened(decision)).toEqual(["a", "b"]);
    expect(decision.commands).toMatchObject(
      ["a", "b"].map(() => ({ spec: { batch: together, replacements: [{ name: "r" }] } })),
    );
  });

  test.each<[number, string[], string[]]>([
    [2, ["a", "b"], []],
    [1, [], ["node/a batch-held", "node/b budget-spent"]],
    [0, [], ["node/a budget-spent", "node/b budget-spent"]],
  ])("spend a budget of %i once for each node, or not at all", (allowed, goes, held) => {
    const decision = decide([asked("a"), asked("b")], { gates: { limits: [atMost(allowed)] } });
    expect([opened(decision), refused(decision)]).toEqual([goes, held]);
  });

  test("leave to others what they did not spend", () => {
    const single = asked("c", { batch: "drift-c", dueAt: at("90m") });
    const gates = { limits: [atMost(1)] };
    const decision = decide([asked("a"), asked("b"), single], {
      gates,
      moves: [moveOver(["a", "b"]), moveOver(["c"], "drift-c")],
    });
    expect(opened(decision)).toEqual(["c"]);
  });

  test("are held by what holds one of them, and each says which", () => {
    const veto = ({ node }: Proposal) =>
      node.name === "b"
        ? { code: "pool-too-unhealthy", message: "Too many are sick.", until: at("3h"), liftedBy: "recovery" }
        : undefined;
    const { refusals, commands } = decide([asked("a"), asked("b")], { gates: { vetoes: [veto] } });
    expect(commands).toEqual([]);
    expect(refusals).toEqual([
      {
        subject: "node/a",
        code: "batch-held",
        message: "Node a goes only together with node b, and that is held: Too many are sick.",
        until: at("3h"),
        liftedBy: "recovery",
      },
      {
        subject: "node/b",
        code: "pool-too-unhealthy",
        message: "Too many are sick.",
        until: at("3h"),
        liftedBy: "recovery",
      },
    ]);
  });

  test("stay when one of them goes for a higher reason", () => {
    const { batch: _, replacements: __, ...alone } = asked("b").proposal;
    const sick: Candidate = {
      ...asked("b"),
      proposal: { ...alone, action: "Repair", evidence: [{ kind: "Condition" }] },
    };
    const decision = decide([asked("a"), asked("b"), sick]);
    expect([opened(decision), refused(decision)]).toEqual([["b"], ["node/a batch-held", "node/b outranked"]]);
  });

  test("stay when one of them may not be touched", () => {
    const nodes = [aNode("a"), aNode("b", { labels: { keep: "yes" } })];
    const safety = aSafetyPolicy({ untouchable: { matchLabels: { keep: "yes" } } });
    const decision = decide([asked("a"), asked("b")], { world: { nodes, safety } });
    expect(refused(decision)).toEqual(["node/a batch-held", "node/b untouchable"]);
  });

  test("stay when one of them is not asked for now", () => {
    const { commands, refusals } = decide([asked("a")]);
    expect(commands).toEqual([]);
    expect(refusals).toMatchObject([
      {
        code: "batch-incomplete",
        message: "Node a goes only together with node b, which is not asked for now.",
        liftedBy: "what is said of node b",
      },
    ]);
  });

  test("stay when what was found for them stands no longer", () => {
    expect(refused(decide([asked("a"), asked("b")], { moves: [] }))).toEqual([
      "node/a move-outdated",
      "node/b move-outdated",
    ]);
  });

  test("follow one that is in the ledger already: its write came through and theirs did not", () => {
    const written = anAction("consolidation-b", {
      node: "b",
      phase: "Pending",
      spec: { action: "Consolidation", batch: together },
    });
    expect(opened(decide([asked("a")], { world: { actions: [written] } }))).toEqual(["a"]);
  });

  test("are all only shown when one of them is", () => {
    const claims = [aClaim("a", { pool: "web" }), aClaim("b", { pool: "dry" })];
    const pools = [aPool("web"), aPool("dry", { spec: { dryRun: true } })];
    const { commands, refusals } = decide([asked("a"), asked("b")], { world: { claims, pools } });
    expect(commands).toMatchObject(
      ["a", "b"].map(name => ({ phase: "DryRun", spec: { node: { name }, dryRun: true } })),
    );
    expect(refusals.map(({ code }) => code)).toEqual(["dry-run", "dry-run"]);
  });
});

test("a node that goes alone is no less held to what was found for it", () => {
  const single = asked("c", { batch: "drift-c" });
  expect(opened(decide([single], { moves: [moveOver(["c"], "drift-c")] }))).toEqual(["c"]);
  expect(refused(decide([single], { moves: [moveOver(["c"], "drift-d")] }))).toEqual(["node/c move-outdated"]);
});
