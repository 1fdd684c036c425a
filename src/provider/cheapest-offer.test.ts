import { describe, expect, test } from "vitest";
import { effectiveSimulatedNodeClass } from "../api/effective-simulated-node-class.ts";
import type { NodeRequirement } from "../api/node-selector.ts";
import { certain } from "../api/parsed.ts";
import { simulatedCatalogue } from "../api/simulated-catalogue.ts";
import type { SimulatedNodeClassSpec } from "../api/simulated-node-class.ts";
import { cheapestOffer, type Offer, offersOf, type Wish } from "./cheapest-offer.ts";

const offers = (spec?: SimulatedNodeClassSpec) =>
  offersOf(certain(simulatedCatalogue(effectiveSimulatedNodeClass(spec))));
const all = offers();
const zoneKey = "topology.kubernetes.io/zone";
const typeKey = "node.kubernetes.io/instance-type";
const capacityKey = "karpenter.sh/capacity-type";

const needs = (key: string, operator: NodeRequirement["operator"], ...values: string[]): NodeRequirement => {
  return { key, operator, ...(values.length > 0 && { values }) };
};
const wish = (requirements: NodeRequirement[], more: Partial<Wish> = {}): Wish => {
  return { requirements, requests: {}, claimUid: "u", ...more };
};
function chosen(wanted: Wish, from = all, hasCapacity: (offer: Offer) => boolean = () => true): Offer {
  const answer = cheapestOffer(from, wanted, hasCapacity);
  if ("error" in answer) throw new Error(answer.message);
  return answer;
}

describe("a claim gets", () => {
  test.each<[string, NodeRequirement[], string, string]>([
    ["the cheapest of all, where it asks for nothing", [], "c-1x-amd64-linux", "spot"],
    ["what it names", [needs(typeKey, "In", "m-8x-arm64-linux", "s-8x-arm64-linux")], "s-8x-arm64-linux", "spot"],
    ["what it does not exclude", [needs(capacityKey, "NotIn", "spot")], "c-1x-amd64-linux", "on-demand"],
    ["another architecture", [needs("kubernetes.io/arch", "In", "arm64")], "c-1x-arm64-linux", "spot"],
    ["another system", [needs("kubernetes.io/os", "In", "windows")], "c-1x-amd64-windows", "spot"],
    ["more than", [needs("fettle.dev/instance-cpu", "Gt", "4")], "c-8x-amd64-linux", "spot"],
    ["at least", [needs("fettle.dev/instance-cpu", "Gte", "4")], "c-4x-amd64-linux", "spot"],
    [
      "something in between",
      [needs("fettle.dev/instance-memory-gib", "Gt", "8"), needs("fettle.dev/instance-memory-gib", "Lt", "32")],
      "m-2x-amd64-linux",
      "spot",
    ],
    ["at most", [needs("fettle.dev/instance-cpu", "Lte", "1")], "c-1x-amd64-linux", "spot"],
    ["what has a label", [needs(zoneKey, "Exists")], "c-1x-amd64-linux", "spot"],
    ["what it asks of labels that are its own affair", [needs("team", "In", "a")], "c-1x-amd64-linux", "spot"],
    ["what has not a label that nobody has", [needs("team", "DoesNotExist")], "c-1x-amd64-linux", "spot"],
  ])("%s", (_, requirements, type, capacityType) => {
    const offer = chosen(wish(requirements));
    expect(offer.type.name).toBe(type);
    expect(offer.capacityType).toBe(capacityType);
  });

  test.each([
    ["900m", "c-1x-amd64-linux"],
    ["901m", "c-2x-amd64-linux"],
    ["63900m", "c-64x-amd64-linux"],
  ])("room for %s of CPU, to the last bit", (cpu, type) => {
    expect(chosen(wish([], { requests: { cpu } })).type.name).toBe(type);
  });

  test("room for everything it asks for, nothing of what it asks none of", () => {
    expect(chosen(wish([], { requests: { cpu: 1, memory: "9Gi", "example.com/gpu": "0" } })).type.name).toBe(
      "m-2x-amd64-linux",
    );
  });

  test("a zone that is drawn from it, the same each time", () => {
    const zones = Array.from({ length: 400 }, (_, index) => chosen(wish([], { claimUid: `uid-${index}` })).zone);
    const again = Array.from({ length: 400 }, (_, index) => chosen(wish([], { claimUid: `uid-${index}` })).zone);
    expect(again).toEqual(zones);
    for (const zone of ["a", "b", "c", "d"]) {
      expect(zones.filter(drawn => drawn === `test-zone-${zone}`).length).toBeGreaterThan(60);
    }
  });

  test("the cheaper zone, where one is cheaper", () => {
    const offerings = [
      { zone: "a", capacityType: "spot", price: "2" },
      { zone: "b", capacityType: "spot", price: "1" },
    ] as const;
    const from = offers({
      instanceTypes: [{ name: "t", capacity: { cpu: 1, memory: "1Gi" }, offerings: [...offerings] }],
    });
    expect(Array.from({ length: 20 }, (_, index) => chosen(wish([], { claimUid: String(index) }), from).zone)).toEqual(
      Array.from({ length: 20 }, () => "b"),
    );
  });

  test("a type's own label only where the type has it", () => {
    const capacity = { cpu: 1, memory: "1Gi" };
    const from = offers({
      instanceTypes: [
        { name: "plain", capacity },
        { name: "fast", capacity: { ...capacity, cpu: 2 }, labels: { disk: "nvme" } },
      ],
    });
    expect(chosen(wish([needs("disk", "In", "nvme")]), from).type.name).toBe("fast");
    expect(chosen(wish([needs("disk", "DoesNotExist")]), from).type.name).toBe("plain");
  });

  test("the next best where there is no capacity", () => {
    const noSpot = ({ capacityType }: Offer) => capacityType !== "spot";
    expect(chosen(wish([]), all, noSpot)).toMatchObject({ capacityType: "on-demand", price: 0.027 });
    const onlyD = ({ zone }: Offer) => zone === "test-zone-d";
    expect(chosen(wish([]), all, onlyD).zone).toBe("test-zone-d");
  });
});

describe("a claim gets nothing", () => {
  const refused = (wanted: Wish, hasCapacity = () => true, from = all) => cheapestOffer(from, wanted, hasCapacity);

  test.each<[string, Wish, RegExp]>([
    [
      "one requirement that nothing meets",
      wish([needs(capacityKey, "In", "reserved")]),
      /requirement karpenter.sh.capacity-type in \(reserved\)/,
    ],
    [
      "requirements that nothing meets together",
      wish([needs("fettle.dev/instance-cpu", "In", "4"), needs("fettle.dev/instance-memory-gib", "In", "2")]),
      /all requirements together/,
    ],
    ["more than any type has", wish([], { requests: { cpu: 257 } }), /has room for cpu 257/],
    ["a resource that no type has", wish([], { requests: { "example.com/gpu": "1" } }), /room for example.com.gpu 1/],
    ["requirements that cannot be read", wish([needs(zoneKey, "In")]), /requirements cannot be read/],
    ["requests that cannot be read", wish([], { requests: { cpu: "lots" } }), /requests cannot be read: cpu/],
  ])("for %s", (_, wanted, message) => {
    expect(refused(wanted)).toMatchObject({ error: "Invalid", message: expect.stringMatching(message) });
  });

  test("while there is no capacity, which may change", () => {
    expect(refused(wish([]), () => false)).toMatchObject({ error: "InsufficientCapacity" });
    const soldOut = offers({
      instanceTypes: [
        {
          name: "t",
          capacity: { cpu: 1, memory: "1Gi" },
          offerings: [{ zone: "a", capacityType: "spot", available: false }],
        },
      ],
    });
    expect(refused(wish([]), () => true, soldOut)).toMatchObject({ error: "InsufficientCapacity" });
  });
});
