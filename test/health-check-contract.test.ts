import { beforeEach, describe, expect, test } from "vitest";
import { nodes } from "../src/control/resources.ts";
import { Ward } from "./ward.ts";

describe("what a check tells", () => {
  let ward: Ward;
  beforeEach(async () => {
    ward = new Ward();
    await ward.open();
    await ward.unbounded();
  });

  test("changes at most once a second however often nodes do, and the last of it is told", async () => {
    const unhealthyConditions = [{ type: "Hot", status: "True", duration: "10m" }];
    await ward.check({ unhealthyConditions, maxUnhealthy: "100%" });
    const names = await ward.nodeNames();
    const before = ward.count("update-check");
    for (let beat = 0; beat < 60; beat++) {
      const name = names[beat % names.length] ?? "";
      const lastTransitionTime = new Date(ward.box.clock.now()).toISOString();
      const hot = { type: "Hot", status: beat % 7 < 4 ? "True" : "False", lastTransitionTime };
      const patch = { type: "strategic", body: { status: { conditions: [hot] } } } as const;
      await ward.box.settle(ward.box.api.patch(nodes, { name }, patch, { subresource: "status" }));
      await ward.box.run(0.1);
    }
    const during = ward.count("update-check") - before;
    expect(during).toBeGreaterThan(2);
    expect(during).toBeLessThanOrEqual(7);
    await ward.box.run(2);
    const hot = (await ward.box.list(nodes)).filter(({ status }) =>
      JSON.stringify(status).includes('"Hot","status":"True"'),
    );
    expect(await ward.status()).toMatchObject({ observedNodes: 6, healthyNodes: 6 - hot.length });
  });
});
