import { describe, expect, test } from "vitest";
import {
  aClaim,
  anAction,
  aNode,
  aPool,
  aProvider,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import { arbitrate, type Candidate, type Gates } from "./arbitrate.ts";
import type { Limit } from "./caps.ts";
import type { Command, Context, Decision, Proposal, Settings } from "./decision.ts";
import { unstamped } from "./ledger.ts";

const settings: Settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" };
const now = at("2h");

function asked(node: string, more: Partial<Proposal> = {}): Candidate {
  const action = more.action ?? "Repair";
  const proposal: Proposal = {
    node: { name: node, uid: `${node}-uid` },
    claim: { name: node, uid: `${node}-claim-uid` },
    action,
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "web" },
    message: `${action} of ${node}.`,
    evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" }],
    dueAt: at("1h"),
    ...more,
  };
  return { subject: `node/${node}`, rule: action.toLowerCase(), proposal };
}

/** A person has deleted the claim of the node. */
const deleted = (node: string, more: Partial<Proposal> = {}): Candidate =>
  asked(node, {
    ...more,
    action: "Deletion",
    askedBy: { kind: "Person", name: "unknown" },
    evidence: [{ kind: "DeletionTimestamp" }],
  });

type Scene = {
  world?: WorldOptions;
  nodes?: number;
  safety?: SafetyPolicySpec;
  at?: number;
  settings?: Partial<Settings>;
  gates?: Gates;
};

/** Nodes a, b, c … with their claims in pool web, zone z1. */
function decide(proposals: readonly Candidate[], scene: Scene = {}): Decision {
  const names = "abcdefghijklmnopqrst".slice(0, scene.nodes ?? 3).split("");
  const picture = aWorld({
    nodes: names.map(name => aNode(name)),
    claims: names.map(name => aClaim(name, { pool: "web", zone: "z1" })),
    pools: [aPool("web")],
    safety: aSafetyPolicy(scene.safety),
    ...scene.world,
  });
  const context: Context = { picture, now: scene.at ?? now, settings: { ...settings, ...scene.settings }, epoch: 1 };
  return arbitrate({ proposals, context, ...(scene.gates ? { gates: scene.gates } : {}) });
}

const codes = ({ refusals }: Decision) => refusals.map(({ subject, code }) => `${subject} ${code}`);
const opened = ({ commands }: Decision) =>
  commands.flatMap(command => (command.kind === "open-action" ? [command.name] : []));
const kinds = ({ commands }: Decision) => commands.map(({ kind }) => kind);

const free: SafetyPolicySpec = { caps: { repair: { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } } } };

describe("a node goes", () => {
  test("by an action that is written with its evidence and what allowed it, before anything is done", () => {
    const decision = decide([asked("a")]);
    expect(decision.refusals).toEqual([]);
    expect(decision.commands).toEqual([
      {
        kind: "open-action",
        name: "repair-a-uid",
        phase: "Pending",
        why: "Repair of a.",
        spec: {
          node: { name: "a", uid: "a-uid" },
          claim: { name: "a", uid: "a-claim-uid" },
          nodePool: "web",
          zone: "z1",
          action: "Repair",
          method: "Terminate",
          askedBy: { kind: "NodePool", name: "web" },
          message: "Repair of a.",
          evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: unstamped }],
          caps: ["cluster", "zone", "perWindow"].map(field => ({
            kind: "SafetyPolicy",
            name: "default",
            path: `spec.caps.repair.${field}`,
            generation: 1,
            allowed: 1,
            counted: 0,
          })),
          decidedAt: unstamped,
          epoch: 1,
        },
      },
    ]);
  });

  test("and the caps that allowed it are those by default where there is no policy", () => {
    const picture = aWorld({ nodes: [aNode("a")], claims: [aClaim("a")] });
    const { commands } = arbitrate({ proposals: [asked("a")], context: { picture, now, settings, epoch: 1 } });
    const [command] = commands;
    expect(command?.kind === "open-action" && command.spec.caps?.map(({ kind }) => kind)).toEqual([
      "Default",
      "Default",
    ]);
  });

  test("nothing asked, nothing decided", () => {
    expect(decide([])).toEqual({ commands: [], proposals: [], refusals: [], notices: [], wakeAt: undefined });
  });
});

describe("of several reasons for one node", () => {
  const reasons = ["Repair", "Remediation", "ScaleDown", "Expiration", "Drift", "Emptiness", "Consolidation"] as const;
  const pairs = reasons.flatMap((higher, place) => reasons.slice(place + 1).map(lower => ({ higher, lower })));

  test.each(pairs)("$higher goes before $lower, which is told so", ({ higher, lower }) => {
    const decision = decide([asked("a", { action: lower }), asked("a", { action: higher })]);
    expect(decision.commands).toHaveLength(1);
    expect(decision.commands[0]).toMatchObject({ spec: { action: higher } });
    expect(decision.refusals).toMatchObject([
      { subject: "node/a", code: "outranked", message: `${higher} (asked for by NodePool web) comes first on node a.` },
    ]);
  });

  test("a person's delete goes before them all", () => {
    const world = { nodes: [aNode("a")], claims: [aClaim("a", { deletingSince: at("1h") })] };
    const decision = decide([asked("a"), asked("a", { action: "GarbageCollection" }), deleted("a")], { world });
    expect(opened(decision)).toEqual(["deletion-a-uid"]);
    expect(codes(decision)).toEqual(["node/a outranked", "node/a outranked"]);
  });

  test("a lower one does not take the node while the higher is held: it would be joined past what holds it", () => {
    const repair = { cluster: 0 };
    const decision = decide([asked("a"), asked("a", { action: "Drift" })], { safety: { caps: { repair } } });
    expect(decision.commands).toEqual([]);
    expect(codes(decision)).toEqual(["node/a cap-spent", "node/a outranked"]);
  });

  test("a lower one takes the node while the higher is vetoed, which could not join it either", () => {
    const brake = { code: "pool-too-unhealthy", message: "too many", liftedBy: "recovery" };
    const gates = { vetoes: [({ action }: Proposal) => (action === "Repair" ? brake : undefined)] };
    const decision = decide([asked("a"), asked("a", { action: "ScaleDown" })], { gates });
    expect(opened(decision)).toEqual(["scale-down-a-uid"]);
    expect(codes(decision)).toEqual(["node/a pool-too-unhealthy"]);
  });

  test("one that cannot be about this node leaves it to the next", () => {
    const foreign = asked("a", { claim: { name: "a", uid: "another" } });
    const decision = decide([foreign, asked("a", { action: "Drift" })]);
    expect(opened(decision)).toEqual(["drift-a-uid"]);
    expect(codes(decision)).toEqual(["node/a node-gone"]);
  });
});

describe("of several nodes for one place", () => {
  const one: SafetyPolicySpec = { caps: { repair: { cluster: 1, zone: "100%", perWindow: { nodes: "100%" } } } };
  const first = (...proposals: Candidate[]) => opened(decide(proposals, { safety: one }));

  test("the longest due goes", () => {
    expect(first(asked("a", { dueAt: at("1h") }), asked("b", { dueAt: at("59m59.999s") }))).toEqual(["repair-b-uid"]);
  });

  test("a step of priority weighs 30 minutes", () => {
    const b = (dueAt: number) => asked("b", { dueAt });
    const a = asked("a", { dueAt: at("1h"), priority: 90 });
    expect(first(a, b(at("30m0.001s")))).toEqual(["repair-a-uid"]);
    expect(first(a, b(at("29m59.999s")))).toEqual(["repair-b-uid"]);
    // As much: the longer due.
    expect(first(a, b(at("30m")))).toEqual(["repair-b-uid"]);
  });

  test("what counts is the place of a priority among those asked with, not its number", () => {
    const low = asked("a", { priority: 1, dueAt: at("20m") });
    const high = asked("b", { priority: 2, dueAt: at("1h") });
    const lowest = asked("c", { dueAt: at("1h") });
    expect(first(low, high, lowest)).toEqual(["repair-a-uid"]);
    expect(first(low, { ...high, proposal: { ...high.proposal, priority: 99 } }, lowest)).toEqual(["repair-a-uid"]);
  });

  test("equals go by name", () => {
    expect(first(asked("c"), asked("b"), asked("a"))).toEqual(["repair-a-uid"]);
  });

  test("repair goes before remediation, however long that is due", () => {
    const remediation = asked("a", { action: "Remediation", priority: 100, dueAt: t0 });
    expect(first(remediation, asked("b"))).toEqual(["repair-b-uid"]);
  });

  test("what is granted counts before the next is judged", () => {
    const decision = decide([asked("a"), asked("b"), asked("c")], { safety: one });
    expect(opened(decision)).toEqual(["repair-a-uid"]);
    expect(decision.refusals).toMatchObject([
      { subject: "node/b", code: "cap-spent" },
      {
        subject: "node/c",
        code: "cap-spent",
        message:
          "1 node is going away by repair or remediation in the cluster; at most 1 may be (SafetyPolicy default spec.caps.repair.cluster).",
      },
    ]);
  });
});

describe("nothing goes", () => {
  test.each<[string, Candidate, Scene, { code: string; until?: number; message?: string }]>([
    [
      "on a picture that is too old",
      asked("a"),
      { world: { staleness: { resource: "nodes", message: "silent since 01:58" } } },
      { code: "picture-stale", message: "The picture of nodes is too old to act on: silent since 01:58" },
    ],
    ["if the node is gone", asked("z"), {}, { code: "node-gone", message: "Node z (z-uid) is gone." }],
    [
      "if the node of that name is another one",
      asked("a", { node: { name: "a", uid: "old" } }),
      {},
      { code: "node-gone", message: "Node a (old) is gone; the node of that name is another one, a-uid." },
    ],
    [
      "if the claim is another one",
      asked("a", { claim: { name: "a", uid: "old" } }),
      {},
      { code: "node-gone", message: "NodeClaim a (old) of node a is gone." },
    ],
    ["a millisecond before it is due", asked("a", { dueAt: now + 1 }), {}, { code: "not-due", until: now + 1 }],
    ["that nobody provisioned through us", withoutClaim(asked("a")), {}, { code: "no-claim" }],
    [
      "that belongs to another controller",
      asked("a"),
      { world: { provider: aProvider({ serves: () => false }) } },
      { code: "foreign-claim" },
    ],
    [
      "of another controller but by repair",
      asked("a", { action: "Drift" }),
      { world: { provider: aProvider({ serves: () => false }) }, settings: { foreignClaims: "repair" } },
      { code: "foreign-claim" },
    ],
    [
      "while the SafetyPolicy cannot be understood",
      asked("a"),
      { world: { safety: aSafetyPolicy({}, { invalid: "spec.caps: nonsense" }) } },
      { code: "policy-invalid" },
    ],
    [
      "in a freeze without an end",
      asked("a"),
      { safety: { freeze: { reason: "audit" } } },
      { code: "frozen", message: "SafetyPolicy default freezes everything: audit" },
    ],
    [
      "a millisecond before the freeze ends",
      asked("a"),
      { safety: { freeze: { reason: "audit", until: "2026-01-01T02:00:00.001Z" } } },
      { code: "frozen", until: now + 1 },
    ],
    [
      "in a freeze whose end cannot be read",
      asked("a"),
      { safety: { freeze: { reason: "audit", until: "tomorrow" } } },
      { code: "frozen" },
    ],
    [
      "planned in a freeze of disruption",
      asked("a", { action: "Emptiness" }),
      { safety: { freeze: { reason: "sale", scope: "Disruption" } } },
      { code: "frozen" },
    ],
    [
      "that nobody may touch",
      asked("a"),
      { safety: { untouchable: { matchLabels: { "karpenter.sh/registered": "true" } } } },
      { code: "untouchable" },
    ],
    [
      "at all, if whom nobody may touch cannot be read",
      asked("a"),
      { safety: { untouchable: { matchLabels: { "not a key!": "x" } } } },
      { code: "untouchable" },
    ],
    [
      "that is going without an action yet",
      asked("a"),
      { world: { nodes: [aNode("a", { deletingSince: at("1h") })] } },
      { code: "already-going", message: "Node a is being deleted already, and no action stands for that yet." },
    ],
    [
      "over the cap of the cluster",
      asked("a"),
      { world: { actions: [anAction("r", { node: "b", spec: { action: "Remediation" } })] } },
      { code: "cap-spent" },
    ],
    [
      "that what is remembered speaks against",
      asked("a"),
      { gates: { vetoes: [() => ({ code: "settling", message: "wait", until: at("3h"), liftedBy: "time" })] } },
      { code: "settling", until: at("3h") },
    ],
    [
      "over a budget",
      asked("a"),
      {
        gates: {
          limits: [
            {
              role: "budget",
              place: { kind: "NodePool", name: "web" },
              what: "going away in NodePool web",
              allowed: 1,
              counted: 2,
              frees: [],
              applies: () => true,
            },
          ],
        },
      },
      { code: "budget-spent", message: "2 nodes are going away in NodePool web; at most 1 may be (NodePool web)." },
    ],
    [
      "again at once after it was given up",
      asked("a"),
      {
        world: {
          actions: [
            anAction("repair-a-uid", {
              phase: "Abandoned",
              status: { finishedAt: "2026-01-01T01:59:30Z", outcome: "the node is Ready" },
            }),
          ],
        },
      },
      {
        code: "tried-before",
        until: at("2h30s"),
        message:
          "NodeAction repair-a-uid ended as Abandoned: the node is Ready; not tried again before 2026-01-01T02:00:30Z.",
      },
    ],
  ])("%s", (_name, candidate, scene, refusal) => {
    const decision = decide([candidate], scene);
    expect(decision.commands).toEqual([]);
    expect(decision.refusals).toHaveLength(1);
    expect(decision.refusals[0]).toMatchObject({ subject: `node/${candidate.proposal.node.name}`, ...refusal });
    expect(decision.refusals[0]?.liftedBy).not.toBe("");
    expect(decision.refusals[0]?.until).toBe(refusal.until);
    expect(decision.wakeAt).toBe(refusal.until);
  });

  test.each<[string, Candidate, Scene]>([
    ["at the instant it is due", asked("a", { dueAt: now }), {}],
    [
      "at the instant the freeze ends",
      asked("a"),
      { safety: { freeze: { reason: "audit", until: "2026-01-01T02:00:00Z" } } },
    ],
    ["sick, in a freeze of disruption", asked("a"), { safety: { freeze: { reason: "sale", scope: "Disruption" } } }],
    [
      "sick, of another controller, where that was chosen",
      asked("a"),
      { world: { provider: aProvider({ serves: () => false }) }, settings: { foreignClaims: "repair" } },
    ],
    [
      "with no claim, if it is left to a remediation",
      withoutClaim(asked("a", { action: "Remediation", method: "Remediate" })),
      {},
    ],
    [
      "again once the wait is over",
      asked("a"),
      {
        world: {
          actions: [anAction("repair-a-uid", { phase: "Abandoned", status: { finishedAt: "2026-01-01T01:59:00Z" } })],
        },
      },
    ],
  ])("but %s it does", (_name, candidate, scene) => {
    const decision = decide([candidate], scene);
    expect([kinds(decision), codes(decision)]).toEqual([["open-action"], []]);
  });

  function withoutClaim({ proposal: { claim: _claim, ...proposal }, ...rest }: Candidate): Candidate {
    return { ...rest, proposal };
  }
});

describe("a person's delete", () => {
  const world = { nodes: [aNode("a")], claims: [aClaim("a", { deletingSince: at("1h") })] };
  test.each<[string, Scene]>([
    ["a freeze", { safety: { freeze: { reason: "audit" } }, world }],
    [
      "a node never to touch",
      { safety: { untouchable: { matchLabels: { "karpenter.sh/registered": "true" } } }, world },
    ],
    ["caps", { safety: { caps: { all: { cluster: 0 } } }, world }],
    ["a policy that cannot be understood", { world: { ...world, safety: aSafetyPolicy({}, { invalid: "x" }) } }],
    ["what is remembered", { world, gates: { vetoes: [() => ({ code: "x", message: "", liftedBy: "" })] } }],
    ["the pool's own dry run", { world: { ...world, pools: [aPool("web", { spec: { dryRun: true } })] } }],
  ])("is not held by %s", (_name, scene) => {
    const decision = decide([deleted("a")], scene);
    expect([opened(decision), codes(decision)]).toEqual([["deletion-a-uid"], []]);
  });

  test("that is dated later than our clock says has begun all the same", () => {
    const decision = decide([deleted("a", { dueAt: now + 60_000 })], { world });
    expect([opened(decision), codes(decision)]).toEqual([["deletion-a-uid"], []]);
  });

  test("that stands on no object is not one: it has no exemption", () => {
    const decision = decide([deleted("a")], { safety: { freeze: { reason: "audit" } } });
    expect(codes(decision)).toEqual(["node/a frozen"]);
  });

  test("of the node alone counts too", () => {
    const scene: Scene = {
      safety: { freeze: { reason: "audit" } },
      world: { nodes: [aNode("a", { deletingSince: at("1h") })] },
    };
    expect(opened(decide([deleted("a")], scene))).toEqual(["deletion-a-uid"]);
  });

  test("is held by a picture that is too old", () => {
    const staleness = { resource: "nodeclaims", message: "not listed" };
    expect(codes(decide([deleted("a")], { world: { ...world, staleness } }))).toEqual(["node/a picture-stale"]);
  });
});

describe("what meets an action under way", () => {
  const running = (more: Parameters<typeof anAction>[1] = {}) =>
    anAction("drift-a-uid", { spec: { action: "Drift", deadline: "2026-01-01T05:00:00Z" }, ...more });
  const meeting = (candidate: Candidate, action = running(), scene: Scene = {}) =>
    decide([candidate], { ...scene, world: { actions: [action], ...scene.world } });

  test("joins it if it is higher: evidence added, the end nearer, by force if it says so, no second action", () => {
    const { commands, refusals } = meeting(asked("a", { termination: "Forceful" }));
    expect(refusals).toEqual([]);
    expect(commands).toEqual([
      {
        kind: "update-action",
        why: "Repair of a.",
        action: { name: "drift-a-uid", uid: "drift-a-uid-action-uid" },
        resourceVersion: "1",
        looksFirst: true,
        spec: {
          joined: [
            {
              action: "Repair",
              askedBy: { kind: "NodePool", name: "web" },
              at: unstamped,
              message: "Repair of a.",
              evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: unstamped }],
            },
          ],
          deadline: "2026-01-01T01:00:00Z",
          termination: "Forceful",
        },
      },
    ]);
  });

  test("does not join what is done by other means: it waits for the end of a reboot, and is no end to one", () => {
    const reboot = anAction("repair-a-uid", { spec: { action: "Repair", method: "Reboot" } });
    expect(codes(meeting(asked("a", { action: "GarbageCollection" }), reboot))).toEqual(["node/a already-going"]);
    expect(codes(meeting(asked("a", { method: "Reboot" })))).toEqual(["node/a already-going"]);
  });

  test("never makes the end later, nor force out of grace that nobody asked for", () => {
    const { commands } = meeting(asked("a", { deadline: at("9h") }));
    expect(commands).toMatchObject([{ kind: "update-action", spec: { joined: [{ action: "Repair" }] } }]);
    const [command] = commands as Extract<Command, { kind: "update-action" }>[];
    expect(Object.keys(command?.spec ?? {})).toEqual(["joined"]);
  });

  test("joins what a person began if it is sickness: a drain that is stuck is escalated, once", () => {
    const begun = anAction("deletion-a-uid");
    const { commands } = meeting(asked("a", { termination: "Forceful" }), begun);
    expect(commands).toMatchObject([
      { spec: { joined: [{ action: "Repair" }], deadline: "2026-01-01T01:00:00Z", termination: "Forceful" } },
    ]);
    const [command] = commands as Extract<Command, { kind: "update-action" }>[];
    const after = { ...begun, spec: { ...begun.spec, ...command?.spec } };
    expect(codes(meeting(asked("a", { termination: "Forceful" }), after))).toEqual(["node/a already-going"]);
    expect(codes(meeting(asked("a", { action: "GarbageCollection" }), begun))).toEqual(["node/a already-going"]);
  });

  test("joins a gentle repair if it is one by force: evidence added, the end nearer, once", () => {
    const gentle = anAction("repair-a-uid", { spec: { action: "Repair", termination: "Graceful" } });
    const { commands, notices } = meeting(asked("a", { termination: "Forceful" }), gentle);
    expect(commands).toMatchObject([
      { spec: { joined: [{ action: "Repair" }], deadline: "2026-01-01T01:00:00Z", termination: "Forceful" } },
    ]);
    expect(notices).toEqual([]);
    const [command] = commands as Extract<Command, { kind: "update-action" }>[];
    const after = { ...gentle, spec: { ...gentle.spec, ...command?.spec } };
    expect(codes(meeting(asked("a", { termination: "Forceful" }), after))).toEqual(["node/a already-going"]);
    const disk = [{ kind: "Condition", conditionType: "Disk", conditionStatus: "True" }] as const;
    const sick = (termination: "Forceful" | "Graceful") => asked("a", { termination, evidence: disk });
    expect(codes(meeting(sick("Graceful"), gentle))).toEqual(["node/a already-going"]);
    const sooner = { ...gentle, spec: { ...gentle.spec, deadline: "2026-01-01T00:59:59Z" } };
    expect(codes(meeting(sick("Forceful"), sooner))).toEqual(["node/a already-going"]);
  });

  test("joins a gentle repair if its kubelet is silent: gently, with the evidence alone, once", () => {
    const gentle = anAction("repair-a-uid", { spec: { action: "Repair", termination: "Graceful" } });
    const evidence = [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" }] as const;
    const silent = asked("a", { termination: "Graceful", evidence });
    const [command] = meeting(silent, gentle).commands as Extract<Command, { kind: "update-action" }>[];
    expect(command).toMatchObject({ looksFirst: true, spec: { joined: [{ action: "Repair", evidence }] } });
    expect(Object.keys(command?.spec ?? {})).toEqual(["joined"]);
    const after = { ...gentle, spec: { ...gentle.spec, ...command?.spec } };
    expect(codes(meeting(silent, after))).toEqual(["node/a already-going"]);
  });

  test("does not join until a live look that failed may be repeated: one ms before, at its time", () => {
    const met = (retryAt: number, action: "Repair" | "Expiration" = "Repair") => {
      const failure = { at: at("1h"), retryAt, count: 1, reason: "Repair", message: "the kubelet is alive" };
      return meeting(asked("a", { action }), running(), { world: { failures: { "join/drift-a-uid": failure } } });
    };
    expect(met(now + 1)).toMatchObject({ commands: [], wakeAt: now + 1 });
    expect(met(now + 1).refusals).toMatchObject([
      {
        code: "tried-before",
        message:
          "Repair did not join NodeAction drift-a-uid: the kubelet is alive; not tried again before 2026-01-01T02:00:00Z.",
        until: now + 1,
      },
    ]);
    expect(met(now).commands).toHaveLength(1);
    expect(met(now + 1, "Expiration").commands).toHaveLength(1);
  });

  test("keeps those that joined before", () => {
    const joined = [
      {
        action: "Expiration" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: "2026-01-01T00:00:00Z",
        message: "",
        evidence: [],
      },
    ];
    const { commands } = meeting(asked("a"), running({ spec: { action: "Drift", joined } }));
    expect(commands).toMatchObject([{ spec: { joined: [{ action: "Expiration" }, { action: "Repair" }] } }]);
  });

  test.each([
    ["the same reason", "Drift"],
    ["a lower one", "Emptiness"],
  ] as const)("is told so if it is %s", (_name, action) => {
    const decision = meeting(asked("a", { action }));
    expect(decision.commands).toEqual([]);
    expect(decision.refusals).toMatchObject([
      { code: "already-going", message: "Node a is under Drift (NodeAction drift-a-uid)." },
    ]);
  });

  test("is told so if the same reason has joined before", () => {
    const joined = [
      {
        action: "Repair" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: "2026-01-01T00:00:00Z",
        message: "",
        evidence: asked("a").proposal.evidence.map(seen => ({ ...seen, seenAt: "2026-01-01T00:00:00Z" })),
      },
    ];
    expect(codes(meeting(asked("a"), running({ spec: { action: "Drift", joined } })))).toEqual([
      "node/a already-going",
    ]);
  });

  test("waits until the action is really there", () => {
    const provisional = running({ isProvisional: true, uid: "", resourceVersion: "" });
    expect(meeting(asked("a"), provisional).refusals).toMatchObject([
      { code: "already-going", message: "Node a is under Drift (NodeAction drift-a-uid), which is being written." },
    ]);
  });

  test("spends no cap: the node is counted already", () => {
    const decision = meeting(asked("a"), running(), {
      safety: { caps: { repair: { cluster: 0 }, all: { cluster: 0 } } },
    });
    expect(kinds(decision)).toEqual(["update-action"]);
  });

  test.each<[string, Scene, string]>([
    ["a freeze", { safety: { freeze: { reason: "audit" } } }, "frozen"],
    [
      "what is remembered",
      { gates: { vetoes: [() => ({ code: "correlated-failure", message: "", liftedBy: "" })] } },
      "correlated-failure",
    ],
  ])("is held by %s all the same: it could turn a drain into force", (_name, scene, code) => {
    expect(codes(meeting(asked("a"), running(), scene))).toEqual([`node/a ${code}`]);
  });
});

describe("a dry run", () => {
  const record = (more: Parameters<typeof anAction>[1] = {}) =>
    anAction("repair-a-uid-dry-run", {
      phase: "DryRun",
      ...more,
      spec: { action: "Repair", dryRun: true, ...more.spec },
    });

  test.each<[string, Scene, Candidate, string]>([
    ["by flag", { settings: { dryRun: true } }, asked("a"), "the controller runs with --dry-run"],
    ["by policy", { safety: { dryRun: true } }, asked("a"), "SafetyPolicy default has spec.dryRun"],
    [
      "by pool",
      { world: { pools: [aPool("web", { spec: { dryRun: true } })] } },
      asked("a"),
      "NodePool web has spec.dryRun",
    ],
    ["by whoever asks", {}, asked("a", { dryRun: true }), "NodePool web asks for a dry run"],
  ])("%s makes the same decision, written as such and never carried out", (_name, scene, candidate, word) => {
    const decision = decide([candidate], scene);
    expect(decision.commands).toMatchObject([
      { kind: "open-action", name: "repair-a-uid-dry-run", phase: "DryRun", spec: { dryRun: true, action: "Repair" } },
    ]);
    expect(decision.refusals).toMatchObject([
      { code: "dry-run", message: `Repair would begin, but is only shown, because ${word}: Repair of a.` },
    ]);
  });

  test("holds a person's delete too where everything is only shown", () => {
    const world = { nodes: [aNode("a")], claims: [aClaim("a", { deletingSince: at("1h") })] };
    expect(opened(decide([deleted("a")], { world, settings: { dryRun: true } }))).toEqual(["deletion-a-uid-dry-run"]);
  });

  test("is written once, and stands while it is asked for", () => {
    const decision = decide([asked("a", { dryRun: true })], { world: { actions: [record()] } });
    expect([decision.commands, codes(decision)]).toEqual([[], ["node/a dry-run"]]);
  });

  test("ends when nobody asks for it any more, or for real", () => {
    const closed = {
      kind: "update-action",
      action: { name: "repair-a-uid-dry-run" },
      progress: { phase: "Abandoned" },
    };
    expect(decide([], { world: { actions: [record()] } }).commands).toMatchObject([closed]);
    const decision = decide([asked("a")], { world: { actions: [record()] } });
    expect(decision.commands).toMatchObject([{ kind: "open-action", name: "repair-a-uid", phase: "Pending" }, closed]);
  });

  test("is not ended twice, nor before it is really there", () => {
    const over = record({ phase: "Abandoned" });
    const provisional = record({ isProvisional: true });
    expect(decide([], { world: { actions: [over] } }).commands).toEqual([]);
    expect(decide([], { world: { actions: [provisional] } }).commands).toEqual([]);
  });

  test("holds back nothing that is meant, and counts nowhere", () => {
    const decision = decide([asked("a", { dryRun: true }), asked("a", { action: "Drift" }), asked("b")]);
    expect(opened(decision)).toEqual(["repair-b-uid", "drift-a-uid"]);
    // The one place that the caps leave is taken by what is meant.
    expect(codes(decision)).toEqual(["node/a cap-spent"]);
  });

  test("counts among the shown: as many would begin as could", () => {
    const decision = decide([asked("a"), asked("b")], { settings: { dryRun: true } });
    expect(codes(decision)).toEqual(["node/a dry-run", "node/b cap-spent"]);
  });
});

describe("of several limits that are spent", () => {
  const place = { kind: "NodePool", name: "web" };
  const limit = (what: string, frees: readonly number[]): Limit => ({
    role: "budget",
    place,
    what,
    allowed: 1,
    counted: 1,
    frees,
    applies: () => true,
  });
  const told = (...limits: Limit[]) => decide([asked("a")], { gates: { limits } }).refusals[0]?.message.split(";")[0];

  test("the one that lasts longest is told, an unknown end being the longest", () => {
    const soon = limit("soon", [at("3h")]);
    const late = limit("late", [at("4h")]);
    const open = limit("open", []);
    expect([told(soon, late), told(late, soon)]).toEqual(["1 node is late", "1 node is late"]);
    expect([told(open, late), told(soon, open, late)]).toEqual(["1 node is open", "1 node is open"]);
  });

  test("the least room of the budgets that allow it is written, beside the caps", () => {
    const limits = [
      { ...limit("x", []), allowed: 9 },
      { ...limit("x", []), allowed: 3, place: { kind: "NodePool", name: "db" } },
    ];
    const { commands } = decide([asked("a")], { gates: { limits } });
    expect(commands).toMatchObject([{ spec: { budget: { kind: "NodePool", name: "db", allowed: 3, counted: 1 } } }]);
  });
});

describe("the next look", () => {
  test("is at the first instant at which something that was refused may be otherwise", () => {
    const decision = decide([asked("a", { dueAt: at("5h") }), asked("b", { dueAt: at("4h") })], { safety: free });
    expect(decision.wakeAt).toBe(at("4h"));
  });

  test("what was decided stands until then", () => {
    const proposals = [asked("a", { dueAt: at("5h") }), asked("b"), asked("c")];
    expect(decide(proposals, { at: at("4h59m59.999s") })).toEqual(decide(proposals));
  });
});

describe("two reasons of one plan", () => {
  const ofPlan = (action: Proposal["action"]): Candidate => ({ ...asked("a", { action }), rule: "disruption" });
  const both = [ofPlan("Emptiness"), ofPlan("Drift")];
  const spent = (action: Proposal["action"]): Gates => ({
    limits: [
      {
        role: "budget",
        place: { kind: "NodePool", name: "web", path: "spec.disruption.budgets[0]" },
        what: "going away",
        allowed: 1,
        counted: 1,
        frees: [],
        applies: proposal => proposal.action === action,
      },
    ],
  });

  test("the higher has the node, and of the other nothing is said", () => {
    const decision = decide(both);
    expect([opened(decision), codes(decision)]).toEqual([["drift-a-uid"], []]);
  });

  test("where its budget is spent the lower one goes, and the budget is told", () => {
    const decision = decide(both, { gates: spent("Drift") });
    expect([opened(decision), codes(decision)]).toEqual([["emptiness-a-uid"], ["node/a budget-spent"]]);
  });

  test("but what repairs keeps its node while it waits for room", () => {
    const decision = decide([asked("a"), ofPlan("Drift")], { gates: spent("Repair") });
    expect([opened(decision), codes(decision)]).toEqual([[], ["node/a budget-spent", "node/a outranked"]]);
  });
});
