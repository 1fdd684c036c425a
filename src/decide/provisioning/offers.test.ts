import { describe, expect, test } from "vitest";
import { aClaim, aClassRef, aCondition, aNode, aPod, aPool, aProvider, at, t0 } from "../../../test/builders.ts";
import type { InstanceType } from "../../api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../../api/node.ts";
import type { NodeRequirement } from "../../api/node-selector.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { ClaimView, PoolView } from "../../snapshot/views.ts";
import { offersAt } from "./offers.ts";

const is = (key: string, ...values: string[]): NodeRequirement => ({ key, operator: "In", values });

function type(name: string, cpu: string): InstanceType {
  const amounts = { cpu, memory: "16Gi", pods: "110" };
  const offerings = ["a", "b"].flatMap(zone =>
    ["spot", "on-demand"].map(kind => ({
      requirements: [is(zoneKey, zone), is(capacityTypeKey, kind)],
      price: 1,
      available: true,
    })),
  );
  return { name, requirements: [is(instanceTypeKey, name)], offerings, capacity: amounts, allocatable: amounts };
}

const types = [type("t4", "4"), type("t8", "8")];

function world({ pools = [], claims = [] }: { pools?: readonly PoolView[]; claims?: readonly ClaimView[] }) {
  const picture = new ClusterPicture(aProvider({ instanceTypes: () => types }));
  for (const pool of pools) picture.put("pool", pool);
  for (const claim of claims) picture.put("claim", claim);
  return picture;
}

describe("pools that are asked", () => {
  const backoff = { launchBackoff: { failures: 1, until: "2026-01-01T00:01:00Z" } };

  test.each<[string, PoolView, boolean]>([
    ["a pool", aPool("p"), true],
    ["not one with replicas", aPool("p", { spec: { replicas: 2 } }), false],
    ["not one of another class", aPool("p", { spec: foreign() }), false],
    ["not one that is being deleted", aPool("p", { deletingSince: t0 }), false],
    ["not one that cannot be understood", aPool("p", { invalid: "bad" }), false],
    ["not one that backs off", aPool("p", { status: backoff }), false],
  ])("%s", (_, pool, isAsked) => {
    const { pools } = offersAt(world({ pools: [pool] }), at("1m") - 1);
    expect(pools.map(({ name }) => name)).toEqual(isAsked ? ["p"] : []);
  });

  test("one that backs off is named with its reason, and asked again to the millisecond", () => {
    const picture = world({ pools: [aPool("p", { status: backoff })] });
    const held = [{ pool: "p", code: "pool-backing-off", until: at("1m") }];
    expect(offersAt(picture, at("1m") - 1)).toMatchObject({ held, lookAgainAt: at("1m") });
    expect(offersAt(picture, at("1m"))).toMatchObject({ held: [], lookAgainAt: undefined });
  });

  test("with all that its nodes will have, its weight, and what of its limits is used", () => {
    const labels = { team: "a" };
    const taints = [{ key: "only", effect: "NoSchedule" as const }];
    const template = { metadata: { labels }, spec: { taints, requirements: [is(zoneKey, "a")] } };
    const pool = aPool("p", { spec: { template, weight: 7, limits: { cpu: "20", nodes: "5" } } });
    const claims = [
      aClaim("x", { pool: "p", status: { capacity: { cpu: "4" } } }),
      aClaim("y", { pool: "p", stage: "new" }),
    ];
    expect(offersAt(world({ pools: [pool], claims }), t0).pools).toMatchObject([
      {
        name: "p",
        weight: 7,
        labels: { team: "a", "fettle.dev/simulatednodeclass": aClassRef.name },
        taints,
        requirements: [is(zoneKey, "a")],
        limits: { cpu: "20", nodes: "5" },
        usage: { cpu: "12", nodes: "2" },
      },
    ]);
  });
});

describe("what had no capacity", () => {
  const failed = (requirements: readonly NodeRequirement[], reason = "InsufficientCapacity") =>
    aClaim("x", {
      pool: "p",
      stage: "new",
      spec: { requirements: [...requirements] },
      conditions: [aCondition("Launched", "False", { reason, since: t0 })],
    });
  const open = (claim: ClaimView, now: number) =>
    offersAt(world({ pools: [aPool("p")], claims: [claim] }), now).pools[0]?.instanceTypes.map(
      ({ name, offerings }) =>
        `${name} ${offerings.filter(({ available }) => available).map(({ requirements }) => requirements.map(({ values }) => values?.[0]).join("/"))}`,
    );
  const all = "a/spot,a/on-demand,b/spot,b/on-demand";

  test.each<[string, readonly NodeRequirement[], readonly string[]]>([
    ["one type in one zone", [is(instanceTypeKey, "t4"), is(zoneKey, "a")], ["t4 b/spot,b/on-demand", `t8 ${all}`]],
    [
      "every type as spot",
      [is(instanceTypeKey, "t4", "t8"), is(capacityTypeKey, "spot")],
      ["t4 a/on-demand,b/on-demand", "t8 a/on-demand,b/on-demand"],
    ],
    ["one type everywhere", [is(instanceTypeKey, "t8")], [`t4 ${all}`, "t8 "]],
    ["a claim that names no type", [is(zoneKey, "a")], [`t4 ${all}`, `t8 ${all}`]],
  ])("is avoided: %s", (_, requirements, offered) => {
    expect(open(failed(requirements), at("1s"))).toEqual(offered);
  });

  test("for three minutes, and then looked at again", () => {
    const claim = failed([is(instanceTypeKey, "t8")]);
    expect(open(claim, at("3m") - 1)).toEqual([`t4 ${all}`, "t8 "]);
    expect(open(claim, at("3m"))).toEqual([`t4 ${all}`, `t8 ${all}`]);
    expect(offersAt(world({ claims: [claim] }), t0).lookAgainAt).toBe(at("3m"));
  });

  test("is also what the account may not have more of", () => {
    expect(open(failed([is(instanceTypeKey, "t8")], "QuotaExceeded"), t0)).toEqual([`t4 ${all}`, "t8 "]);
  });

  test("is not what failed for another reason", () => {
    expect(open(failed([is(instanceTypeKey, "t8")], "NodeClassNotReady"), t0)).toEqual([`t4 ${all}`, `t8 ${all}`]);
  });
});

describe("nodes on their way", () => {
  const names = (claims: readonly ClaimView[], nodes: readonly string[] = []) => {
    const picture = world({ claims });
    for (const name of nodes) picture.put("node", aNode(name));
    return offersAt(picture, t0).upcoming.map(
      ({ name, instanceTypes }) => `${name} ${instanceTypes.map(one => one.name)}`,
    );
  };
  const narrow = { spec: { requirements: [is(instanceTypeKey, "t4")] } };

  test.each<[string, readonly string[], readonly string[]]>([
    ["may become what they ask for", names([aClaim("x", { stage: "new", ...narrow })]), ["x t4"]],
    ["or anything, where they do not say", names([aClaim("x", { stage: "new" })]), ["x t4,t8"]],
    [
      "are what was launched",
      names([aClaim("x", { stage: "launched", labels: { [instanceTypeKey]: "t8" } })]),
      ["x t8"],
    ],
    ["count when they are only sent", names([aClaim("x", { stage: "new", isProvisional: true, ...narrow })]), ["x t4"]],
    ["are not those that go", names([aClaim("x", { stage: "new", deletingSince: t0 })]), []],
    ["nor those that have come", names([aClaim("x", { stage: "registered" })], ["x"]), []],
  ])("%s", (_, found, expected) => expect(found).toEqual(expected));

  test("are what was launched even where no more of it can be had, and have the pods that are expected there", () => {
    const claim = aClaim("x", {
      stage: "launched",
      labels: { [instanceTypeKey]: "gone", [zoneKey]: "a" },
      status: { providerID: "i", capacity: { cpu: "2" }, allocatable: { cpu: "1900m" } },
    });
    const picture = world({ claims: [claim] });
    const pod = aPod("w", { phase: "Pending", isUnschedulable: true });
    picture.put("pod", pod);
    picture.settleSearch({ at: t0, claims: [], placements: new Map([[pod.uid, { on: "claim", name: "x", at: t0 }]]) });
    expect(offersAt(picture, t0).upcoming).toMatchObject([
      {
        labels: { [zoneKey]: "a" },
        instanceTypes: [{ name: "gone", allocatable: { cpu: "1900m" }, offerings: [{ available: true }] }],
        pods: [{ metadata: { name: "w" } }],
      },
    ]);
  });
});

function foreign() {
  return { template: { spec: { nodeClassRef: { group: "other", kind: "Other", name: "x" } } } };
}
