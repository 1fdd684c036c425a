import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  aNode,
  aPool,
  aSafetyPolicy,
  aWorld,
  at,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ListedInstance } from "../snapshot/instance.ts";
import type { InstanceView } from "../snapshot/views.ts";
import { type Decision, nothing } from "./decision.ts";
import { garbage } from "./garbage.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const decide = (world: WorldOptions, now: Instant = at("1h"), cluster: string = settings.cluster): Decision =>
  garbage.decide("cluster", { picture: aWorld(world), now, settings: { ...settings, cluster }, epoch: 1 });

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${String(index).padStart(3, "0")}`);
/** The instance of the claim of that name. */
const anInstance = (name: string, options: Partial<ListedInstance> = {}): ListedInstance => ({
  providerID: `test:///${name}`,
  createdAt: t0,
  cluster: "test",
  claimUid: `${name}-claim-uid`,
  ...options,
});
/** Listed just now, so that no list is due. */
const listed = (...instances: ListedInstance[]) => ({ at: at("1h"), instances });
const dueNext = at("62m");

const commandsOf = (decision: Decision) =>
  decision.commands.map(command => `${command.kind} ${"providerID" in command ? command.providerID : ""}`.trim());
const codes = (decision: Decision) => decision.refusals.map(({ code }) => code);

describe("the provider's instances are listed", () => {
  test("at first, and then every two minutes", () => {
    expect(commandsOf(decide({}, t0))).toEqual(["list-instances"]);
    const instanceList = { at: t0, instances: [] };
    expect(decide({ instanceList }, at("2m") - 1)).toEqual({ ...nothing, wakeAt: at("2m") });
    expect(decide({ instanceList }, at("2m"))).toMatchObject({
      commands: [{ kind: "list-instances" }],
      wakeAt: undefined,
    });
  });

  test("again after a failure, when its backoff has ended; until then it says so", () => {
    const failures = {
      instances: { at: t0, retryAt: at("10s"), count: 1, reason: "Throttled", message: "slow down" },
    };
    const waiting = decide({ failures }, at("10s") - 1);
    expect(waiting).toMatchObject({ commands: [], wakeAt: at("10s") });
    expect(waiting.refusals).toMatchObject([
      {
        subject: "cluster",
        code: "instances-not-listed",
        message: "The provider could not list its instances: slow down; the next try is at 2026-01-01T00:00:10Z.",
        until: at("10s"),
      },
    ]);
    expect(commandsOf(decide({ failures }, at("10s")))).toEqual(["list-instances"]);
  });

  test("never by a provider that cannot", () => {
    const failure = { at: t0, retryAt: t0, count: 1, reason: "NotSupported", message: "there are none" };
    expect(decide({ failures: { instances: failure } })).toEqual(nothing);
  });
});

describe("an instance that no claim knows", () => {
  const stray = anInstance("stray");
  const withStray = (options: Partial<ListedInstance> = {}): WorldOptions => ({
    instanceList: listed({ ...stray, ...options }),
  });

  test.each<[string, Instant, boolean]>([
    ["one millisecond before it is 15 minutes old", at("1h") - 1, false],
    ["when it is 15 minutes old", at("1h"), true],
    ["one millisecond after", at("1h") + 1, true],
  ])("is deleted when it is old enough: %s", (_, now, isDeleted) => {
    const decision = decide(withStray({ createdAt: at("45m") }), now);
    expect(commandsOf(decision)).toEqual(isDeleted ? ["delete-instance test:///stray"] : []);
    expect(decision.refusals.map(({ code, until }) => [code, until])).toEqual(
      isDeleted ? [] : [["instance-young", at("1h")]],
    );
    expect(decision.wakeAt).toBe(isDeleted ? dueNext : at("1h"));
  });

  test("is known by its tag, before the claim has its providerID", () => {
    expect(codes(decide({ ...withStray(), claims: [aClaim("stray", { stage: "new" })] }))).toEqual([]);
    expect(commandsOf(decide({ ...withStray(), claims: [aClaim("stray", { stage: "new" })] }))).toEqual([]);
  });

  test("is known by its providerID, whatever its tag, and also to a claim that is another controller's or goes", () => {
    const nodeClassRef = { group: "x", kind: "EC2NodeClass", name: "x" };
    for (const options of [{}, { deletingSince: t0 }, { spec: { nodeClassRef } }]) {
      const claim = aClaim("other", { providerID: "test:///stray", ...options });
      expect(commandsOf(decide({ ...withStray(), claims: [claim] }))).toEqual([]);
    }
  });

  test.each<[string, ListedInstance]>([
    ["another cluster's", { ...stray, cluster: "other" }],
    ["without a tag", { providerID: "test:///stray", createdAt: t0 }],
  ])("is none of ours when it is %s", (_, instance) => {
    expect(decide({ instanceList: listed(instance) })).toEqual({ ...nothing, wakeAt: dueNext });
  });

  test("is nobody's while we have no name ourselves", () => {
    expect(commandsOf(decide(withStray({ cluster: "" }), at("1h"), ""))).toEqual([]);
  });

  test("is held while a Ready node runs on it", () => {
    const decision = decide({ ...withStray(), nodes: [aNode("old", { providerID: "test:///stray" })] });
    expect(decision.commands).toEqual([]);
    expect(decision.refusals).toMatchObject([
      {
        code: "instance-in-use",
        message: "Instance test:///stray has no claim, but node old runs on it and is Ready.",
      },
    ]);
    const sick = { nodes: [aNode("old", { providerID: "test:///stray", ready: "Unknown" })] };
    expect(commandsOf(decide({ ...withStray(), ...sick }))).toEqual(["delete-instance test:///stray"]);
  });

  test.each<[string, WorldOptions, string]>([
    ["the picture is stale", { staleness: { resource: "nodes", message: "silent" } }, "picture-stale"],
    ["everything is frozen", { safety: aSafetyPolicy({ freeze: { reason: "audit" } }) }, "frozen"],
    ["the SafetyPolicy cannot be understood", { safety: aSafetyPolicy({}, { invalid: "odd" }) }, "policy-invalid"],
  ])("is held while %s", (_, world, code) => {
    const decision = decide({ ...withStray(), ...world });
    expect([decision.commands, codes(decision)]).toEqual([[], [code]]);
  });

  test("is looked at again when a freeze ends", () => {
    const safety = aSafetyPolicy({ freeze: { reason: "audit", until: formatTime(at("61m")) } });
    expect(decide({ ...withStray(), safety }).wakeAt).toBe(at("61m"));
    expect(commandsOf(decide({ ...withStray(), safety }, at("61m")))).toEqual(["delete-instance test:///stray"]);
  });

  test.each<[string, Omit<InstanceView, "providerID">, boolean]>([
    ["ends since the list was made", { state: "terminating", seenAt: at("1h") }, false],
    ["is gone since the list was made", { state: "gone", seenAt: at("1h"), goneSince: at("1h") }, false],
    ["was ending before the list was made and is still in it", { state: "terminating", seenAt: at("1h") - 1 }, true],
    ["runs", { state: "running", seenAt: at("1h") }, true],
    ["is off", { state: "off", seenAt: at("1h") }, true],
  ])("is asked to end again only if need be: it %s", (_, seen, isAsked) => {
    const decision = decide({ ...withStray(), instances: [{ providerID: "test:///stray", ...seen }] });
    expect(commandsOf(decision)).toEqual(isAsked ? ["delete-instance test:///stray"] : []);
  });

  test.each<[string, number, number, boolean]>([
    ["one of one", 1, 0, false],
    ["one of three", 1, 2, false],
    ["two of 40, 5 %", 2, 38, false],
    ["two of 39, more than 5 %", 2, 37, true],
    ["all of an etcd that was restored without them", 30, 0, true],
  ])("is held with all the others when they are too many: %s", (_, strayCount, knownCount, isHeld) => {
    const known = names(knownCount);
    const instances = [
      ...known.map(name => anInstance(name)),
      ...names(strayCount).map(name => anInstance(`stray-${name}`)),
    ];
    const decision = decide({ instanceList: listed(...instances), claims: known.map(name => aClaim(name)) });
    expect(decision.commands).toHaveLength(isHeld ? 0 : strayCount);
    expect(codes(decision)).toEqual(isHeld ? ["too-many-unknown"] : []);
  });

  test("those that ended since the list was made are not counted among the unknown", () => {
    const instances = names(4).map(name => ({
      providerID: `test:///${name}`,
      state: "gone" as const,
      seenAt: at("2h"),
    }));
    const decision = decide({ instanceList: listed(...names(4).map(name => anInstance(name))), instances });
    expect(codes(decision)).toEqual([]);
  });
});

describe("a claim whose instance is missing from the list", () => {
  const claim = aClaim("a");
  const missing = (world: WorldOptions = {}): WorldOptions => ({ claims: [claim], instanceList: listed(), ...world });
  const gone = (since: Instant, seenAt: Instant): InstanceView => ({
    providerID: "test:///a",
    state: "gone",
    seenAt,
    goneSince: since,
  });
  const goneTwice = gone(at("58m"), at("59m"));

  test("is asked for by name first", () => {
    expect(commandsOf(decide(missing()))).toEqual(["look-up-instance test:///a"]);
  });

  test.each<[string, Instant, string[]]>([
    ["one millisecond before the minute", at("61m") - 1, []],
    ["at the minute", at("61m"), ["look-up-instance test:///a"]],
  ])("is asked for a second time after a minute: %s", (_, now, commands) => {
    const decision = decide(missing({ instances: [gone(at("1h"), at("1h"))] }), now);
    expect(commandsOf(decision)).toEqual(commands);
    if (commands.length > 0) return;
    expect(decision.wakeAt).toBe(at("61m"));
    expect(decision.refusals).toMatchObject([{ subject: "claim/a", code: "instance-missing", until: at("61m") }]);
  });

  test.each<[string, Instant, boolean]>([
    ["one millisecond less than a minute", at("59m") - 1, false],
    ["a minute", at("59m"), true],
  ])("goes only when it was gone twice, %s apart", (_, seenAt, goes) => {
    const decision = decide(missing({ instances: [gone(at("58m"), seenAt)] }));
    expect(commandsOf(decision)).toEqual([goes ? "delete-claim" : "look-up-instance test:///a"]);
  });

  test("goes by an action when it has a node, by force: what ran there has ended", () => {
    const decision = decide(missing({ nodes: [aNode("a", { ready: "Unknown" })], instances: [goneTwice] }));
    expect(decision.commands).toEqual([]);
    expect(decision.proposals).toEqual([
      {
        node: { name: "a", uid: "a-uid" },
        claim: { name: "a", uid: "a-claim-uid" },
        action: "GarbageCollection",
        method: "Terminate",
        termination: "Forceful",
        askedBy: { kind: "Controller", name: "garbage" },
        message:
          "The provider says that instance test:///a is gone, at 2026-01-01T00:58:00Z and again at 2026-01-01T00:59:00Z.",
        evidence: [
          {
            kind: "InstanceGone",
            message:
              "The provider says that instance test:///a is gone, at 2026-01-01T00:58:00Z and again at 2026-01-01T00:59:00Z.",
            since: "2026-01-01T00:58:00Z",
            clock: "Observer",
          },
        ],
        dueAt: at("59m"),
      },
    ]);
  });

  test("goes at once when it has none", () => {
    const [command] = decide(missing({ instances: [goneTwice] })).commands;
    expect(command).toMatchObject({
      kind: "delete-claim",
      claim: { name: "a", uid: "a-claim-uid" },
      resourceVersion: claim.resourceVersion,
    });
  });

  test.each<[string, WorldOptions, string]>([
    ["its node is Ready", { nodes: [aNode("a")] }, "node-still-ready"],
    [
      "several nodes have its providerID",
      { nodes: [aNode("a", { ready: "False" }), aNode("b", { ready: "False", providerID: "test:///a" })] },
      "multiple-nodes-found",
    ],
    ["the picture is stale", { staleness: { resource: "nodes", message: "silent" } }, "picture-stale"],
    ["everything is frozen", { safety: aSafetyPolicy({ freeze: { reason: "audit" } }) }, "frozen"],
    ["everything is only shown", { safety: aSafetyPolicy({ dryRun: true }) }, "dry-run"],
    [
      "its pool only shows",
      { claims: [aClaim("a", { pool: "web" })], pools: [aPool("web", { spec: { dryRun: true } })] },
      "dry-run",
    ],
  ])("stays while %s", (_, world, code) => {
    const decision = decide(missing({ instances: [goneTwice], ...world }));
    expect([decision.commands, decision.proposals, codes(decision)]).toEqual([[], [], [code]]);
    expect(decision.refusals[0]?.subject).toBe("claim/a");
  });

  test.each<[string, WorldOptions]>([
    ["the instance was found since", { instances: [{ providerID: "test:///a", state: "running", seenAt: at("1h") }] }],
    ["the instance is ending", { instances: [{ providerID: "test:///a", state: "terminating", seenAt: at("1h") }] }],
    ["the claim is being deleted", { claims: [aClaim("a", { deletingSince: t0 })] }],
    ["the claim was never launched", { claims: [aClaim("a", { stage: "new" })] }],
    [
      "the claim is another controller's",
      { claims: [aClaim("a", { spec: { nodeClassRef: { group: "x", kind: "EC2NodeClass", name: "x" } } })] },
    ],
    [
      "it was launched less than a minute before the list",
      { claims: [aClaim("a", { conditions: [aCondition("Launched", "True", { since: at("59m") + 1 })] })] },
    ],
  ])("is not missed when %s", (_, world) => {
    expect(decide(missing(world))).toEqual({ ...nothing, wakeAt: dueNext });
  });

  test("is missed when it was launched a minute before the list, or found only before it", () => {
    const claims = [aClaim("a", { conditions: [aCondition("Launched", "True", { since: at("59m") })] })];
    expect(commandsOf(decide(missing({ claims })))).toEqual(["look-up-instance test:///a"]);
    const instances: InstanceView[] = [{ providerID: "test:///a", state: "running", seenAt: at("1h") - 1 }];
    expect(commandsOf(decide(missing({ instances })))).toEqual(["look-up-instance test:///a"]);
  });

  test.each<[string, number, number, boolean]>([
    ["one of one", 1, 1, false],
    ["two of 40, 5 %", 2, 40, false],
    ["two of 39, more than 5 %", 2, 39, true],
    ["all of them", 10, 10, true],
  ])("is held with all the others when they are too many: %s", (_, lostCount, total, isHeld) => {
    const all = names(total);
    const instances = all.slice(lostCount).map(name => anInstance(name));
    const decision = decide({ claims: all.map(name => aClaim(name)), instanceList: listed(...instances) });
    expect(decision.commands).toHaveLength(isHeld ? 0 : lostCount);
    expect(codes(decision)).toEqual(isHeld ? ["too-many-missing"] : []);
    expect(decision.wakeAt).toBe(dueNext);
  });
});
