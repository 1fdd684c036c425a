import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  anAction,
  aNode,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { NodeActionStatus } from "../api/node-action.ts";
import { formatTime } from "../api/time.ts";
import { cordonedByKey } from "../api/well-known.ts";
import type { FailureView } from "../snapshot/picture.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
import { ledgerRule } from "./actions.ts";
import type { Command, Context, Decision } from "./decision.ts";
import { rebootRule } from "./reboot.ts";

const deadlock = aCondition("KernelDeadlock", "True");
const ready = aCondition("Ready", "True");
const ours = { annotations: { [cordonedByKey]: "x" }, isCordoned: true };
const sick = (more: Partial<NodeView> = {}) => aNode("a", { bootID: "1", conditions: [ready, deadlock], ...more });
const well = (more: Partial<NodeView> = {}) => aNode("a", { bootID: "2", conditions: [ready], ...more });

type Steps = NonNullable<NodeActionStatus["steps"]>;
/** Those that are over, and the one that runs. */
function steps(over: readonly string[], running?: string): Steps {
  const startedAt = formatTime(t0);
  const finished = over.map(name => ({ name, startedAt, finishedAt: startedAt }));
  return running === undefined ? finished : [...finished, { name: running, startedAt }];
}

type Options = NonNullable<Parameters<typeof anAction>[1]>;
/** Begun at t0, for a kernel that hangs, with ten minutes to heal it. */
function aReboot(options: Options = {}): ActionView {
  return anAction("x", {
    ...options,
    spec: {
      action: "Repair",
      method: "Reboot",
      askedBy: { kind: "NodePool", name: "web" },
      message: "Node a is sick.",
      evidence: [
        { kind: "Condition", conditionType: "KernelDeadlock", conditionStatus: "True", seenAt: formatTime(t0) },
      ],
      timeout: "10m",
      ...options.spec,
    },
    status: { startedAt: formatTime(t0), bootID: "1", ...options.status },
  });
}

function contextOf(world: WorldOptions, now = at("1m")): Context {
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  return { picture: aWorld({ claims: [aClaim("a")], ...world }), now, settings, epoch: 1 };
}
type Seen = Omit<WorldOptions, "now"> & { action?: ActionView; node?: NodeView; now?: number };
function decide({ action = aReboot(), node = sick(), now, ...world }: Seen = {}): Decision {
  return rebootRule.decide("x", contextOf({ nodes: [node], actions: [action], ...world }, now));
}

const kinds = ({ commands }: Decision) => commands.map(({ kind }) => kind);
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);
const written = ({ commands }: Decision) =>
  commands.flatMap(command => (command.kind === "update-action" ? (command.progress ?? []) : []))[0];
const cordon: Command = {
  kind: "update-node",
  node: { name: "a", uid: "a-uid" },
  change: { isCordoned: true, annotations: { [cordonedByKey]: "x" } },
  why: "Nothing new is to start on node a while it is rebooted.",
};
const asking: Command = {
  kind: "reboot-instance",
  action: { name: "x", uid: "x-action-uid" },
  node: { name: "a", uid: "a-uid" },
  providerID: "test:///a",
  bootID: "1",
  why: "Node a is sick.",
};

describe("a reboot goes step by step:", () => {
  test("the node is cordoned, and the node says by whom", () => {
    expect(decide()).toMatchObject({
      commands: [cordon, { kind: "update-action", progress: { steps: [{ name: "cordon", isFinished: false }] } }],
      refusals: [],
      wakeAt: at("10m"),
    });
  });

  test.each<[string, Seen]>([
    ["ours", { node: sick(ours) }],
    ["somebody else's, which is left to them", { node: sick({ isCordoned: true }) }],
    [
      "lifted by somebody since, who knows why",
      { action: aReboot({ status: { steps: steps(["cordon"], "reboot") } }) },
    ],
  ])("once the cordon is %s, the provider is asked", (_, seen) => {
    const decision = decide(seen);
    expect(decision.commands[0]).toEqual(asking);
    expect(kinds(decision)).not.toContain("update-node");
    expect(decision).toMatchObject({ refusals: [], notices: [], wakeAt: at("10m") });
  });

  test("once it is asked for, it waits for another boot id", () => {
    const asked = aReboot({ status: { steps: steps(["cordon", "reboot"]) } });
    const decision = decide({ action: asked, node: sick(ours) });
    expect(kinds(decision)).toEqual(["update-action"]);
    expect(codes(decision)).toEqual(["not-rebooted"]);
    expect(decision.refusals[0]).toMatchObject({ subject: "action/x", until: at("10m") });
    expect(written(decision)).toMatchObject({ waitingFor: { reason: "NotRebooted", until: at("10m") } });
  });

  test.each<[string, readonly ReturnType<typeof aCondition>[], string]>([
    ["is not Ready", [aCondition("Ready", "False")], "has Ready=False"],
    ["says nothing of Ready", [], "says nothing of Ready"],
    ["has what it was rebooted for", [ready, deadlock], "still has KernelDeadlock=True"],
  ])("after another boot it waits while the node %s", (_, conditions, sentence) => {
    const decision = decide({ node: sick({ ...ours, bootID: "2", conditions }) });
    expect(codes(decision)).toEqual(["not-recovered"]);
    expect(decision.refusals[0]?.message).toContain(sentence);
    expect(kinds(decision)).toEqual(["update-action"]);
  });

  test("the cordon is lifted before the action is over, and written down before it is lifted", () => {
    const action = aReboot({ status: { steps: steps(["cordon", "reboot"], "recover") } });
    const decision = decide({ action, node: well(ours) });
    expect(kinds(decision)).toEqual(["update-action"]);
    expect(written(decision)).toMatchObject({
      steps: expect.arrayContaining([{ name: "uncordon", isFinished: false }]),
    });
    expect(written(decision)?.phase).toBeUndefined();
    const told = aReboot({ status: { steps: steps(["cordon", "reboot", "recover"], "uncordon") } });
    expect(decide({ action: told, node: well(ours) }).commands).toMatchObject([
      { kind: "update-node", change: { isCordoned: false, annotations: { [cordonedByKey]: null } } },
    ]);
  });

  test("then it is done", () => {
    const action = aReboot({ status: { steps: steps(["cordon", "reboot", "recover"], "uncordon") } });
    const decision = decide({ action, node: well() });
    expect(written(decision)).toEqual({
      phase: "Done",
      outcome: "Node a was rebooted and has recovered.",
      steps: ["cordon", "reboot", "recover", "uncordon"].map(name => ({ name, isFinished: true })),
      waitingFor: null,
    });
    expect(decision.notices).toMatchObject([{ reason: "NodeRebootHealed", type: "Normal", about: { name: "a" } }]);
  });

  test("a cordon of somebody else stays", () => {
    const decision = decide({ node: well({ isCordoned: true }) });
    expect(kinds(decision)).toEqual(["update-action"]);
    expect(written(decision)).toMatchObject({ phase: "Done" });
  });

  test("what is written is not written again", () => {
    const waitingFor = {
      reason: "NotRebooted",
      message: "Node a has not come back from its reboot: its boot id is still 1.",
      since: formatTime(t0),
      until: formatTime(at("10m")),
    };
    const action = aReboot({ status: { steps: steps(["cordon", "reboot"], "recover"), waitingFor } });
    expect(decide({ action, node: sick(ours) }).commands).toEqual([]);
  });
});

describe("a restarted controller", () => {
  test("that finds another boot id does not ask for a second reboot", () => {
    expect(kinds(decide({ node: sick({ ...ours, bootID: "2" }) }))).toEqual(["update-action"]);
  });

  test("that finds the old one asks again: the provider knows whether it was asked before", () => {
    expect(decide({ node: sick(ours) }).commands[0]).toEqual(asking);
  });

  test("waits until the action is its own", () => {
    expect(decide({ action: aReboot({ spec: { epoch: 0 } }) })).toMatchObject({ commands: [], refusals: [] });
  });
});

describe("a node that is well", () => {
  const recovered = (more: Partial<NodeView>) => sick({ conditions: [ready], ...more });

  test("before it was rebooted is left alone", () => {
    expect(written(decide({ node: recovered({}) }))).toMatchObject({
      phase: "Done",
      outcome: "Node a has recovered, and was not seen to reboot.",
    });
  });

  test("is rebooted all the same where somebody wants it by an object of his own", () => {
    const spec = { evidence: [{ kind: "RemediationObject", seenAt: formatTime(t0) }] } as const;
    const wished = (status: Options["status"] = {}) =>
      aReboot({ spec: { ...spec, evidence: [...spec.evidence] }, status });
    const node = recovered(ours);
    expect(decide({ action: wished(), node }).commands[0]).toMatchObject({ kind: "reboot-instance" });
    const asked = wished({ steps: steps(["cordon", "reboot"]) });
    expect(written(decide({ action: asked, node, now: at("10m") - 1 }))?.phase).toBeUndefined();
    expect(written(decide({ action: asked, node: recovered({}), now: at("10m") }))).toMatchObject({ phase: "Failed" });
    expect(written(decide({ action: asked, node: recovered({ bootID: "2" }) }))).toMatchObject({ phase: "Done" });
  });

  test("before it was rebooted loses its cordon, and nothing says that it was asked to", () => {
    const action = aReboot({ status: { steps: steps(["cordon"], "reboot") } });
    const decision = decide({ action, node: recovered(ours) });
    const left = ["cordon", "reboot", "uncordon"].map(name => ({ name, isFinished: name === "cordon" }));
    expect(written(decision)?.steps).toEqual(left);
    const later = aReboot({ status: { steps: [...steps(["cordon"], "reboot"), ...steps([], "uncordon")] } });
    expect(decide({ action: later, node: recovered(ours) }).commands).toMatchObject([
      { kind: "update-node", change: { isCordoned: false } },
    ]);
    expect(written(decide({ action: later, node: recovered({}) }))).toMatchObject({
      phase: "Done",
      steps: ["cordon", "reboot", "uncordon"].map(name => ({ name, isFinished: name !== "reboot" })),
    });
  });

  test("and was asked to reboot may be about to go down: only time tells", () => {
    const action = aReboot({ status: { steps: steps(["cordon", "reboot"]) } });
    const node = recovered(ours);
    expect(codes(decide({ action, node, now: at("10m") - 1 }))).toEqual(["not-rebooted"]);
    expect(written(decide({ action, node, now: at("10m") }))?.steps).toContainEqual({
      name: "uncordon",
      isFinished: false,
    });
    expect(written(decide({ action, node: recovered({}), now: at("10m") }))).toMatchObject({ phase: "Done" });
  });
});

describe("without recovery it fails", () => {
  const asked = aReboot({ status: { steps: steps(["cordon", "reboot"]) } });

  test.each<[string, number, boolean]>([
    ["a millisecond before its time is up", at("10m") - 1, false],
    ["when its time is up", at("10m"), true],
    ["a millisecond after", at("10m") + 1, true],
  ])("%s: %s", (_, now, hasFailed) => {
    const decision = decide({ action: asked, node: sick(), now });
    expect(written(decision)?.phase).toBe(hasFailed ? "Failed" : undefined);
    expect(decision.wakeAt).toBe(hasFailed ? undefined : at("10m"));
  });

  test("and lifts its cordon first", () => {
    const decision = decide({ action: asked, node: sick(ours), now: at("10m") });
    const message =
      "It had not recovered by 2026-01-01T00:10:00Z: Node a has not come back from its reboot: its boot id is still 1.";
    expect(written(decision)?.steps).toContainEqual({ name: "uncordon", isFinished: false, message });
    expect(written(decision)?.phase).toBeUndefined();
  });

  describe("for the same cause to the end, though each write on its lane forgets what failed there:", () => {
    const startedAt = formatTime(t0);
    const lifting = (message: string) =>
      aReboot({
        status: {
          steps: [...steps(["cordon"]), { name: "reboot", startedAt }, { name: "uncordon", startedAt, message }],
        },
      });

    test("as its end was begun, so it ends", () => {
      const action = lifting("The provider refuses the reboot: no.");
      expect(kinds(decide({ action, node: sick(ours) }))).toEqual(["update-node"]);
      const decision = decide({ action, node: sick() });
      expect(written(decision)).toMatchObject({ phase: "Failed", outcome: "The provider refuses the reboot: no." });
    });

    test("but what has recovered by then is well", () => {
      expect(written(decide({ action: lifting("No."), node: well() }))).toMatchObject({ phase: "Done" });
    });

    test("a controller that came later reads it from the action", () => {
      const waitingFor = { reason: "WriteFailed", message: "The reboot could not be asked for: no.", since: startedAt };
      const action = aReboot({ status: { steps: steps(["cordon"], "reboot"), waitingFor } });
      expect(written(decide({ action, now: at("10m") }))?.outcome).toBe(
        "It had not recovered by 2026-01-01T00:10:00Z: The reboot could not be asked for: no.",
      );
    });
  });

  test("says what was missing, in an event too", () => {
    const decision = decide({ action: asked, node: sick(), now: at("10m") });
    const outcome =
      "It had not recovered by 2026-01-01T00:10:00Z: Node a has not come back from its reboot: its boot id is still 1.";
    expect(written(decision)).toMatchObject({ outcome });
    expect(decision.notices).toMatchObject([{ reason: "NodeRebootFailed", type: "Warning", message: outcome }]);
    expect(written(decide({ node: sick({ bootID: "2" }), now: at("10m") }))?.outcome).toContain("KernelDeadlock=True");
    expect(written(decide({ now: at("10m") }))?.outcome).toContain("was not rebooted");
  });

  test.each<[string, string | undefined]>([
    ["that is not given", undefined],
    ["that cannot be read", "soon"],
  ])("after ten minutes with a timeout %s", (_, timeout) => {
    const action = aReboot({ spec: timeout === undefined ? {} : { timeout } });
    expect(decide({ action }).wakeAt).toBe(at("10m"));
  });

  test("after its own timeout, counted from its start", () => {
    const action = aReboot({ spec: { timeout: "3m" }, status: { startedAt: formatTime(at("5m")) } });
    expect(decide({ action }).wakeAt).toBe(at("8m"));
    expect(written(decide({ action, now: at("8m") }))).toMatchObject({ phase: "Failed" });
  });
});

describe("what cannot be helped fails at once:", () => {
  const failure = (reason: string): FailureView => ({
    at: t0,
    retryAt: at("2m"),
    count: 1,
    reason,
    message: "I cannot reboot.",
  });

  test.each<[string, Seen, string]>([
    ["no instance", { node: sick({ providerID: "" }), claims: [aClaim("a", { providerID: "" })] }, "has no providerID"],
    ["the instance is gone", { instances: [{ providerID: "test:///a", state: "gone", seenAt: t0 }] }, "is gone"],
    ["a provider that cannot", { failures: { "action/x": failure("NotSupported") } }, "I cannot reboot."],
    ["a request that makes no sense", { failures: { "action/x": failure("Invalid") } }, "I cannot reboot."],
    ["no boot id before it", { action: { ...aReboot(), status: { phase: "Running" } } }, "names no boot id"],
  ])("%s", (_, seen, sentence) => {
    const decision = decide(seen);
    expect(written(decision)).toMatchObject({ phase: "Failed", outcome: expect.stringContaining(sentence) });
    expect(kinds(decision)).toEqual(["update-action"]);
  });

  test("but a provider that only has no time is asked again", () => {
    const decision = decide({ node: sick(ours), failures: { "action/x": failure("Throttled") } });
    expect(decision.commands[0]).toEqual(asking);
    expect(decision.refusals).toMatchObject([{ code: "write-failed", until: at("2m") }]);
    expect(decision.refusals[0]?.message).toBe("The reboot could not be asked for: I cannot reboot.");
    expect(decision.wakeAt).toBe(at("2m"));
  });

  test("that it was refused is told once, though each answer names another request: with each write it would be asked at once", () => {
    const told = (message: string) =>
      aReboot({
        status: {
          steps: steps(["cordon"], "reboot"),
          waitingFor: { reason: "WriteFailed", message, since: formatTime(t0) },
        },
      });
    const failures = { "action/x": { ...failure("Unknown"), message: "request 2 failed" } };
    const again = (action: ActionView) => kinds(decide({ action, node: sick(ours), failures }));
    expect(again(told("The reboot could not be asked for: request 1 failed"))).toEqual(["reboot-instance"]);
    expect(again(told("The node could not be written: request 1 failed"))).toEqual([
      "reboot-instance",
      "update-action",
    ]);
  });

  test("so is a cordon that could not be written, or lifted", () => {
    const failures = { "node/a": failure("InternalError") };
    expect(codes(decide({ failures }))).toEqual(["write-failed"]);
    expect(decide({ failures, node: well(ours) })).toMatchObject({
      refusals: [{ code: "write-failed", message: "The node could not be written: I cannot reboot." }],
      wakeAt: at("2m"),
    });
  });
});

describe("it leaves to others", () => {
  const quiet = { commands: [], proposals: [], refusals: [], notices: [], wakeAt: undefined };

  test.each<[string, Seen]>([
    ["a claim that is being deleted: its termination", { claims: [aClaim("a", { deletingSince: t0 })] }],
    ["a claim that is gone: the ledger", { claims: [] }],
    ["a claim of the same name that is another one", { claims: [aClaim("a", { uid: "other" })] }],
    ["a node that is gone", { nodes: [] }],
    ["one that has not begun", { action: aReboot({ phase: "Pending" }) }],
    ["one that is over", { action: aReboot({ phase: "Failed" }) }],
    ["one that is only shown", { action: aReboot({ spec: { dryRun: true } }) }],
    ["a termination", { action: aReboot({ spec: { method: "Terminate" } }) }],
    ["everything while the picture is stale", { staleness: { resource: "nodes", message: "silent" } }],
  ])("%s", (_, seen) => expect(decide(seen)).toEqual(quiet));

  test("a node that somebody deletes: the reboot ends, and the deletion takes its way", () => {
    const decision = decide({ node: sick({ ...ours, deletingSince: at("30s") }) });
    expect(written(decision)).toMatchObject({
      phase: "Abandoned",
      outcome: "Node a was deleted at 2026-01-01T00:00:30Z.",
    });
    expect(kinds(decision)).toEqual(["update-action"]);
  });
});

test("a node without a claim is rebooted by its own providerID", () => {
  const { claim: _, ...spec } = aReboot().spec;
  const decision = decide({ action: { ...aReboot(), spec }, node: sick(ours), claims: [] });
  expect(decision.commands[0]).toMatchObject({ kind: "reboot-instance", providerID: "test:///a" });
});

test("a freeze holds a reboot that is only written down, and none that has begun", () => {
  const safety = aSafetyPolicy({ freeze: { reason: "holidays", scope: "Everything" } });
  const ledger = (action: ActionView) =>
    ledgerRule.decide("x", contextOf({ nodes: [sick()], actions: [action], safety }));
  expect(codes(ledger({ ...aReboot(), status: { phase: "Pending" } }))).toEqual(["frozen"]);
  expect(ledger(aReboot())).toMatchObject({ commands: [], refusals: [] });
  expect(decide({ safety }).commands[0]).toEqual(cordon);
});

test("what is decided stands until its wakeAt", () => {
  const scenes: Seen[] = [
    {},
    { node: sick(ours) },
    { node: sick({ ...ours, bootID: "2" }) },
    { action: aReboot({ status: { steps: steps(["cordon", "reboot"]) } }) },
    { node: well(ours) },
    { node: well() },
  ];
  for (const scene of scenes) {
    const first = decide({ ...scene, now: at("1m") });
    const until = first.wakeAt ?? at("9h");
    for (const now of [at("1m") + 1, at("5m"), until - 1]) expect(decide({ ...scene, now })).toEqual(first);
  }
});
