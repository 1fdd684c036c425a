import fc from "fast-check";
import { expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import { lastBeat, leaseNamespace, renewedAt, withBeats } from "./beats.ts";
import type { Lease } from "./objects.ts";
import { leaseResource } from "./resources.ts";

test("the last beat is never in the future, never ten seconds old, and a whole number of beats from the first", () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(1e9), (first, later) => {
      const at = lastBeat(first, first + later);
      expect(at).toBeLessThanOrEqual(first + later);
      expect(first + later - at).toBeLessThan(10_000);
      expect((at - first) % 10_000).toBe(0);
    }),
  );
});

test("a reader sees the renewal that a beating kubelet would have written, and after its silence the last one", async () => {
  const box = new LivingBox();
  box.join("a");
  await box.run(1);
  const api = withBeats(box.api, () => box.clock.now());
  const seen = async () => {
    const lease = await box.settle(api.get<Lease>(leaseResource, { name: "a", namespace: leaseNamespace }));
    const list = await box.settle(api.list<Lease>(leaseResource));
    expect(list.items[0]?.spec.renewTime).toBe(lease.spec.renewTime);
    return lease.spec.renewTime;
  };
  await box.run(3600);
  expect(await seen()).toBe("2026-01-01T01:00:00.000000Z");
  await box.run(9);
  box.world.kubelets.halt("a");
  await box.run(100);
  expect(await seen()).toBe("2026-01-01T01:00:10.000000Z");
  box.world.kubelets.resume("a");
  await box.run(25);
  expect(await seen()).toBe("2026-01-01T01:02:10.000000Z");
});

test("a lease that somebody else keeps is what it says", () => {
  const lease = { metadata: {}, spec: { renewTime: "2026-01-01T00:00:00.000000Z" } } as Lease;
  expect(renewedAt(lease, Date.parse("2026-02-01T00:00:00Z"))).toBe(Date.parse("2026-01-01T00:00:00Z"));
  expect(renewedAt({ ...lease, spec: {} }, 0)).toBeUndefined();
});
