import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import type { Execution } from "./execution.ts";
import { machineOwner } from "./machine-owner.ts";

const node = (machine?: string) => ({
  name: "n",
  uid: "n-uid",
  annotations: machine === undefined ? {} : { "machine.openshift.io/machine": machine },
});

function refusal(code: number, reason: string): ApiError {
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
  return new ApiError({ ...head, code, reason, message: reason });
}

function executionBy(answer: () => unknown): Execution {
  const get = async () => answer();
  return { api: { get } } as unknown as Execution;
}

const machineOf = (nodeRef: object | undefined) =>
  executionBy(() => ({ metadata: { uid: "m-uid" }, status: nodeRef === undefined ? undefined : { nodeRef } }));
const served = machineOf({ kind: "Node", name: "n", uid: "n-uid" });

test.each<[string, string | undefined, string | undefined, readonly string[]]>([
  ["of the template's namespace", "machines/m", "machines", ["Machine m m-uid"]],
  ["of another one", "elsewhere/m", "machines", []],
  ["beside a remediation of no namespace", "machines/m", undefined, []],
  ["that the node does not name", undefined, "machines", []],
  ["that cannot be a name", "machines", "machines", []],
])("a remediation is owned by the Machine of its node: %s", async (_where, machine, namespace, owners) => {
  const found = await machineOwner(node(machine), namespace, served);
  expect(found.map(({ kind, name, uid }) => `${kind} ${name} ${uid}`)).toEqual(owners);
});

test.each<[string, object | undefined, number]>([
  ["names it", { name: "n", uid: "n-uid" }, 1],
  ["names it without its uid", { name: "n" }, 1],
  ["names another node: a node may say anything of itself", { name: "victim", uid: "victim-uid" }, 0],
  ["names an earlier node of that name", { name: "n", uid: "earlier-uid" }, 0],
  ["names none", undefined, 0],
])("a Machine that its node names owns the remediation if it %s", async (_which, nodeRef, count) => {
  expect(await machineOwner(node("machines/m"), "machines", machineOf(nodeRef))).toHaveLength(count);
});

test.each([
  ["is not there", refusal(404, "NotFound")],
  ["may not be read", refusal(403, "Forbidden")],
])("a Machine that %s owns nothing", async (_why, error) => {
  const execution = executionBy(() => {
    throw error;
  });
  expect(await machineOwner(node("machines/m"), "machines", execution)).toEqual([]);
});

test("without an answer nothing is made", async () => {
  const execution = executionBy(() => {
    throw new Error("reset");
  });
  await expect(machineOwner(node("machines/m"), "machines", execution)).rejects.toThrow("reset");
});
