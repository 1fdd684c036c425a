// Repair through the wired rules: who is looked at, what is remembered, what the arbiter grants and when.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  anAction,
  aClaim,
  aCondition,
  aNode,
  aPool,
  aSafetyPolicy,
  at,
  type WorldOptions,
} from "../../test/builders.ts";
import { Leader, pool, repairsIn } from "../../test/repair-leader.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import { doNotRepairKey } from "../api/well-known.ts";
import type { Command } from "../decide/decision.ts";
import type { NodeView } from "../snapshot/views.ts";

const t0 = at("0s");

describe("seed 000", () => {
  const since = Date.parse("2024-11-01T15:02:48Z");
  const repair = {
    defaultTolerationDuration: "30m",
    policies: [
      { conditionType: "Ready", toleration: "45m" },
      { conditionType: "NetworkUnavailable", toleration: "10m" },
    ],
  };

  test.each([
    ["NetworkUnavailable Node: eligible for repair at 15:12:48", "NetworkUnavailable", "True", "15:12:48"],
    ["NotReady Node: eligible for repair at 15:47:48", "Ready", "False", "15:47:48"],
  ])("%s", (_, type, status, time) => {
    const sick = aNode("a", { createdAt: since - minuteMs, conditions: [aCondition(type, status, { since })] });
    const leader = new Leader(
      pool(["a"], () => sick, { repair }),
      since,
    );
    const dueAt = Date.parse(`2024-11-01T${time}Z`);
    expect([leader.repairs(since), leader.codes("a")]).toEqual([[], ["tolerated"]]);
    expect(leader.turns.standing.nextAt).toBe(dueAt);
    expect(leader.repairs(dueAt - 1)).toEqual([]);
    expect(leader.repairs(dueAt)).toEqual(["a"]);
  });
});

describe("seed 001", () => {
  const registered = at("1m");
  const claim = aClaim("a", { pool: "web", stage: "registered", createdAt: at("0s"), spec: { readinessTTL: "30m" } });
  const since = (condition: (typeof claim.conditions)[number]) => ({ ...condition, since: registered });
  const young = { ...claim, conditions: claim.conditions.map(since) };
  const world = {
    pools: [aPool("web")],
    claims: [young],
    nodes: [aNode("a", { createdAt: registered, ready: "Unknown", since: registered })],
  };

  test("Normal Flow (Node Becomes Ready in Time)", () => {
    const leader = new Leader(world, registered);
    expect(leader.repairs(registered)).toEqual([]);
    leader.show(aNode("a", { createdAt: registered, since: at("25m") }), at("25m"));
    const [first] = leader.turn(at("25m")).filter(({ kind }) => kind === "update-claim");
    expect(first).toMatchObject({ status: { firstReadyTime: "2026-01-01T00:25:00Z" } });
    expect([leader.repairs(at("31m")), leader.codes("a")]).toEqual([[], []]);
  });

  test("Timeout Flow (Node Doesn't Become Ready)", () => {
    const leader = new Leader(world, registered);
    expect(leader.repairs(registered)).toEqual([]);
    expect(leader.repairs(at("31m") - 1)).toEqual([]);
    expect([leader.repairs(at("31m")), leader.codes("a")]).toEqual([[], ["settling"]]);
    expect([leader.repairs(at("31m10s") - 1), leader.repairs(at("31m10s"))]).toEqual([[], ["a"]]);
  });
});

describe("a leader that follows another", () => {
  const names = ["a", "b", "c"];

  test("remembers what it saw while it waited: a time that is written too early gains nothing", () => {
    const leader = new Leader(
      pool(names, name => aNode(name)),
      at("1h"),
    );
    leader.turns.end();
    leader.show(aNode("a", { ready: "Unknown", since: at("10m") }), at("2h"));
    leader.turns.askAll(at("2h1m"));
    expect([leader.repairs(at("2h1m")), leader.codes("a")]).toEqual([[], ["tolerated"]]);
    expect([leader.repairs(at("2h30m") - 1), leader.repairs(at("2h30m"))]).toEqual([[], ["a"]]);
  });

  test("forgets nodes that went meanwhile: they neither fill the pool nor brake it", () => {
    const leader = new Leader(
      pool(names, name => aNode(name, { ready: "Unknown", since: at("0s") })),
      at("1h"),
    );
    expect([leader.repairs(at("1h10s")), leader.codes("a")]).toEqual([[], ["pool-too-unhealthy"]]);
    leader.turns.end();
    for (const name of ["b", "c"]) {
      const node = leader.picture.node(name);
      const claim = leader.picture.claim(name);
      if (claim !== undefined) leader.picture.remove("claim", claim);
      if (node !== undefined) leader.picture.remove("node", node);
    }
    leader.picture.takeDirty();
    leader.turns.askAll(at("2h"));
    expect(leader.repairs(at("2h10s"))).toEqual(["a"]);
  });

  test("goes on to hold what it saw come over many nodes at once, though it is on fewer by now", () => {
    const many = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const isMeant = { mode: "Enabled", maxUnhealthy: "100%" } as const;
    const leader = new Leader(
      pool(many, name => aNode(name), { repair: isMeant }),
      at("1h"),
    );
    leader.turns.end();
    const sick = (name: string) => aNode(name, { ready: "Unknown", since: at("2h") });
    for (const name of many.slice(0, 8)) leader.show(sick(name), at("2h"));
    leader.turns.review([], at("2h"));
    for (const name of many.slice(1, 8)) leader.show(aNode(name, { since: at("2h29m") }), at("2h29m"));
    leader.turns.review([], at("2h29m"));
    leader.turns.askAll(at("2h30m"));
    expect([leader.repairs(at("2h31m")), leader.codes("n0")]).toEqual([[], ["correlated-failure"]]);
    expect([leader.repairs(at("2h34m") - 1), leader.repairs(at("2h34m"))]).toEqual([[], ["n0"]]);
  });

  test("waits for what may still spread, since it cannot know when it began", () => {
    const leader = new Leader(
      pool(names, name => aNode(name, name === "a" ? { ready: "Unknown", since: at("0s") } : {})),
      at("1h"),
    );
    expect([leader.repairs(at("1h10s") - 1), leader.codes("a")]).toEqual([[], ["settling"]]);
    expect(leader.repairs(at("1h10s"))).toEqual(["a"]);
  });
});

describe("whose word holds", () => {
  const sick = (name: string) => aNode(name, { ready: "Unknown", since: at("0s") });
  const due = at("30m");

  test("H10 a budget of none for all actions does not stop repair; one for Repair does", () => {
    const under = (action: "All" | "Repair") =>
      new Leader(pool(["a"], sick, { disruption: { budgets: [{ nodes: 0, action }] } }), t0);
    expect(under("All").repairs(due)).toEqual(["a"]);
    const held = under("Repair");
    expect([held.repairs(due), held.codes("a")]).toEqual([[], ["budget-spent"]]);
  });

  test.each<[string, WorldOptions, string[]]>([
    ["a pool that disables repair", pool(["a"], sick, { repair: { mode: "Disabled" } }), ["repair-disabled"]],
    ["a pool that only shows it", pool(["a"], sick, { repair: { mode: "DryRun" } }), ["dry-run"]],
    [
      "a pool with do-not-repair",
      { ...pool(["a"], sick), pools: [aPool("web", { annotations: { [doNotRepairKey]: "true" } })] },
      ["do-not-repair"],
    ],
    [
      "a claim of another controller",
      {
        nodes: [sick("a")],
        claims: [aClaim("a", { spec: { nodeClassRef: { group: "other.dev", kind: "OtherClass", name: "x" } } })],
      },
      ["foreign-claim"],
    ],
    ["a pool that is not there", { ...pool(["a"], sick), pools: [] }, ["pool-missing"]],
  ])("%s: nothing goes, and it is said", (_, world, codes) => {
    const leader = new Leader(world, t0);
    expect([leader.repairs(due).filter(() => codes[0] !== "dry-run"), leader.codes("a")]).toEqual([[], codes]);
  });

  test("a claim of no pool: the provider's", () => {
    expect(new Leader({ nodes: [sick("a")], claims: [aClaim("a")] }, t0).repairs(due)).toEqual(["a"]);
  });

  test("until a time: at that time it goes, not a millisecond before", () => {
    const hold = { annotations: { [doNotRepairKey]: formatTime(at("1h")) } };
    const leader = new Leader(
      pool(["a"], name => ({ ...sick(name), ...hold })),
      t0,
    );
    expect([leader.repairs(due), leader.codes("a")]).toEqual([[], ["do-not-repair"]]);
    expect(leader.turns.standing.nextAt).toBe(at("1h"));
    expect([leader.repairs(at("1h") - 1), leader.repairs(at("1h"))]).toEqual([[], ["a"]]);
  });

  test("another policy of the pool: its nodes are asked at once", () => {
    const leader = new Leader(pool(["a"], sick), t0);
    expect(leader.repairs(at("20m"))).toEqual([]);
    leader.picture.put("pool", aPool("web", { generation: 2, spec: { repair: { defaultTolerationDuration: "15m" } } }));
    expect(leader.repairs(at("20m"))).toEqual(["a"]);
  });
});

describe("whoever counts is asked again", () => {
  const names = Array.from({ length: 5 }, (_, index) => `n${index}`);

  test("a pool when one of its nodes turns sick or well; its brake holds the others and lets them go", () => {
    const sick = (name: string) => aNode(name, { ready: "False", since: at("0s") });
    const leader = new Leader(
      pool(names, name => (name === "n0" || name === "n1" ? sick(name) : aNode(name))),
      at("20m"),
    );
    const blocked = () =>
      leader.turn(at("40m")).flatMap(command => (command.kind === "update-pool" ? [command.status] : []));
    expect(blocked()).toMatchObject([
      {
        unhealthyNodes: 2,
        conditions: expect.arrayContaining([expect.objectContaining({ type: "RepairBlocked", status: "True" })]),
      },
    ]);
    expect(leader.codes("n0")).toEqual(["pool-too-unhealthy"]);
    leader.show(aNode("n1", { since: at("40m") }), at("40m"));
    expect(leader.repairs(at("40m"))).toEqual(["n0"]);
  });

  test("a node that an answer showed before the watch did", () => {
    const leader = new Leader(
      pool(names, name => aNode(name)),
      at("1h"),
    );
    leader.turn(at("1h"));
    const before = leader.picture.node("n0");
    const after = aNode("n0", { ready: "Unknown", since: at("10m"), resourceVersion: "2" });
    leader.picture.wrote("node", after);
    leader.turn(at("1h"));
    leader.turns.observe({ ...(before ? { before } : {}), after }, at("1h1s"));
    expect([leader.repairs(at("1h1s")), leader.repairs(at("1h30m1s"))]).toEqual([[], ["n0"]]);
  });
});

describe("the brake of one policy", () => {
  const names = Array.from({ length: 5 }, (_, index) => `n${index}`);
  const policies = [
    { conditionType: "A", conditionStatus: "True", toleration: "5m", maxUnhealthy: 1 },
    { conditionType: "B", conditionStatus: "True", toleration: "10m", termination: "Graceful" as const },
  ];
  const sickWith = (name: string, ...types: string[]) =>
    aNode(name, { conditions: types.map(type => aCondition(type, "True", { since: t0 })) });
  const leaderOf = (sick: Readonly<Record<string, NodeView>>) =>
    new Leader(
      pool(names, name => sick[name] ?? aNode(name), { repair: { maxUnhealthy: "100%", policies } }),
      t0,
    );
  const opened = (leader: Leader, now: Instant) =>
    leader.turn(now).flatMap(command => (command.kind === "open-action" ? [command.spec] : []));

  test("holds what is due by it, and not what the same node is due for beside that, in the way of that other policy", () => {
    const leader = leaderOf({ n0: sickWith("n0", "A", "B"), n1: sickWith("n1", "A") });
    expect([opened(leader, at("10m") - 1), leader.codes("n0")]).toEqual([[], ["policy-too-unhealthy"]]);
    expect(opened(leader, at("10m"))).toMatchObject([
      {
        node: { name: "n0" },
        policy: { path: "spec.repair.policies[1]" },
        termination: "Graceful",
        evidence: [{ conditionType: "B" }],
      },
    ]);
    expect(leader.codes("n1")).toEqual(["policy-too-unhealthy"]);
  });

  test("where it holds nothing, all that is due is the evidence of one action, the earliest first", () => {
    const leader = leaderOf({ n0: sickWith("n0", "A", "B") });
    expect(opened(leader, at("10m"))).toMatchObject([
      { policy: { path: "spec.repair.policies[0]" }, evidence: [{ conditionType: "A" }, { conditionType: "B" }] },
    ]);
    expect(leader.codes("n0")).toEqual([]);
  });
});

test("when the brake lifts, the due nodes go within the pace: priority first, and the longer overdue of equals", () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${String(index).padStart(2, "0")}`);
  const disk = (name: string) => aNode(name, { conditions: [aCondition("DiskBroken", "True", { since: at("20m") })] });
  const silent = (name: string, since: Instant) => aNode(name, { ready: "Unknown", since });
  const sick: Record<string, NodeView> = {
    n00: silent("n00", at("15m")),
    n01: silent("n01", at("5m")),
    n02: silent("n02", at("10m")),
    n03: disk("n03"),
    n04: silent("n04", at("12m")),
  };
  const policies = [{ conditionType: "DiskBroken", conditionStatus: "True", toleration: "30m", priority: 100 }];
  const world = pool(names, name => sick[name] ?? aNode(name), { repair: { policies } });
  const safety = aSafetyPolicy({ correlatedFailure: { mode: "Disabled" } });
  const leader = new Leader({ ...world, safety }, at("20m"));
  expect([leader.repairs(at("1h")), leader.codes("n01")]).toEqual([[], ["pool-too-unhealthy"]]);
  leader.show(aNode("n04", { since: at("1h") }), at("1h"));
  expect([...leader.repairs(at("1h"))].sort()).toEqual(["n01", "n03"]);
  expect([leader.codes("n00"), leader.codes("n02")]).toEqual([["budget-spent"], ["budget-spent"]]);
});

describe("claims of no pool", () => {
  const sick = (name: string) => aNode(name, { ready: "Unknown", since: t0 });
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const alone = (isSick: (name: string) => boolean): WorldOptions => ({
    claims: names.map(name => aClaim(name)),
    nodes: names.map(name => (isSick(name) ? sick(name) : aNode(name))),
    safety: aSafetyPolicy({ correlatedFailure: { mode: "Disabled" } }),
  });

  test.each([
    [["n0"], ["n0"], []],
    [["n0", "n1", "n2"], [], ["cluster-too-unhealthy"]],
  ])("are braked by the whole cluster: of ten %j are sick, %j go", (ill, gone, codes) => {
    const leader = new Leader(
      alone(name => ill.includes(name)),
      t0,
    );
    expect([leader.repairs(at("31m")), leader.codes("n0")]).toEqual([gone, codes]);
  });
});

test("a dry run of repair is one entry, which is closed when its reason goes", () => {
  const leader = new Leader(
    pool(["a"], name => aNode(name, { ready: "Unknown", since: t0 }), { repair: { mode: "DryRun" } }),
    t0,
  );
  const [opened, ...more] = leader.turn(at("30m")).filter(({ kind }) => kind === "open-action");
  expect([opened, more]).toMatchObject([{ phase: "DryRun", spec: { action: "Repair", dryRun: true } }, []]);
  const spec = (opened as Extract<Command, { kind: "open-action" }>).spec;
  leader.picture.put("action", anAction("shown", { spec, status: { phase: "DryRun" } }));
  expect(leader.turn(at("31m")).filter(({ kind }) => kind === "open-action")).toEqual([]);
  leader.show(aNode("a", { since: at("40m") }), at("40m"));
  expect(leader.turn(at("40m")).filter(({ kind }) => kind === "update-action")).toMatchObject([
    { action: { name: "shown" }, progress: { phase: "Abandoned" } },
  ]);
});

test("pools of 1 to 30 nodes with 0 to 30 unhealthy ones: who is repaired, caps and pace off", () => {
  const sizes = Array.from({ length: 30 }, (_, index) => index + 1);
  const spec: NodePoolSpec = { disruption: { budgets: [{ nodes: "100%", action: "Repair" }] } };
  const unlimited = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%", duration: "1h" } };
  const safety = aSafetyPolicy({ caps: { repair: unlimited }, correlatedFailure: { mode: "Disabled" } });
  const repaired = (size: number, unhealthy: number): string => {
    if (unhealthy > size) return "";
    const names = Array.from({ length: size }, (_, index) => `n${String(index).padStart(2, "0")}`);
    const nodeOf = (name: string) => (names.indexOf(name) < unhealthy ? aNode(name, { ready: "False" }) : aNode(name));
    const leader = new Leader({ ...pool(names, nodeOf, spec), safety }, at("0s"));
    return String(repairsIn(leader.decide(at("1h"))).length);
  };
  const rows = [0, ...sizes].map(unhealthy =>
    [String(unhealthy), ...sizes.map(size => repaired(size, unhealthy))].map(cell => cell.padStart(3)).join(""),
  );
  const head = ["sick", ...sizes.map(String)].map(cell => cell.padStart(3)).join("");
  const text = `Who is repaired, by how many nodes of a pool are sick (down) and how many it has (across).\n\n${[head, ...rows].map(row => row.trimEnd()).join("\n")}\n`;
  const file = join(import.meta.dirname, "../../test/vectors/who-is-repaired.txt");
  if (process.env["FETTLE_UPDATE"] === "1") writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
});
