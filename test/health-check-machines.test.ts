// ReplaceRemediation of a node that a Machine of Cluster API owns; the test plays Cluster API.

import { beforeEach, expect, test } from "vitest";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import { replaceRemediations } from "../src/api/remediation.ts";
import { ApiError } from "../src/api/status.ts";
import { definitions } from "../src/control/definitions.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { nodes } from "../src/control/resources.ts";
import { ControlledBox } from "./controlled-box.ts";
import { definitionOf } from "./definition-of.ts";
import { Ward } from "./ward.ts";

const machines: Resource = {
  group: "cluster.x-k8s.io",
  version: "v1beta1",
  plural: "machines",
  kind: "Machine",
  namespaced: true,
};
const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
const name = "worker-1";

type Condition = { type: string; status: string; reason: string; message: string };
type Rights = { mayReadMachines: boolean };

let rights: Rights;
let ward: Ward;

beforeEach(async () => {
  rights = { mayReadMachines: true };
  const box = new ControlledBox();
  ward = new Ward({ box, api: limited(box.api, rights) });
  for (const node of [name, "worker-2", "worker-3"]) box.kubelets.join({ name: node, capacity });
  await box.run(30);
  await ward.annotate(name, {
    "cluster.x-k8s.io/machine": "machine-1",
    "cluster.x-k8s.io/cluster-namespace": "default",
  });
});

function limited(api: KubeApi, granted: Rights): KubeApi {
  const get = async (...args: Parameters<KubeApi["get"]>) => {
    if (args[0].plural !== machines.plural || granted.mayReadMachines) return api.get(...args);
    const message = 'machines.cluster.x-k8s.io "machine-1" is forbidden: User "fettle" cannot get resource "machines"';
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 403, message } as const;
    throw new ApiError({ ...status, reason: "Forbidden" });
  };
  const bound = (key: keyof KubeApi) => api[key].bind(api) as unknown;
  return new Proxy(api, { get: (_, key: keyof KubeApi) => (key === "get" ? get : bound(key)) });
}

async function machine(nodeName = name, more = {}): Promise<void> {
  await ward.box.create(definitions, definitionOf(machines));
  await ward.box.run(5);
  const found = (await ward.box.list(nodes)).find(({ metadata }) => metadata.name === nodeName);
  const status = { nodeRef: { kind: "Node", name: nodeName, uid: found?.metadata.uid, ...more } };
  const metadata = { name: "machine-1", finalizers: ["machine.cluster.x-k8s.io"] };
  await ward.box.create(machines, { metadata });
  const patch = { type: "merge", body: { status } } as const;
  const key = { name: "machine-1", namespace: "default" };
  await ward.box.settle(ward.box.api.patch(machines, key, patch, { subresource: "status" }));
}

async function replace(): Promise<void> {
  await ward.box.create(replaceRemediations.resource, { metadata: { name }, spec: {} });
  await ward.box.run(90);
}

async function said(): Promise<Record<string, string>> {
  const [made] = await ward.box.list<KubeObject & { status?: { conditions?: Condition[] } }>(
    replaceRemediations.resource,
  );
  const told = made?.status?.conditions ?? [];
  return Object.fromEntries(told.map(({ type, status, message }) => [type, `${status} ${message}`]));
}

async function machinesThere(): Promise<readonly KubeObject[]> {
  return ward.box.list(machines);
}

test("the Machine is deleted once, with an action before it, and the node goes with it", async () => {
  await machine();
  await replace();
  const [deleted] = await machinesThere();
  expect(deleted?.metadata.deletionTimestamp).toBeDefined();
  expect(await ward.actions()).toMatchObject([
    {
      spec: { method: "Terminate", machine: { namespace: "default", name: "machine-1" } },
      status: { phase: "Running" },
    },
  ]);
  expect(await said()).toMatchObject({
    Succeeded: expect.stringContaining("Unknown Machine default/machine-1 is being deleted"),
    PermanentNodeDeletionExpected: expect.stringContaining("True"),
  });
  const [action] = await ward.actions();
  expect(ward.controller.refusals(`action/${action?.metadata.name}`).map(({ code }) => code)).toEqual([
    "left-to-owner",
  ]);
  await ward.box.patch(machines, "machine-1", { metadata: { finalizers: null } });
  await ward.box.delete(nodes, name);
  await ward.box.run(30);
  expect(await said()).toMatchObject({ Succeeded: expect.stringContaining("True") });
  expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Done"]);
  expect(ward.controller.verify()).toEqual([]);
});

test("without Cluster API in the cluster nothing is touched, and that is no error", async () => {
  await replace();
  expect(await said()).toMatchObject({
    Succeeded: expect.stringMatching(/^False .*Machine default\/machine-1 is in another cluster/),
  });
  expect(await ward.actions()).toEqual([]);
});

test.each([{}, { uid: "" }])(
  "a Machine of another node is not deleted, whether or not it says which: %o",
  async more => {
    await machine("worker-2", more);
    await replace();
    const [kept] = await machinesThere();
    expect(kept?.metadata.deletionTimestamp).toBeUndefined();
    expect(await said()).toMatchObject({ Succeeded: expect.stringMatching(/^False .*its node is worker-2/) });
  },
);

test("a Machine that is gone already is said to be", async () => {
  await ward.box.create(definitions, definitionOf(machines));
  await ward.box.run(5);
  await replace();
  expect(await said()).toMatchObject({ Succeeded: expect.stringMatching(/^False .*is gone/) });
});

test("without leave to delete Machines that is said, with what grants it", async () => {
  rights.mayReadMachines = false;
  await machine();
  await replace();
  expect(await said()).toMatchObject({
    Succeeded: expect.stringMatching(/^False .*cannot get resource "machines".*verbs: \[get, delete\]/),
  });
});
