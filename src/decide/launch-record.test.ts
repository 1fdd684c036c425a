import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aPool, at, t0 } from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import { type LaunchResult, launchResultOf } from "../snapshot/launch-result.ts";
import {
  backoffUntil,
  formatLaunchRecord,
  isRecorded,
  lastLaunch,
  type LaunchRecord,
  launchedOf,
  launchRecordOf,
  nextBackoff,
  nextLaunchRecord,
  registrationHealth,
} from "./launch-record.ts";

const key = "fettle.dev/launch-record";
const good = (uid: string, after: string): LaunchResult => ({ at: at(after), uid, isGood: true });
const bad = (uid: string, after: string): LaunchResult => ({ at: at(after), uid, isGood: false });
const recorded = (...results: LaunchResult[]) => nextLaunchRecord(undefined, "1/1", results);
const poolWith = (record: LaunchRecord) => aPool("web", { annotations: { [key]: formatLaunchRecord(record) } });

describe("how a launch ended", () => {
  const launchFailed = aCondition("Launched", "False", { reason: "InsufficientCapacity", since: at("7s") });

  const registered = (since: Instant, more: Parameters<typeof aClaim>[1] = {}) =>
    aClaim("a", { ...more, conditions: [aCondition("Registered", "True", { since }), ...(more.conditions ?? [])] });
  const readyAt = (after: string) => ({ status: { firstReadyTime: formatTime(at(after)) } });
  const initialized = aCondition("Initialized", "True");

  test.each<[string, ReturnType<typeof aClaim>, boolean | undefined, Instant?]>([
    ["well, when its node was Ready", registered(at("1m"), readyAt("2m")), true, at("2m")],
    ["well, when its node is initialized", registered(at("1m"), { conditions: [initialized] }), true, at("1m")],
    ["well still, when it goes", registered(at("1m"), { ...readyAt("2m"), deletingSince: at("1h") }), true, at("2m")],
    ["well at its registration, whatever time before it says", registered(at("3m"), readyAt("2m")), true, at("3m")],
    ["well within its time, whatever time to come it says", registered(at("3m"), readyAt("9h")), true, at("18m")],
    [
      "well at its registration, when its readinessTTL cannot be read",
      registered(at("3m"), { ...readyAt("9h"), spec: { readinessTTL: "soon" } }),
      true,
      at("3m"),
    ],
    ["badly, when nothing was launched", aClaim("a", { stage: "new", conditions: [launchFailed] }), false, at("7s")],
    ["nobody knows while it waits for its node", aClaim("a", { stage: "launched" }), undefined],
    ["nobody knows while its node boots", registered(at("1m")), undefined],
    [
      "nobody knows when it goes more than a minute before its readinessTTL",
      aClaim("a", { stage: "launched", deletingSince: at("14m") - 1 }),
      undefined,
    ],
    [
      "badly, when it goes at its readinessTTL without a node, by a clock that is a minute behind",
      aClaim("a", { stage: "launched", deletingSince: at("14m") }),
      false,
      at("14m"),
    ],
    [
      "badly, when it goes at its readinessTTL without a node",
      aClaim("a", { stage: "launched", deletingSince: at("15m") }),
      false,
      at("15m"),
    ],
    [
      "nobody knows when its node is taken away while it may still become Ready",
      registered(at("1m"), { deletingSince: at("15m") - 1 }),
      undefined,
    ],
    [
      "badly, when its node was never Ready and goes at its readinessTTL from its registration",
      registered(at("1m"), { deletingSince: at("16m") }),
      false,
      at("16m"),
    ],
    [
      "nobody knows when its readinessTTL cannot be read",
      aClaim("a", { stage: "launched", deletingSince: at("15m"), spec: { readinessTTL: "soon" } }),
      undefined,
    ],
  ])("%s", (_, claim, isGood, since) => {
    const result = launchResultOf(claim);
    expect(result).toEqual(isGood === undefined ? undefined : { uid: claim.uid, isGood, at: since });
  });

  test("is kept in whole seconds, as objects keep their times", () => {
    expect(launchResultOf(registered(at("1s") + 999, { conditions: [initialized] }))?.at).toBe(at("1s"));
  });
});

describe("the record on the pool", () => {
  test("is a text that a person can read, and is read again as it was", () => {
    const record = recorded(good("a", "1m"), bad("b", "2m"));
    const text = formatLaunchRecord(record);
    expect(text).toBe("1/1; -; 2026-01-01T00:01:00Z good a; 2026-01-01T00:02:00Z bad b");
    expect(launchRecordOf(poolWith(record))).toEqual(record);
    const later = nextLaunchRecord(record, "2/1", []);
    expect(formatLaunchRecord(later)).toBe("2/1; 2026-01-01T00:02:00Z bad b");
    expect(launchRecordOf(poolWith(later))).toEqual(later);
  });

  test.each(["", "1/1", "1/1; -; rubbish", "1/1; -; 2026-01-01T00:00:00Z fine a", "1/1; -; noon good a"])(
    "that says %j says nothing",
    text => {
      expect(launchRecordOf(aPool("web", { annotations: { [key]: text } }))).toBeUndefined();
    },
  );

  test("keeps the last four", () => {
    const results = [good("a", "1m"), bad("b", "2m"), good("c", "3m"), good("d", "4m"), bad("e", "5m")];
    expect(recorded(...results).results.map(({ uid }) => uid)).toEqual(["b", "c", "d", "e"]);
  });

  test("starts again with new generations, and does not count what came before them a second time", () => {
    const before = recorded(bad("a", "1m"), bad("b", "2m"));
    const after = nextLaunchRecord(before, "2/1", [bad("b", "2m"), good("old", "30s")]);
    expect(after).toEqual({ of: "2/1", after: bad("b", "2m"), results: [] });
    const then = nextLaunchRecord(after, "2/1", [bad("b", "2m"), good("c", "3m")]);
    expect(then.results).toEqual([good("c", "3m")]);
    expect(nextLaunchRecord(then, "3/1", []).after).toEqual(good("c", "3m"));
    expect(nextLaunchRecord(after, "3/1", []).after).toEqual(bad("b", "2m"));
  });

  test("comes to the same, however often and in whatever order results are seen", () => {
    const seconds = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 300 }));
    const instants = seconds.map(second => at(`${second}s`));
    const results = fc.uniqueArray(fc.record({ at: instants, uid: fc.uuid(), isGood: fc.boolean() }), {
      selector: ({ uid }) => uid,
      maxLength: 12,
    });
    fc.assert(
      fc.property(results, fc.integer({ min: 0, max: 12 }), (all, cut) => {
        const once = recorded(...all);
        const early = recorded(...all.toReversed().slice(0, cut));
        expect(nextLaunchRecord(early, "1/1", all)).toEqual(once);
        expect(nextLaunchRecord(once, "1/1", all)).toEqual(once);
        const backoff = nextBackoff(undefined, once);
        expect(nextBackoff(backoff, once)).toEqual(backoff);
      }),
    );
  });
});

describe("whether a pool knows of a failed claim", () => {
  const claim = aClaim("a", { stage: "new", conditions: [aCondition("Launched", "False", { since: at("1m") })] });

  test.each<[string, LaunchRecord | undefined, boolean]>([
    ["no, with no record", undefined, false],
    ["no, with only older results", recorded(bad("z", "59s")), false],
    ["yes, with its own", recorded(bad(claim.uid, "1m")), true],
    ["yes, when later ones have pushed it out", recorded(bad("b", "2m")), true],
    ["yes, when it belongs to an older generation", { of: "2/1", after: bad(claim.uid, "1m"), results: [] }, true],
  ])("%s", (_, record, isKnown) => {
    expect(isRecorded(claim, record ? poolWith(record) : aPool("web"))).toBe(isKnown);
  });

  test("the latest it knows of never comes again, so that names made from it do not either", () => {
    expect(lastLaunch(aPool("web"))).toBe("");
    expect(lastLaunch(poolWith(recorded(good("a", "1m"), bad("b", "2m"))))).toBe("2026-01-01T00:02:00Z bad b");
    expect(lastLaunch(poolWith({ of: "2/1", after: bad("b", "2m"), results: [] }))).toBe("2026-01-01T00:02:00Z bad b");
  });
});

describe("NodeRegistrationHealthy", () => {
  test.each<[string, LaunchResult[], string]>([
    ["nothing has been launched", [], "Unknown"],
    ["one failure says nothing yet", [bad("a", "1m")], "Unknown"],
    ["two failures, from Unknown", [bad("a", "1m"), bad("b", "2m")], "False"],
    ["two failures, from True", [good("a", "1m"), bad("b", "2m"), good("c", "3m"), bad("d", "4m")], "False"],
    ["one failure leaves it True", [good("a", "1m"), bad("b", "2m")], "True"],
    [
      "two successes do not outweigh two failures",
      [bad("a", "1m"), bad("b", "2m"), good("c", "3m"), good("d", "4m")],
      "False",
    ],
    [
      "the third pushes one out",
      [bad("a", "1m"), bad("b", "2m"), good("c", "3m"), good("d", "4m"), good("e", "5m")],
      "True",
    ],
  ])("%s", (_, results, status) => {
    expect(registrationHealth(recorded(...results)).status).toBe(status);
  });

  test("says how many", () => {
    expect(registrationHealth(recorded(bad("a", "1m"), bad("b", "2m"), good("c", "3m")))).toMatchObject({
      reason: "RegistrationFailed",
      message: "2 of the last 3 launches brought no node that was Ready.",
    });
  });
});

describe("the backoff of a pool", () => {
  const after = (...results: LaunchResult[]) => nextBackoff(undefined, recorded(...results));

  test("is a minute after the first failure, and doubles up to ten with each that follows its end", () => {
    let now = at("1m");
    let backoff = nextBackoff(undefined, recorded({ at: now, uid: "0", isGood: false }));
    const minutes = [1, 2, 3, 4, 5, 6].map(round => {
      const until = Date.parse(backoff?.until ?? "");
      const lasted = (until - now) / 60_000;
      now = until;
      backoff = nextBackoff(backoff, recorded({ at: now, uid: String(round), isGood: false }));
      return lasted;
    });
    expect(minutes).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test("is not made longer by failures that were under way when it began", () => {
    const first = { failures: 1, until: formatTime(at("2m")) };
    expect(after(bad("a", "1m"), bad("b", "1m59s"))).toEqual(first);
    expect(after(bad("a", "1m"), bad("b", "2m"))).toEqual({ failures: 2, until: formatTime(at("4m")) });
  });

  test("ends with a success that came after the failure, not with one from before", () => {
    expect(after(bad("a", "1m"), good("b", "61s"))).toEqual({ failures: 0, until: formatTime(at("61s")) });
    expect(after(good("b", "59s"), bad("a", "1m"))).toEqual({ failures: 1, until: formatTime(at("2m")) });
    const backoff = { failures: 1, until: formatTime(at("2m")) };
    expect(nextBackoff(backoff, recorded(good("b", "1m")))).toEqual(backoff);
  });

  test("starts from a minute again after a success", () => {
    const results = [bad("a", "1m"), good("b", "61s"), bad("c", "5m")];
    expect(after(...results)).toEqual({ failures: 1, until: formatTime(at("6m")) });
  });

  test("ends with new generations, and with none is none", () => {
    const backoff = { failures: 3, until: formatTime(at("9m")) };
    const record = nextLaunchRecord(recorded(bad("a", "5m")), "2/1", []);
    expect(nextBackoff(backoff, record)).toEqual({ failures: 0, until: formatTime(at("5m")) });
    expect(nextBackoff({ failures: 0, until: formatTime(t0) }, record)).toEqual({ failures: 0, until: formatTime(t0) });
    expect(nextBackoff(undefined, record)).toBeUndefined();
    expect(nextBackoff(undefined, recorded(good("a", "1m")))).toBeUndefined();
  });

  test.each([
    ["nothing", {}, undefined],
    ["no failure", { launchBackoff: { failures: 0, until: formatTime(at("1h")) } }, undefined],
    ["a failure", { launchBackoff: { failures: 1, until: formatTime(at("1h")) } }, at("1h")],
    ["an end that nobody can read", { launchBackoff: { failures: 1, until: "later" } }, undefined],
  ])("in a status with %s", (_, status, until) => {
    expect(backoffUntil(aPool("web", { status }))).toBe(until);
  });
});

describe("what was launched", () => {
  const web = aPool("web", { spec: { replicas: 3 } });

  test("is the same however many there shall be, and whatever else is said of the pool", () => {
    const more = aPool("web", { generation: 7, spec: { replicas: 9, limits: { nodes: 10 }, weight: 5 } });
    expect(launchedOf(more, 1)).toBe(launchedOf(web, 1));
  });

  test("is another thing with another template or another state of the class", () => {
    const labelled = aPool("web", {
      spec: { replicas: 3, template: { metadata: { labels: { team: "a" } }, spec: {} } },
    });
    expect(launchedOf(labelled, 1)).not.toBe(launchedOf(web, 1));
    expect(launchedOf(web, 2)).not.toBe(launchedOf(web, 1));
  });
});

test("a claim that waits for a person makes the pool unhealthy, whatever came of the others", () => {
  const message = "no instance type fits";
  const conditions = [aCondition("Launched", "Unknown", { reason: "Invalid", message })];
  const stuck = aClaim("web-1", { stage: "new", conditions });
  expect(registrationHealth(recorded(good("a", "1s")), stuck)).toEqual({
    type: "NodeRegistrationHealthy",
    status: "False",
    reason: "Invalid",
    message: "Claim web-1 is not launched, and trying again is not enough: no instance type fits",
  });
});
