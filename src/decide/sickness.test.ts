import { describe, expect, test } from "vitest";
import { aCondition, aNode, aPool, at, t0 } from "../../test/builders.ts";
import type { Repair } from "../api/repair.ts";
import { type Instant, type Millis, minuteMs, parseDuration } from "../api/time.ts";
import type { NodeView } from "../snapshot/views.ts";
import { rulesOf } from "./repair-policy.ts";
import { evidenceOf, isTimed, sicknessesOf, sentenceOf } from "./sickness.ts";
import { ConditionMemory } from "./sickness-history.ts";

const bad = (conditionType: string, conditionStatus: string) => ({
  conditionType,
  conditionStatus,
  toleration: 30 * minuteMs,
});
const provider = {
  name: "test",
  repairStatements: [bad("Ready", "False"), bad("Ready", "Unknown"), bad("NetworkUnavailable", "True")],
};

type Look = readonly [node: NodeView, at: Instant];

/** What is wrong with the node of the last look, all looks having been seen. */
function sicknesses(looks: readonly Look[], repair: Repair = {}, bootedAt?: Instant) {
  const memory = new ConditionMemory();
  let before: NodeView | undefined;
  for (const [after, now] of looks) {
    memory.observe({ ...(before ? { before } : {}), after }, now);
    before = after;
  }
  const rules = rulesOf(aPool("web", { spec: { repair } }), provider);
  return before ? sicknessesOf(before, rules, { sight: memory, bootedAt }) : [];
}

function due(looks: readonly Look[], repair: Repair = {}, bootedAt?: Instant) {
  return sicknesses(looks, repair, bootedAt)
    .filter(isTimed)
    .map(({ condition, timing: { kind, clock, dueAt } }) => ({ type: condition.type, kind, clock, dueAt }));
}

function durationMs(text: string): Millis {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.value : Number.NaN;
}

const is = (status: "True" | "False" | "Unknown", since: Instant): NodeView => aNode("a", { ready: status, since });

describe("seed 000, node repair scenarios", () => {
  const repair: Repair = {
    defaultTolerationDuration: "30m",
    policies: [
      { conditionType: "Ready", toleration: "45m" },
      { conditionType: "NetworkUnavailable", toleration: "10m" },
    ],
  };
  const since = Date.parse("2024-11-01T15:02:48Z");
  const node = (type: string, status: string) =>
    aNode("a", { createdAt: since - 1, conditions: [aCondition(type, status, { since })] });

  test.each([
    ["NetworkUnavailable Node: eligible for repair at 15:12:48", "NetworkUnavailable", "True", "2024-11-01T15:12:48Z"],
    ["NotReady Node: eligible for repair at 15:47:48", "Ready", "False", "2024-11-01T15:47:48Z"],
  ])("%s", (_name, type, status, dueAt) => {
    expect(due([[node(type, status), since]], repair)).toEqual([
      { type, kind: "Condition", clock: "Reporter", dueAt: Date.parse(dueAt) },
    ]);
  });
});

describe("whose clock", () => {
  test("at first sight the reporter's", () => {
    expect(due([[is("Unknown", at("1h")), at("2h")]])).toMatchObject([{ clock: "Reporter", dueAt: at("1h30m") }]);
  });

  test("ours where we saw it otherwise since: a back-dated time gains nothing", () => {
    const looks: Look[] = [
      [is("True", t0), at("1h")],
      [is("False", at("1m")), at("2h")],
    ];
    expect(due(looks)).toMatchObject([{ clock: "Observer", dueAt: at("2h30m") }]);
    const [found] = sicknesses(looks).filter(isTimed);
    const reported = { since: "2026-01-01T02:00:00Z", clock: "Observer", reportedSince: "2026-01-01T00:01:00Z" };
    expect(found && evidenceOf(found, is("False", at("1m")))).toMatchObject(reported);
  });

  test("the reporter's where it is later than our sight, as after a change of leader's picture", () => {
    const looks: Look[] = [
      [is("True", t0), t0],
      [is("False", at("2h")), at("2h")],
    ];
    expect(due(looks)).toMatchObject([{ clock: "Reporter", dueAt: at("2h30m") }]);
  });

  test("ours where the time lies in the future", () => {
    expect(due([[is("False", at("5h")), at("2h")]])).toMatchObject([{ clock: "Observer", dueAt: at("2h30m") }]);
  });

  test("the node's creation, which nothing is older than", () => {
    const node = { ...is("False", t0), createdAt: at("1h") };
    expect(due([[node, at("2h")]])).toMatchObject([{ clock: "Creation", dueAt: at("1h30m") }]);
  });

  test("from False to Unknown is no recovery, but the reporter's time moves", () => {
    const looks: Look[] = [
      [is("True", t0), t0],
      [is("False", at("1h")), at("1h")],
      [is("Unknown", at("1h10m")), at("1h10m")],
    ];
    // Thirty minutes in all come before thirty of the present spell.
    expect(due(looks)).toMatchObject([{ kind: "Flapping", clock: "Reporter", dueAt: at("1h30m") }]);
    expect(due(looks, { flappingWindow: "0s" })).toMatchObject([{ kind: "Condition", dueAt: at("1h40m") }]);
  });

  test("a reason that a policy does not name is not bad, though the status stays", () => {
    const repair: Repair = {
      policies: [{ conditionType: "Disk", conditionStatus: "True", conditionReasons: ["Major"], toleration: "10m" }],
    };
    const disk = (reason: string) => aNode("a", { conditions: [aCondition("Disk", "True", { reason, since: t0 })] });
    const looks: Look[] = [
      [disk("Minor"), at("1h")],
      [disk("Major"), at("2h")],
    ];
    expect(due(looks, repair)).toMatchObject([{ clock: "Observer", dueAt: at("2h10m") }]);
  });

  describe("a state that is borne for longer lends none of its time to one that is borne for less:", () => {
    test("by another status", () => {
      const repair: Repair = {
        policies: [
          { conditionType: "Ready", conditionStatus: "False", toleration: "1h" },
          { conditionType: "Ready", conditionStatus: "Unknown", toleration: "10m" },
        ],
      };
      const from = (first: "False" | "Unknown", then: "False" | "Unknown"): Look[] => [
        [is("True", t0), t0],
        [is(first, at("1h")), at("1h")],
        [is(then, at("1h9m")), at("1h9m")],
      ];
      expect(due(from("False", "Unknown"), repair)).toMatchObject([{ kind: "Condition", dueAt: at("1h19m") }]);
      expect(due(from("Unknown", "False"), repair)).toMatchObject([{ kind: "Flapping", dueAt: at("2h") }]);
    });

    test("by another reason, though the time of the condition stays", () => {
      const gpu = { conditionType: "Gpu", conditionStatus: "False" } as const;
      const repair: Repair = {
        policies: [
          { ...gpu, conditionReasons: ["Xid*"], toleration: "5m" },
          { ...gpu, toleration: "1h" },
        ],
      };
      const said = (reason: string) =>
        aNode("a", { conditions: [aCondition("Gpu", "False", { reason, since: at("1h") })] });
      const well = aNode("a", { conditions: [aCondition("Gpu", "True", { since: t0 })] });
      const warm: Look[] = [
        [well, t0],
        [said("Warm"), at("1h")],
      ];
      const sicker = [...warm, [said("Xid79"), at("1h30m")] as const];
      expect(due(sicker, repair)).toMatchObject([{ kind: "Condition", clock: "Observer", dueAt: at("1h35m") }]);
      expect(due([...sicker, [said("Warm"), at("1h34m")]], repair)).toMatchObject([{ dueAt: at("2h") }]);
    });
  });

  test("without any time, and never seen to begin, it is never due and says so", () => {
    const { since: _, ...condition } = aCondition("Ready", "False");
    const node = aNode("a", { conditions: [condition] });
    const rules = rulesOf(aPool("web"), provider);
    expect(sicknessesOf(node, rules, { sight: new ConditionMemory() }).map(({ timing }) => timing)).toEqual([
      { doubt: "it does not say since when, and nobody saw it begin" },
    ]);
  });
});

describe("a condition that comes and goes", () => {
  /** Bad for `badMs` of every `periodMs`. */
  const flaps = (count: number, badMs: number, periodMs: number): Look[] => [
    [is("True", t0), t0],
    ...Array.from({ length: count }, (_, index): Look[] => {
      const from = at("1h") + index * periodMs;
      return [
        [is("False", from), from],
        [is("True", from + badMs), from + badMs],
      ];
    }).flat(),
  ];

  const said = (looks: readonly Look[]) => sicknesses(looks).filter(isTimed).map(sentenceOf).join();

  test("is due once it was bad for its toleration in total within twice that time", () => {
    const looks = flaps(3, 9 * minuteMs, 12 * minuteMs);
    const again: Look = [is("False", at("1h36m")), at("1h36m")];
    expect(due([...looks, again])).toMatchObject([{ kind: "Flapping", dueAt: at("1h39m") }]);
    expect(said([...looks, again])).toMatch(
      /^Ready=False \(Ready\) comes and goes, now since 2026-01-01T01:36:00Z; at /,
    );
  });

  test("what came and went before the node was first Ready was its boot, and is not added up", () => {
    const looks: Look[] = [
      [is("False", t0), t0],
      [is("True", at("20m")), at("20m")],
      [is("Unknown", at("21m")), at("21m")],
    ];
    expect(due(looks, {}, at("20m"))).toMatchObject([{ kind: "Condition", dueAt: at("51m") }]);
    expect(due(looks)).toMatchObject([{ kind: "Flapping", dueAt: at("31m") }]);
  });

  describe("what was bad before the node was first Ready, and still is,", () => {
    const repair: Repair = {
      policies: [{ conditionType: "Gpu", conditionStatus: "False", toleration: "10m" }],
    };
    const gpu = (status: string, since: Instant) => aNode("a", { conditions: [aCondition("Gpu", status, { since })] });
    const everyMinute = Array.from({ length: 8 }, (_, index): Look => {
      const now = at("1m") + index * minuteMs;
      return [gpu("False", now), now];
    });

    test("is added up from then on, however often its time is rewritten", () => {
      expect(due(everyMinute, repair, at("2m30s"))).toMatchObject([{ kind: "Flapping", dueAt: at("12m30s") }]);
    });

    test("not if it was over by then", () => {
      const looks: Look[] = [...everyMinute, [gpu("True", at("9m")), at("9m")], [gpu("False", at("10m")), at("10m")]];
      expect(due(looks, repair, at("9m"))).toMatchObject([{ kind: "Condition", dueAt: at("20m") }]);
      expect(due(looks, repair, at("8m"))).toMatchObject([{ kind: "Flapping", dueAt: at("19m") }]);
    });

    test("not of Ready itself, whose first time is written in whole seconds", () => {
      const looks: Look[] = [
        [is("False", t0), t0],
        [is("True", at("20m")), at("20m0.7s")],
        [is("Unknown", at("21m")), at("21m")],
      ];
      expect(due(looks, {}, at("20m"))).toMatchObject([{ kind: "Condition", dueAt: at("51m") }]);
    });
  });

  test("is never due while it is well more than half of the time", () => {
    const looks = flaps(40, 5 * minuteMs, 12 * minuteMs);
    const now = at("1h") + 40 * 12 * minuteMs;
    const [found] = due([...looks, [is("False", now), now]]);
    // Not before the present spell alone brings it there.
    expect(found?.dueAt).toBeGreaterThan(now + 5 * minuteMs);
  });

  test("faster than anybody remembers, and well nine tenths of the time, is not due for all that it ever was", () => {
    const hours = 12;
    const looks = flaps(hours * 360, 1_000, 10_000);
    const now = at("1h") + hours * 60 * minuteMs;
    const [found] = due([...looks, [is("False", now), now]], { defaultTolerationDuration: "45m" });
    // Of 90 minutes it was bad for nine: it has to be for another 36, or a little less where that is no longer known exactly.
    expect(found?.dueAt).toBeGreaterThan(now + 35 * minuteMs);
    expect(found?.dueAt).toBeLessThan(now + 45 * minuteMs);
  });

  test.each<[string, number, string, (index: number) => string]>([
    ["by turns, each hour for three days", 60 * minuteMs, "72h", index => `R${index % 2}`],
    ["and each one new, each hour for three days", 60 * minuteMs, "72h", index => `R${index}`],
    ["and each one new, each ten seconds for three hours", 10_000, "3h", index => `R${index}`],
  ])("whose reason is rewritten, %s, is due when it was borne for so long", (_, everyMs, toleration, reasonOf) => {
    const began = at("1h");
    const looks = Array.from({ length: Math.floor(durationMs(toleration) / everyMs) }, (__, index): Look => {
      const reason = reasonOf(index);
      const conditions = [aCondition("Ready", "False", { reason, since: began })];
      return [aNode("a", { conditions }), began + index * everyMs];
    });
    const found = due([[is("True", t0), t0], ...looks], { policies: [{ conditionType: "Ready", toleration }] });
    expect(found).toMatchObject([{ kind: "Condition", dueAt: began + durationMs(toleration) }]);
  });

  test("whose time is rewritten again and again is due by our own clock", () => {
    const looks = Array.from({ length: 6 }, (_, index): Look => {
      const now = at("1h") + index * 5 * minuteMs;
      return [is("False", now), now];
    });
    expect(due([[is("True", t0), t0], ...looks])).toMatchObject([{ kind: "Flapping", dueAt: at("1h30m") }]);
    expect(said([[is("True", t0), t0], ...looks])).toMatch(
      /^Ready=False \(Ready\), now since 2026-01-01T01:25:00Z; at /,
    );
  });

  test("starts again after a recovery where adding up is switched off", () => {
    const looks = [...flaps(1, 20 * minuteMs, 25 * minuteMs), [is("False", at("1h25m")), at("1h25m")] as const];
    expect(due(looks, { flappingWindow: "0s" })).toMatchObject([{ kind: "Condition", dueAt: at("1h55m") }]);
  });
});

describe("what cannot be read is borne for ever", () => {
  test.each([
    [
      "a toleration",
      { policies: [{ conditionType: "Ready", toleration: "soon" }] },
      /^its toleration cannot be read: "soon"/,
    ],
    ["a flapping window", { flappingWindow: "often" }, /^spec.repair.flappingWindow cannot be read: "often"/],
  ] as const)("%s", (_what, repair, doubt) => {
    const [found] = sicknesses([[is("False", t0), at("9h")]], repair as Repair);
    expect(found?.timing).toEqual({ doubt: expect.stringMatching(doubt) });
  });
});

test("evidence and sentence say what was seen, by whose clock, and whose word it is", () => {
  const repair: Repair = { policies: [{ conditionType: "Ready", toleration: "45m" }] };
  const [found] = sicknesses([[is("Unknown", at("1h")), at("2h")]], repair).filter(isTimed);
  const message =
    "Ready=Unknown (Ready) since 2026-01-01T01:00:00Z, as it says itself; it is tolerated for 45m0s (NodePool web spec.repair.policies[0]), until 2026-01-01T01:45:00Z.";
  expect(found && sentenceOf(found)).toBe(message);
  expect(found && evidenceOf(found, aNode("a"))).toEqual({
    kind: "Condition",
    conditionType: "Ready",
    conditionStatus: "Unknown",
    conditionReason: "Ready",
    message,
    since: "2026-01-01T01:00:00Z",
    clock: "Reporter",
    toleration: "45m0s",
    dueAt: "2026-01-01T01:45:00Z",
    resourceVersion: "1",
  });
});
