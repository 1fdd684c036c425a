import { expect, test } from "vitest";
import { randomWorld } from "./random-worlds.ts";
import { checkScenario, durationMs } from "./scenario.ts";

const worlds = Array.from({ length: 200 }, (_, index) => randomWorld(index + 1));

test("a world by chance is a scenario as people write them, and the same for the same seed", () => {
  for (const world of worlds) {
    expect(checkScenario(JSON.parse(JSON.stringify(world)))).toMatchObject({ ok: true });
    expect(randomWorld(world.seed ?? 0)).toEqual(world);
  }
});

test("with planned disruption it is such a scenario too, and all else is as it was", () => {
  for (const { seed = 0, timeline = [], ...world } of worlds) {
    const disrupted = randomWorld(seed, { isDisrupted: true });
    expect(checkScenario(JSON.parse(JSON.stringify(disrupted)))).toMatchObject({ ok: true });
    expect(disrupted.controller).toEqual({ disruption: true });
    expect(disrupted.timeline).toEqual(expect.arrayContaining(timeline));
    expect(disrupted.expect).toEqual(world.expect);
  }
});

test("every act and every fault is drawn by some of two hundred seeds", () => {
  const timeline = worlds.flatMap(world => world.timeline ?? []);
  const kinds = new Set(timeline.flatMap(({ do: act }) => Object.keys(act)));
  expect([...kinds].sort()).toEqual(
    ["annotate", "api", "apply", "clock", "cordon", "crash", "delete", "patch", "pause", "provider", "watch"].sort(),
  );
  const faults = timeline.flatMap(({ do: act }) => act.api?.fault ?? act.watch?.fault ?? act.provider?.fault ?? []);
  expect(new Set(faults).size).toBe(18);
  const silenced = timeline.flatMap(({ do: { annotate } }) =>
    annotate?.annotations?.["fettle.dev/simulate"] === "silent" && annotate.count === undefined
      ? (annotate.selector ?? "")
      : [],
  );
  expect(new Set(silenced)).toEqual(new Set(["", "topology.kubernetes.io/zone=test-zone-a"]));
});

test("what goes wrong is mended three hours before the end", () => {
  for (const { timeline = [] } of worlds) {
    const last = Math.max(...timeline.map(({ at }) => durationMs(at)));
    expect(last).toBe(durationMs("21h"));
  }
});
