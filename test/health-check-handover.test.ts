// Health checks that another controller looks after, medik8s' own: nothing is done for them here, and yet our remediators
// serve whoever makes an object of theirs.

import { expect, test } from "vitest";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { replaceRemediations, replaceRemediationTemplates } from "../src/api/remediation.ts";
import { controllers } from "../src/decide/decision.ts";
import { leading } from "./controlled-box.ts";
import { Ward } from "./ward.ts";

const replacing = {
  remediationTemplate: { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: "replace" },
};
const others = new Set(controllers.filter(name => name !== "health-checks"));

test("without health-checks among the controllers a check is left alone, and our Replace serves who made it", async () => {
  const ward = new Ward({ controllers: others });
  await ward.open();
  await ward.box.create(replaceRemediationTemplates.resource, {
    metadata: { name: "replace" },
    spec: { template: { spec: {} } },
  });
  await ward.check(replacing);
  const [sick = ""] = await ward.silence();
  await ward.box.run(600);
  expect(await ward.actions()).toEqual([]);
  expect(await ward.status()).toEqual({});

  // As medik8s' controller makes it.
  const [check] = await ward.box.list(nodeHealthChecks.resource);
  const { name = "", uid = "" } = check?.metadata ?? {};
  const owner = { apiVersion: "remediation.medik8s.io/v1alpha1", kind: "NodeHealthCheck", name, uid };
  const annotations = {
    "remediation.medik8s.io/node-name": sick,
    "remediation.medik8s.io/template-name": "replace",
  };
  await ward.box.create(replaceRemediations.resource, {
    metadata: { name: sick, annotations, ownerReferences: [owner] },
    spec: {},
  });
  await ward.box.run(600);
  expect(await ward.nodeNames()).not.toContain(sick);
  const [made] = await ward.box.list(replaceRemediations.resource);
  const conditions = expect.arrayContaining([
    expect.objectContaining({ type: "Succeeded", status: "True" }),
  ]) as unknown;
  expect(made?.["status"]).toMatchObject({ conditions });
  expect((await ward.actions()).map(({ spec }) => spec.method)).toEqual(["Terminate"]);
});

const unserved = new Set(controllers.filter(name => name !== "remediators"));

test("without remediators among the controllers a check by our own templates starts nothing and names the flag", async () => {
  const ward = new Ward({ controllers: unserved });
  await ward.open();
  await ward.box.create(replaceRemediationTemplates.resource, {
    metadata: { name: "replace" },
    spec: { template: { spec: {} } },
  });
  await ward.check(replacing);
  const [sick = ""] = await ward.silence();
  await ward.box.run(600);
  expect(await ward.condition("Disabled")).toMatchObject({
    status: "True",
    reason: "RemediatorsOff",
    message: expect.stringContaining("remediators is not among --controllers") as string,
  });
  expect(ward.codes(sick)).toContain("check-disabled");
  expect(await ward.actions()).toEqual([]);
  expect(await ward.box.list(replaceRemediations.resource)).toEqual([]);
  expect(ward.controller.verify()).toEqual([]);
});

test("what was begun before health-checks was switched off keeps no place in the ledger, and its object stays", async () => {
  const ward = new Ward();
  await ward.open();
  await ward.check();
  const [sick = ""] = await ward.silence();
  await ward.box.run(600);
  expect(await ward.fenced()).toEqual([`${sick} reset`]);
  await ward.controller.stop();

  ward.box.start({ controllers: others, leadership: leading(2) });
  await ward.simulate(sick, null);
  await ward.box.run(300);
  const [entry] = await ward.actions();
  expect(entry?.status).toMatchObject({
    phase: "Done",
    outcome: expect.stringContaining("NodeHealthCheck web") as string,
  });
  expect(await ward.fenced()).toEqual([`${sick} reset`]);
});
