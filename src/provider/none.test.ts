import { expect, test } from "vitest";
import { launchOf } from "../../test/simulated-cloud.ts";
import { noProvider } from "./none.ts";

test("without a provider nothing is launched, listed or ended, and every call says so", async () => {
  const provider = noProvider();
  const request = launchOf("a");
  const answers = await Promise.all([
    provider.create(request),
    provider.get("x"),
    provider.list("blue"),
    provider.delete("x"),
    provider.reboot("x", "t"),
  ]);
  for (const answer of answers) expect(answer).toMatchObject({ error: "NotSupported" });
});

test("it serves no class and still says which conditions mean a sick node", () => {
  const { view } = noProvider();
  const ref = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
  expect(view.serves(ref)).toBe(false);
  expect(view.defaultClass).toBeUndefined();
  expect(view.nodeClass(ref)).toMatchObject({ state: "NotFound" });
  expect(view.instanceTypes(ref)).toEqual([]);
  expect(view.repairStatements.map(({ conditionType }) => conditionType)).toContain("Ready");
});
