import { describe, expect, test } from "vitest";
import { aClaim, aNode, aPod, aPool, at, t0 } from "../../test/builders.ts";
import { doNotDisruptKey } from "../api/well-known.ts";
import { heldCondition, longestHold, nodeHold, podHold, podHoldSentence } from "./do-not-disrupt.ts";

const forever = Number.POSITIVE_INFINITY;
const never = Number.NEGATIVE_INFINITY;
const hour = 3_600_000;

describe("how long a pod holds its node", () => {
  test.each([
    { written: undefined, until: never },
    { written: "false", until: never },
    { written: "true", until: forever },
    { written: "30m", until: at("30m") },
    { written: "1h30m", until: at("1h30m") },
    { written: "1ns", until: t0 + 1 },
    { written: "0s", until: t0 },
    { written: "2562047h", until: at("2562047h") },
    { written: "2562048h", until: forever },
    { written: "1h99999999999999999999m", until: forever },
  ])("$written, from its start", ({ written, until }) => {
    const pod = aPod("p", written === undefined ? {} : { doNotDisrupt: written });
    expect(podHold(pod, forever)).toEqual({ until });
  });

  const unreadable = ["-5m", "soon", "", "30", "TRUE", "True", "1 hour", "-99999999h", "99999999", "99999999d"];

  test.each(unreadable)("%o cannot be read, holds like true, and says what to write", written => {
    const pod = aPod("p", { doNotDisrupt: written });
    const hold = podHold(pod, forever);
    expect(hold).toMatchObject({ until: forever, invalid: expect.stringContaining('write "true" or a duration') });
    expect(podHoldSentence(pod, hold)).toBe(
      `Pod default/p has karpenter.sh/do-not-disrupt=${written} and holds its node. karpenter.sh/do-not-disrupt: ` +
        `${JSON.stringify(written)} cannot be read and holds like "true": write "true" or a duration such as 30m.`,
    );
    expect(podHold(pod, hour).until).toBe(at("1h"));
  });

  test.each(["true", "2h", "99999999h"])("%s is borne no longer than the pool bears it", written => {
    expect(podHold(aPod("p", { doNotDisrupt: written }), hour)).toEqual({ until: at("1h") });
  });

  test("a shorter wish than the pool's bound stands", () => {
    expect(podHold(aPod("p", { doNotDisrupt: "10m" }), hour)).toEqual({ until: at("10m") });
  });

  test("the time of a pod that has not started has not begun, but the pool's runs from its creation", () => {
    const { startedAt: _, ...pod } = aPod("p", { doNotDisrupt: "10m" });
    const created = { ...pod, createdAt: at("5m") };
    expect(podHold(created, forever)).toEqual({ until: forever });
    expect(podHold(created, 60_000)).toEqual({ until: at("6m") });
  });
});

describe("how long a node holds itself", () => {
  const asks = (written: string) => ({ annotations: { [doNotDisruptKey]: written } });
  const bounded = aPool("p", { spec: { disruption: { maxDoNotDisrupt: "4h" } } });
  const saysSince = { type: heldCondition, status: "True", reason: "Annotated", message: "", since: at("1h") } as const;
  const claim = aClaim("a");
  const marked = { ...claim, conditions: [...claim.conditions, saysSince] };

  test("not at all where neither it nor its claim asks for it", () => {
    expect(nodeHold({ node: aNode("a"), claim, pool: bounded })).toBe(undefined);
    const no = { node: aNode("a", asks("false")), claim: aClaim("a", asks("false")), pool: bounded };
    expect(nodeHold(no)).toBe(undefined);
  });

  test("for ever where the pool bears it", () => {
    const hold = nodeHold({ node: aNode("a", asks("true")), claim: marked, pool: aPool("p") });
    expect(hold).toEqual({ until: forever, who: "Node a", sentence: "Node a has karpenter.sh/do-not-disrupt=true." });
  });

  test("as long as the pool bears it, from when the claim has said so", () => {
    const node = aNode("a", asks("true"));
    expect(nodeHold({ node, claim, pool: bounded })?.until).toBe(forever);
    expect(nodeHold({ node, claim: marked, pool: bounded })).toEqual({
      until: at("5h"),
      who: "Node a",
      sentence: "Node a has karpenter.sh/do-not-disrupt=true, which holds until 2026-01-01T05:00:00Z.",
    });
  });

  test.each(["1h", "True", ""])("%o, which a node cannot say, holds like true and is told", written => {
    const hold = nodeHold({ node: aNode("a"), claim: aClaim("a", asks(written)), pool: aPool("p") });
    expect(hold).toMatchObject({
      until: forever,
      who: "NodeClaim a",
      sentence: expect.stringContaining('write "true".'),
    });
  });
});

test("a pool bounds it, if it says so and can be read", () => {
  expect(longestHold(undefined)).toBe(forever);
  expect(longestHold(aPool("p"))).toBe(forever);
  expect(longestHold(aPool("p", { spec: { disruption: { maxDoNotDisrupt: "4h" } } }))).toBe(4 * hour);
  expect(longestHold(aPool("p", { spec: { disruption: { maxDoNotDisrupt: "a while" } } }))).toBe(forever);
});
