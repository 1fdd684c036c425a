import { describe, expect, test } from "vitest";
import { aClaim, aCondition, at, t0 } from "../../../test/builders.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import type { ClaimView } from "../../snapshot/views.ts";
import { quietSince, stillAt } from "./clock.ts";

/** Of a claim that was initialized at t0, in a process that has seen pods come and go since then. */
function quiet(claim: Partial<ClaimView>, since: Instant, event?: Instant, isSeamless = true): Instant | undefined {
  return quietSince(aClaim("a", claim), "a", { podEvents: { since, on: () => event, isSeamless } });
}

const told = { status: { lastPodEventTime: formatTime(at("1h")) } };
const consolidatable = { conditions: [...aClaim("a").conditions, aCondition("Consolidatable", "True")] };

describe("a node stands still", () => {
  test.each<[string, Partial<ClaimView>, Instant | undefined, Instant | undefined]>([
    ["since it was initialized", {}, undefined, t0],
    ["since the event that its claim tells of", told, undefined, at("1h")],
    ["since the event that was seen, where that was later", told, at("2h"), at("2h")],
    ["never before it was initialized", { stage: "registered" } as Partial<ClaimView>, at("2h"), undefined],
  ])("%s", (_, claim, event, since) => {
    expect(quiet(claim, t0, event)).toBe(since);
  });
});

describe("after a restart, which nobody told of the pods that went before it", () => {
  test.each<[string, Partial<ClaimView>, Instant, Instant]>([
    ["a new node counts from then", {}, at("4m"), at("4m")],
    ["one whose claim tells of an event as well", told, at("1h4m"), at("1h4m")],
    ["but not later than such an event would have been written", told, at("3h"), at("1h5m")],
    ["and not at all if it was Consolidatable", { ...told, ...consolidatable }, at("1h4m"), at("1h")],
  ])("%s", (_, claim, startedAt, since) => {
    expect(quiet(claim, startedAt)).toBe(since);
  });

  test.each<[string, Partial<ClaimView>]>([
    ["one that nobody tells of", {}],
    ["one whose claim tells of an event", told],
    ["one that was Consolidatable", { ...told, ...consolidatable }],
  ])("where nobody of ours had watched for long, %s counts from then", (_, claim) => {
    expect(quiet(claim, at("3h"), undefined, false)).toBe(at("3h"));
    expect(quiet(claim, at("3h"), at("4h"), false)).toBe(at("4h"));
  });

  test("what pods tell of themselves counts too", () => {
    expect(quiet({}, at("4m"), at("3m"))).toBe(at("4m"));
    expect(quiet({}, at("3h"), at("2h"))).toBe(at("2h"));
  });

  test("nothing goes for want of use before it has been seen to stand still", () => {
    const seen = (since: Instant) => stillAt(at("1h"), { podEvents: { since, on: () => undefined, isSeamless: true } });
    expect([seen(t0), seen(at("2h"))]).toEqual([at("1h15s"), at("2h15s")]);
  });
});
