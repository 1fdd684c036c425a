import { expect, test } from "vitest";
import { randomWorld } from "./random-worlds.ts";
import { apiFaultKinds, checkScenario, durationMs, providerFaultKinds, watchFaultKinds } from "./scenario.ts";

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
  expect(new Set(faults)).toEqual(
    new Set([...apiFaultKinds, ...watchFaultKinds, ...providerFaultKinds].filter(kind => kind !== "NotSupported")),
  );
  const silenced = timeline.flatMap(({ do: { annotate } }) =>
    annotate?.annotations?.["fettle.dev/simulate"] === "silent" && annotate.count === undefined
      ? (annotate.selector ?? "")
      : [],
  );
  expect(new Set(silenced)).toEqual(new Set(["", "topology.kubernetes.io/zone=test-zone-a"]));
});

test("in some of them the controller is lost together with a node, for its pod to be evicted or for another to lead", () => {
  const lost = worlds.flatMap(({ timeline = [] }) =>
    timeline.filter(({ do: { crash, pause } }) => crash?.downFor === "6m" || pause?.for === "40m"),
  );
  expect(new Set(lost.flatMap(({ do: act }) => Object.keys(act)))).toEqual(new Set(["crash", "pause"]));
  const acts = new Set(worlds.flatMap(({ timeline = [] }) => timeline));
  for (const { at } of lost) {
    const together = [...acts].filter(other => other.at === at && other.do.annotate?.kind === "Node");
    expect(together.length).toBeGreaterThan(0);
  }
});

test("what goes wrong is mended three hours before the end", () => {
  for (const { timeline = [] } of worlds) {
    const last = Math.max(...timeline.map(({ at }) => durationMs(at)));
    expect(last).toBe(durationMs("21h"));
  }
});
