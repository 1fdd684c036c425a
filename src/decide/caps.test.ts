import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aSafetyPolicy, at, aWorld, t0 } from "../../test/builders.ts";
import type { NodeActionSpec, NodeActionStatus, Phase } from "../api/node-action.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import { formatTime } from "../api/time.ts";
import { capLimits, freeAt, goneInRepairWindow, type Limit, longestWindow } from "./caps.ts";
import type { Context, Proposal } from "./decision.ts";
import { precedence } from "./precedence.ts";

const now = at("10h");
type Caps = NonNullable<SafetyPolicySpec["caps"]>;

type Cluster = { caps?: Caps; nodes?: number; actions?: ReturnType<typeof anAction>[]; deleting?: readonly string[] };

/** Nodes n0, n1 … the even ones in zone z0, the odd ones in z1. */
function context({ caps = {}, nodes = 20, actions = [], deleting = [] }: Cluster): Context {
  const names = Array.from({ length: nodes }, (_, index) => `n${index}`);
  const isDeleting = (name: string) => (deleting.includes(name) ? { deletingSince: t0 } : {});
  const picture = aWorld({
    nodes: names.map(name => aNode(name, isDeleting(name))),
    claims: names.map((name, index) => aClaim(name, { zone: `z${index % 2}` })),
    actions,
    safety: aSafetyPolicy({ caps }),
  });
  return { picture, now, settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" }, epoch: 1 };
}

function proposal(action: Proposal["action"]): Proposal {
  return {
    node: { name: "n0", uid: "n0-uid" },
    action,
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "web" },
    message: "",
    evidence: [],
    dueAt: t0,
  };
}

const action = (node: string, of: NodeActionSpec["action"], phase: Phase = "Running", status: NodeActionStatus = {}) =>
  anAction(`${of}-${node}-${phase}`, { node, phase, spec: { action: of }, status });

const gone = (node: string, of: NodeActionSpec["action"], agoMs: number, phase: Phase = "Done", started = true) =>
  action(node, of, phase, { finishedAt: formatTime(now - agoMs), ...(started ? { startedAt: formatTime(t0) } : {}) });

const only = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } };
const show = ({ place, allowed, counted }: Limit) => `${place.path?.slice("spec.caps.".length)} ${counted}/${allowed}`;
const inZ0 = { actions: new Set(precedence), zones: new Set(["z0"]) };
const shown = (cluster: Cluster) => capLimits(inZ0, context(cluster)).map(show);

test("by default repair may take 10 % of the cluster, 20 % of a zone, 20 % of the cluster an hour, rounded up", () => {
  expect(shown({ nodes: 21 })).toEqual(["repair.cluster 0/3", "repair.zone 0/3", "repair.perWindow 0/5"]);
  expect(shown({ nodes: 1 })).toEqual(["repair.cluster 0/1", "repair.zone 0/1", "repair.perWindow 0/1"]);
});

test("there is a limit for each zone that is asked about, and none for nodes without one", () => {
  const ofZones = (...zones: string[]) =>
    capLimits({ ...inZ0, zones: new Set(zones) }, context({})).filter(
      ({ place }) => place.path === "spec.caps.repair.zone",
    );
  expect(ofZones("z0", "z1").map(({ zone, what }) => `${zone}: ${what}`)).toEqual([
    "z0: going away by repair or remediation in zone z0",
    "z1: going away by repair or remediation in zone z1",
  ]);
  expect(ofZones()).toEqual([]);
});

test("a cap that holds none of what is asked for is not looked at", () => {
  const caps: Caps = { repair: only, disruption: only, all: only };
  const paths = (...actions: Proposal["action"][]) =>
    capLimits({ actions: new Set(actions), zones: new Set() }, context({ caps })).map(
      ({ place }) => place.path?.split(".")[2],
    );
  expect([...new Set(paths("Drift"))]).toEqual(["disruption", "all"]);
  expect([...new Set(paths("ScaleDown", "Repair"))]).toEqual(["repair", "all"]);
  expect(paths()).toEqual([]);
});

describe("what counts now", () => {
  const caps: Caps = { repair: only, disruption: only, all: only };
  const actions = [
    action("n0", "Repair"),
    action("n1", "Remediation", "Pending"),
    action("n2", "Drift", "WaitingForReplacement"),
    action("n3", "Deletion"),
    action("n4", "ScaleDown"),
    action("n5", "Repair", "DryRun"),
    action("n6", "Emptiness", "Done"),
  ];
  const counted = Object.fromEntries(
    capLimits(inZ0, context({ caps, actions, deleting: ["n7", "n3"] })).map(limit => [limit.place.path, limit.counted]),
  );

  test.each([
    ["repair and remediation for repair", "spec.caps.repair.cluster", 2],
    ["in the zone alone", "spec.caps.repair.zone", 1],
    ["the planned for disruption", "spec.caps.disruption.cluster", 1],
    ["each node once for all, also one that somebody deleted without a word", "spec.caps.all.cluster", 6],
    ["the same by zone", "spec.caps.all.zone", 3],
  ])("%s", (_name, path, expected) => expect(counted[path]).toBe(expected));
});

test.each([
  ["Repair", "repair all"],
  ["Remediation", "repair all"],
  ["Drift", "disruption all"],
  ["GarbageCollection", "all"],
  ["ScaleDown", "all"],
] as const)("%s is held by the caps of %s", (of, expected) => {
  const caps: Caps = { repair: only, disruption: only, all: only };
  const holding = capLimits(inZ0, context({ caps })).filter(limit => limit.applies(proposal(of)));
  expect([...new Set(holding.map(({ place }) => place.path?.split(".")[2]))].join(" ")).toBe(expected);
});

describe("a window", () => {
  const hour = 3_600_000;
  const caps: Caps = { repair: { perWindow: { nodes: 3, duration: "1h" } } };
  const window = (...actions: ReturnType<typeof anAction>[]) =>
    capLimits(inZ0, context({ caps, actions })).find(({ place }) => place.path?.endsWith("perWindow")) as Limit;

  test.each([
    ["a node that went half an hour ago", [gone("n0", "Repair", hour / 2)], 1],
    ["one that goes", [action("n0", "Repair")], 1],
    ["one that went and one that goes", [gone("n0", "Repair", 1_000), action("n1", "Remediation")], 2],
    ["one that failed", [gone("n0", "Repair", 1_000, "Failed")], 1],
    ["one that was given up half-way", [gone("n0", "Repair", 1_000, "Abandoned")], 1],
    ["none that was given up before it began", [gone("n0", "Repair", 1_000, "Abandoned", false)], 0],
    ["none of another class", [gone("n0", "Drift", 1_000)], 0],
    ["a node once, however often", [gone("n0", "Repair", 9_000), action("n0", "Repair")], 1],
    // Times are whole seconds rounded down: it may have been 999 ms later than it says.
    ["one that went an hour ago", [gone("n0", "Repair", hour)], 1],
    ["none that went an hour and a second ago", [gone("n0", "Repair", hour + 1_000)], 0],
  ])("counts %s", (_name, actions, expected) => expect(window(...actions).counted).toBe(expected));

  test("says when a place becomes free, counting what was granted since", () => {
    const limit = window(gone("n0", "Repair", hour / 2), gone("n1", "Repair", hour / 4), action("n2", "Repair"));
    expect(limit.counted).toBe(3);
    expect(freeAt(limit, 0)).toBe(now + hour / 2 + 1_000);
    expect(freeAt(limit, 1)).toBe(now + (hour * 3) / 4 + 1_000);
    // The third is still going.
    expect(freeAt(limit, 2)).toBeUndefined();
    expect(freeAt({ ...limit, allowed: 0 }, 0)).toBeUndefined();
    // Where the limit itself ends, that is when one more fits, however much is counted.
    expect(freeAt({ ...limit, allowed: 0, changesAt: now + 1 }, 5)).toBe(now + 1);
    expect(freeAt({ ...limit, changesAt: now + hour }, 0)).toBe(now + hour / 2 + 1_000);
  });

  test("that counts a node already does not hold the same node again: a reboot did not heal it, and it goes", () => {
    const limit = window(gone("n0", "Repair", 1_000, "Failed"), gone("n1", "Repair", 1_000));
    const other = { ...proposal("Repair"), node: { name: "n2", uid: "n2-uid" } };
    expect([limit.counted, limit.applies(proposal("Repair")), limit.applies(other)]).toEqual([2, false, true]);
  });

  test("shows the policy's status how many went", () => {
    const actions = [gone("n0", "Repair", 1_000), gone("n1", "Drift", 1_000), action("n2", "Repair")];
    expect(goneInRepairWindow(context({ caps, actions }))).toEqual([now + hour]);
  });

  test("that is longest says how long finished actions are needed", () => {
    expect(longestWindow(context({ caps: { ...caps, all: { perWindow: { nodes: 1, duration: "48h" } } } }))).toBe(
      48 * hour + 1_000,
    );
  });
});

test("what cannot be read allows nothing", () => {
  expect(shown({ caps: { repair: { cluster: "many", zone: "100%", perWindow: { nodes: "100%" } } } })[0]).toBe(
    "repair.cluster 0/0",
  );
});
