import { describe, expect, test } from "vitest";
import { aClaim, anAction, aPool, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ActionView, ClaimView } from "../snapshot/views.ts";
import { numbersOf } from "./counted.ts";
import { repairsUnderWay } from "./pace.ts";

const pool = aPool("web", { spec: { template: { spec: { readinessTTL: "20m" } } } });

function underWay(world: WorldOptions, now: Instant, of = pool) {
  const picture = aWorld({ pools: [of], ...world });
  const { counted, frees } = numbersOf(repairsUnderWay(of, { picture, now }));
  return { counted, frees };
}

/** A repair of this node, decided at one hour and over ten minutes later. */
const repair = (node: string, more: Parameters<typeof anAction>[1] = {}): ActionView =>
  anAction(`repair-${node}`, {
    node,
    phase: "Done",
    spec: { action: "Repair", nodePool: "web", decidedAt: formatTime(at("1h")), ...more.spec },
    status: { finishedAt: formatTime(at("1h10m")), ...more.status },
  });
const successor = (name: string, more: Parameters<typeof aClaim>[1] = {}): ClaimView =>
  aClaim(name, { pool: "web", createdAt: at("1h5m"), ...more });

describe("a repair is under way", () => {
  test("while its action is open, whatever its method; other actions are none", () => {
    const open = (node: string, spec: ActionView["spec"] extends infer S ? Partial<S> : never) =>
      anAction(`x-${node}`, { node, spec: { nodePool: "web", ...spec } });
    const actions = [
      open("a", { action: "Repair" }),
      open("b", { action: "Repair", method: "Reboot" }),
      open("c", { action: "Drift" }),
      open("d", { action: "Deletion" }),
    ];
    expect(underWay({ actions }, at("1h"))).toEqual({ counted: 2, frees: [] });
  });

  test("after its node has gone, until one readinessTTL later to the millisecond", () => {
    const actions = [repair("a")];
    expect(underWay({ actions }, at("1h30m") - 1)).toEqual({ counted: 1, frees: [at("1h30m")] });
    expect(underWay({ actions }, at("1h30m"))).toEqual({ counted: 0, frees: [] });
  });

  test("or until its successor is initialized", () => {
    const actions = [repair("a")];
    expect(underWay({ actions, claims: [successor("s", { stage: "registered" })] }, at("1h15m")).counted).toBe(1);
    expect(underWay({ actions, claims: [successor("s")] }, at("1h15m"))).toEqual({ counted: 0, frees: [] });
  });

  test.each([
    ["one that was there before", successor("s", { createdAt: at("1h") - 1 })],
    ["one that is going again", successor("s", { deletingSince: at("1h12m") })],
    ["one of another pool", successor("s", { pool: "db" })],
  ])("a successor is not %s", (_what, claim) => {
    expect(underWay({ actions: [repair("a")], claims: [claim] }, at("1h15m")).counted).toBe(1);
  });

  test("one claim follows one node, the earliest repair first", () => {
    const actions = [
      repair("a"),
      repair("b", { spec: { decidedAt: formatTime(at("1h6m")) }, status: { finishedAt: formatTime(at("1h12m")) } }),
    ];
    // Made before the second repair was decided: it can only follow the first.
    expect(underWay({ actions, claims: [successor("s")] }, at("1h15m"))).toEqual({ counted: 1, frees: [at("1h32m")] });
    const late = successor("s", { createdAt: at("1h13m") });
    expect(underWay({ actions, claims: [late] }, at("1h15m")).counted).toBe(1);
    expect(underWay({ actions, claims: [late, successor("t")] }, at("1h15m")).counted).toBe(0);
  });

  test.each<readonly [string, Parameters<typeof anAction>[1]]>([
    ["was given up before it began", { phase: "Abandoned" }],
    ["was a reboot", { spec: { method: "Reboot" } }],
    ["had its replacements first", { spec: { replacements: [{ name: "s" }] } }],
    ["was of another pool", { spec: { nodePool: "db" } }],
    ["was no repair", { spec: { action: "Drift" } }],
  ])("not if it %s", (_what, more) => {
    const action = repair("a", more);
    const status = { ...action.status, phase: more?.phase ?? "Done" };
    expect(underWay({ actions: [{ ...action, status }] }, at("1h15m")).counted).toBe(0);
  });

  test("for ever if the pool's readinessTTL cannot be read and nobody follows", () => {
    const unread = aPool("web", { spec: { template: { spec: { readinessTTL: "soon" } } } });
    expect(underWay({ actions: [repair("a")] }, at("90h"), unread)).toEqual({ counted: 1, frees: [] });
  });
});
