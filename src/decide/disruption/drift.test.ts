import { describe, expect, test } from "vitest";
import { aClaim, aClassRef, aPool, aProvider, at, aWorld, t0 } from "../../../test/builders.ts";
import type { InstanceType } from "../../api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../../api/node.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import type { ProviderView } from "../../snapshot/picture.ts";
import type { ClaimView } from "../../snapshot/views.ts";
import { judgeDrift } from "./drift.ts";
import { hashAnnotations } from "./drift-hash.ts";

type Requirements = NonNullable<NonNullable<NonNullable<NodePoolSpec["template"]>["spec"]>["requirements"]>;

const labels = { [instanceTypeKey]: "m-4", [zoneKey]: "z1", [capacityTypeKey]: "spot", arch: "amd64", generation: "5" };
const made = aPool("web");
const stamp = hashAnnotations(made, aClassRef);
const aMade = (options: Partial<ClaimView> = {}) =>
  aClaim("a", { pool: "web", labels, annotations: stamp, ...options });

function aType(name: string, ...offerings: readonly (readonly [zone: string, capacityType: string])[]): InstanceType {
  return {
    name,
    requirements: [],
    offerings: offerings.map(([zone, capacityType]) => ({
      requirements: [
        { key: zoneKey, operator: "In", values: [zone] },
        { key: capacityTypeKey, operator: "In", values: [capacityType] },
      ],
      price: 1,
      available: false,
    })),
    capacity: {},
    allocatable: {},
  };
}

type Case = { claim?: ClaimView; pool?: NodePoolSpec; provider?: Partial<ProviderView>; now?: number };

function judged({ claim = aMade(), pool = {}, provider = {}, now = at("2h") }: Case) {
  const picture = aWorld({ provider: aProvider(provider) });
  return judgeDrift({ claim, pool: aPool("web", { spec: pool }), nodeClass: aClassRef }, { picture, now });
}
const reasonOf = (one: Case) => judged(one).drift?.reason;

describe("the template", () => {
  const changed = { template: { metadata: { labels: { team: "b" } } } };

  test("has changed since the claim was made", () => {
    expect(judged({ pool: changed }).drift).toEqual({
      reason: "NodePoolDrifted",
      message: expect.stringMatching(
        /^NodePool web has another template than claim a was made from \(hash [0-9a-f]{8}, not [0-9a-f]{8}\)\.$/,
      ),
    });
  });

  test.each<[string, Case]>([
    ["is as it was", {}],
    ["has changed, and the claim has no hash", { claim: aMade({ annotations: {} }), pool: changed }],
    ["has changed, and the claim is not launched", { claim: aClaim("a", { stage: "new" }), pool: changed }],
    [
      "has changed, and the claim has the peer's hash",
      { claim: aMade({ annotations: { ...stamp, "karpenter.sh/nodepool-hash-version": "v3" } }), pool: changed },
    ],
  ])("%s: no drift", (_, one) => {
    expect(reasonOf(one)).toBe(undefined);
  });
});

describe("requirements on the claim's labels", () => {
  const own = (requirements: Requirements) => aMade({ spec: { ...aMade().spec, requirements } });
  test.each<[string, Requirements, ClaimView, boolean]>([
    ["changed", [{ key: "arch", operator: "In", values: ["arm64"] }], aMade(), true],
    ["narrowed", [{ key: zoneKey, operator: "In", values: ["z2", "z3"] }], aMade(), true],
    ["added on a label that it has not", [{ key: "tier", operator: "In", values: ["gold"] }], aMade(), true],
    ["it must not be there any more", [{ key: "arch", operator: "DoesNotExist" }], aMade(), true],
    ["a bound that it does not reach", [{ key: "generation", operator: "Gt", values: ["5"] }], aMade(), true],
    ["widened", [{ key: "arch", operator: "In", values: ["amd64", "arm64"] }], aMade(), false],
    ["it must be there", [{ key: "arch", operator: "Exists" }], aMade(), false],
    ["a bound that it reaches", [{ key: "generation", operator: "Gte", values: ["5"] }], aMade(), false],
    ["not one of others", [{ key: "arch", operator: "NotIn", values: ["arm64"] }], aMade(), false],
    ["must not be there, and is not", [{ key: "tier", operator: "DoesNotExist" }], aMade(), false],
    [
      "on a label that it was made with and nobody has written yet",
      [{ key: "tier", operator: "In", values: ["gold", "iron"] }],
      own([{ key: "tier", operator: "In", values: ["gold", "tin"] }]),
      false,
    ],
    [
      "on a label that it was made with otherwise",
      [{ key: "tier", operator: "In", values: ["iron"] }],
      own([{ key: "tier", operator: "In", values: ["gold"] }]),
      true,
    ],
  ])("%s", (_, requirements, claim, isDrifted) => {
    const pool = { template: { spec: { requirements } } };
    expect(reasonOf({ pool, claim })).toBe(isDrifted ? "RequirementsDrifted" : undefined);
  });
});

describe("the instance type", () => {
  const offering = (...types: readonly InstanceType[]) => ({ instanceTypes: () => types });
  const reserved = aMade({ labels: { ...labels, [capacityTypeKey]: "reserved" } });
  const untyped = aMade({ labels: { [zoneKey]: "z1" } });
  test.each<[string, Case, boolean]>([
    [
      "is offered where and how it is had, also without capacity",
      { provider: offering(aType("m-4", ["z1", "spot"])) },
      false,
    ],
    ["is gone", { provider: offering(aType("m-8", ["z1", "spot"])) }, true],
    ["is gone from the zone", { provider: offering(aType("m-4", ["z2", "spot"])) }, true],
    ["is no longer to be had as spot", { provider: offering(aType("m-4", ["z1", "on-demand"])) }, true],
    [
      "of a reservation that ended is had on demand",
      { claim: reserved, provider: offering(aType("m-4", ["z1", "on-demand"])) },
      false,
    ],
    [
      "is named by no label: nobody can tell",
      { claim: untyped, provider: offering(aType("m-8", ["z1", "spot"])) },
      false,
    ],
    ["belongs to a class that lists none: nobody can tell", { provider: offering() }, false],
  ])("%s", (_, one, isDrifted) => {
    expect(reasonOf(one)).toBe(isDrifted ? "InstanceTypeNotFound" : undefined);
  });

  test.each([
    [at("1h") - 1, undefined, at("1h")],
    [at("1h"), "InstanceTypeNotFound", undefined],
    [at("1h") + 1, "InstanceTypeNotFound", undefined],
  ])("that is gone counts once the claim is an hour old (%#)", (now, reason, lookAt) => {
    const found = judged({ provider: offering(aType("m-8")), now });
    expect([found.drift?.reason, found.lookAt]).toEqual([reason, lookAt]);
  });
});

test("the provider has the last word, and may say what it likes", () => {
  const drift = { reason: "ImageDrifted", message: "The class has another image." };
  expect(judged({ provider: { driftOf: () => drift }, now: t0 })).toEqual({ drift });
});
