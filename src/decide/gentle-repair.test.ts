import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPod, at, aWorld, t0, type WorldOptions } from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import type { Placement } from "../snapshot/placement.ts";
import type { ActionView } from "../snapshot/views.ts";
import { ledgerRule } from "./actions.ts";
import type { Context, Decision } from "./decision.ts";

function repair(more: Partial<ActionView["spec"]> = {}, status: Partial<ActionView["status"]> = {}): ActionView {
  return anAction("x", {
    phase: "Pending",
    status,
    spec: {
      action: "Repair",
      termination: "Graceful",
      askedBy: { kind: "NodePool", name: "web" },
      message: "Node a is sick.",
      evidence: [{ kind: "Age", seenAt: formatTime(t0) }],
      epoch: 2,
      ...more,
    },
  });
}

type Scene = {
  action?: ActionView;
  world?: WorldOptions;
  /** Of the pod p on node a. */
  placement?: Placement;
  now?: number;
  findsPlaces?: boolean;
};

function decide({ action = repair(), world, placement, now = at("30s"), findsPlaces = true }: Scene = {}): Decision {
  const picture = aWorld({
    nodes: [aNode("a", { ready: "False" })],
    claims: [aClaim("a")],
    pods: [aPod("p", { on: "a" })],
    actions: [action],
    ...world,
  });
  const placements = new Map(placement === undefined ? [] : [["default-p-uid", placement]]);
  if (placement !== undefined) picture.settleSearch({ at: t0, placements, claims: [] });
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore", findsPlaces } as const;
  const context: Context = { picture, now, settings, epoch: 2 };
  return ledgerRule.decide("x", context);
}

const onClaim: Placement = { on: "claim", name: "r", at: t0 };
const withReplacement = (stage: "launched" | "initialized", more: Parameters<typeof aClaim>[1] = {}): WorldOptions => ({
  claims: [aClaim("a"), aClaim("r", { stage, ...more })],
});
const starts = (decision: Decision) =>
  decision.commands.flatMap(({ kind, why }) => (kind === "start-action" ? why : []));
const held = ({ refusals }: Decision) => refusals.map(({ message }) => message);

describe("a gentle repair waits", () => {
  test("for the search, a minute and no longer", () => {
    const message = "Node a stays until its pods have a place elsewhere: a place is searched for pod default/p.";
    const before = decide({ now: at("59.999s") });
    expect(before).toMatchObject({
      commands: [],
      refusals: [{ code: "places-not-ready", message, until: at("1m") }],
      wakeAt: at("1m"),
    });
    expect(starts(decide({ now: at("1m") }))).toEqual([
      "Node a is sick. It goes without waiting any longer: a place is searched for pod default/p.",
    ]);
  });

  test("for the node that its pods are to go to, as long as that may take", () => {
    const scene = { placement: onClaim, world: withReplacement("launched") };
    const message = "NodeClaim r, where pod default/p is to go, is not initialized";
    const before = decide({ ...scene, now: at("15m") - 1 });
    expect(held(before)).toEqual([`Node a stays until its pods have a place elsewhere: ${message}.`]);
    expect([before.commands, before.wakeAt]).toEqual([[], at("15m")]);
    expect(starts(decide({ ...scene, now: at("15m") }))).toEqual([
      `Node a is sick. It goes without waiting any longer: ${message}.`,
    ]);
  });
});

describe("a gentle repair starts", () => {
  test.each<[string, Scene]>([
    ["when that node is initialized", { placement: onClaim, world: withReplacement("initialized"), now: at("9m") }],
    [
      "when its pods fit on a node that is there",
      { placement: { on: "node", name: "b", at: t0 }, world: { nodes: [aNode("a", { ready: "False" }), aNode("b")] } },
    ],
    ["when nothing runs on it", { world: { pods: [] } }],
    ["when only daemons do", { world: { pods: [aPod("d", { on: "a", ownerKind: "DaemonSet", tier: "daemon" })] } }],
    ["by force", { action: repair({ termination: "Forceful" }) }],
    ["when nobody on it can be told to stop", { world: { nodes: [aNode("a", { ready: "Unknown" })] } }],
    ["when nobody searches for places", { findsPlaces: false }],
    ["when it had started", { action: repair({}, { startedAt: formatTime(t0) }) }],
    ["when somebody deletes the node", { world: { nodes: [aNode("a", { ready: "False", deletingSince: t0 })] } }],
  ])("%s", (_, scene) => expect(starts(decide(scene))).toEqual(["Node a is sick."]));

  test("without a replacement where there is none, and says so", () => {
    const placement: Placement = { on: "nothing", short: "no pool allows it.", tree: "" };
    expect(starts(decide({ placement }))).toEqual([
      "Node a is sick. It goes without a replacement: pod default/p has no place: no pool allows it.",
    ]);
  });

  test("however late its places came: its ten minutes count from then", () => {
    const conditions = aClaim("r").conditions.map(one => ({ ...one, since: at("12m") }));
    const world = withReplacement("initialized", { conditions });
    const decision = decide({ placement: onClaim, world, now: at("12m") });
    expect([starts(decision), decision.wakeAt]).toEqual([["Node a is sick."], at("22m")]);
  });
});
