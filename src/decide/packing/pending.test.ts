import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/pod.ts";
import { pictureOf } from "./build.ts";
import { pendingOf } from "./pending.ts";
import { emptyProblem } from "./problem.ts";
import { aPod } from "./test-worlds.ts";

/** The pods that are of one size, and what each of them asks for. */
function sizesOf(pods: readonly Pod[]): Record<string, Record<string, string>> {
  const picture = pictureOf({ ...emptyProblem, pods });
  const { sizes } = pendingOf(picture, pods);
  const named = sizes.map(({ classes, amounts }) => {
    const names = classes.flatMap(one => one.pods.map(({ metadata }) => metadata.name));
    return [names.sort().join(" "), picture.space.list(amounts)] as const;
  });
  return Object.fromEntries(named);
}

describe("pods are of one size", () => {
  test.each<[string, Pod, Pod]>([
    ["that ask in the same words", aPod("a"), aPod("b")],
    ["that ask in other words", aPod("a", { requests: { cpu: "1" } }), aPod("b", { requests: { cpu: "1000m" } })],
    [
      "that ask in another order",
      aPod("a", { requests: { cpu: "1", memory: "1Gi" } }),
      aPod("b", { requests: { memory: "1Gi", cpu: "1" } }),
    ],
  ])("%s", (_, a, b) => {
    expect(Object.keys(sizesOf([a, b]))).toEqual(["a b"]);
  });

  test.each<[string, Pod]>([
    ["another amount of CPU", aPod("b", { requests: { cpu: "2", memory: "1Gi" } })],
    ["another amount of memory", aPod("b", { requests: { cpu: "1", memory: "2Gi" } })],
    ["no memory", aPod("b", { requests: { cpu: "1" } })],
    ["no CPU", aPod("b", { requests: { memory: "1Gi" } })],
    ["something else too", aPod("b", { requests: { cpu: "1", memory: "1Gi", "example.com/gpu": "1" } })],
    ["overhead", aPod("b", { requests: { cpu: "1", memory: "1Gi" }, overhead: { cpu: "1" } })],
  ])("but not one that asks for %s", (_, b) => {
    const a = aPod("a", { requests: { cpu: "1", memory: "1Gi" } });
    expect(Object.keys(sizesOf([a, b, { ...b, metadata: { name: "c" } }]))).toEqual(["a", "b c"]);
  });

  test("each of which is what its pods ask for, however many there are", () => {
    const pods = Array.from({ length: 4_000 }, (_, index) =>
      aPod(`${index}`, { requests: { cpu: `${(index % 2_000) + 1}m`, memory: "1Ki" } }),
    );
    const sizes = sizesOf(pods);
    expect(Object.keys(sizes)).toHaveLength(2_000);
    for (const [names, asked] of Object.entries(sizes)) {
      const [first, second] = names
        .split(" ")
        .map(Number)
        .sort((a, b) => a - b) as [number, number];
      expect(second - first).toBe(2_000);
      const cpu = first + 1;
      expect(asked).toEqual({ cpu: cpu % 1000 === 0 ? `${cpu / 1000}` : `${cpu}m`, memory: "1024", pods: "1" });
    }
  });
});

test("pods of two namespaces that come in turn are of one size and of two kinds", () => {
  const pods = ["a", "b", "c", "d"].map((name, index) => aPod(name, { namespace: index % 2 === 0 ? "even" : "odd" }));
  const { sizes } = pendingOf(pictureOf({ ...emptyProblem, pods }), pods);
  const names = sizes.map(({ classes }) => classes.map(one => one.pods.map(({ metadata }) => metadata.name).join(" ")));
  expect(names).toEqual([["c a", "d b"]]);
});

test("what the only container or the pod asks for beside CPU and memory is not passed over", () => {
  const plain = aPod("a", { requests: { cpu: "1", memory: "1Gi" } });
  const { spec } = plain;
  const [main] = spec.containers;
  const others: Pod["spec"][] = [
    { ...spec, containers: [{ ...main, name: "main", ports: [{ hostPort: 80, containerPort: 80 }] }] },
    { ...spec, nodeSelector: { disk: "ssd" } },
    { ...spec, tolerations: [{ key: "gpu", operator: "Exists" }] },
    { ...spec, containers: [...spec.containers, { name: "beside" }] },
    { ...spec, resourceClaims: [{ name: "gpu" }] },
  ];
  const pods = [plain, ...others.map((one, index) => ({ metadata: { name: `${index}` }, spec: one }))];
  const { sizes } = pendingOf(pictureOf({ ...emptyProblem, pods }), pods);
  const [size] = sizes;
  // The second container asks for nothing: of one size with the first, of one kind too.
  expect(size?.classes.map(one => one.pods.map(({ metadata }) => metadata.name))).toEqual([
    ["a", "3"],
    ["0"],
    ["1"],
    ["2"],
    ["4"],
  ]);
});
