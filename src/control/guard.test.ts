import { describe, expect, test } from "vitest";
import { ScriptedApi, scriptedProvider } from "../../test/scripted-shell.ts";
import { guardedApi, guardedProvider } from "./guard.ts";
import { CutShort } from "./outcome.ts";
import { nodes } from "./resources.ts";

function guarded({ isInTerm = true, isAborted = false }) {
  const server = new ScriptedApi();
  const abort = new AbortController();
  if (isAborted) abort.abort(new Error("late"));
  const guard = { signal: abort.signal, isInTerm: () => isInTerm };
  const asked: string[] = [];
  const answer = (call: string) => async () => (asked.push(call), "gone" as const);
  const provider = scriptedProvider({
    get: answer("get"),
    delete: answer("delete"),
    reboot: answer("reboot"),
    list: async () => (asked.push("list"), []),
    create: async () => (asked.push("create"), { error: "Unknown", message: "" }),
  });
  const claim = {
    apiVersion: "v1",
    kind: "NodeClaim" as const,
    metadata: { name: "", uid: "", resourceVersion: "", creationTimestamp: "" },
    spec: {},
  };
  const launch = { claim, nodeClass: { group: "", kind: "", name: "" }, cluster: "" };
  const api = guardedApi(server.api, guard);
  const machines = guardedProvider(provider, guard);
  const object = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
  const calls: Record<string, () => Promise<unknown>> = {
    "read an object": () => api.get(nodes, { name: "n" }),
    "list objects": () => api.list(nodes),
    "create an object": () => api.create(nodes, {}, object),
    "patch an object": () => api.patch(nodes, { name: "n" }, { type: "merge", body: {} }),
    "delete an object": () => api.delete(nodes, { name: "n" }),
    "look an instance up": () => machines.get("i"),
    "list instances": () => machines.list("blue"),
    "launch an instance": () => machines.create(launch),
    "end an instance": () => machines.delete("i"),
    "reboot an instance": () => machines.reboot("i", "token"),
  };
  return { server, asked, calls };
}

const reads = ["read an object", "list objects", "look an instance up", "list instances"];
const writes = [
  "create an object",
  "patch an object",
  "delete an object",
  "launch an instance",
  "end an instance",
  "reboot an instance",
];

describe("a command", () => {
  test.each([...reads, ...writes])("whose time is up does not %s", async name => {
    const { calls, server, asked } = guarded({ isAborted: true });
    await expect(calls[name]?.()).rejects.toThrow(CutShort);
    expect([server.calls, asked]).toEqual([[], []]);
  });

  test.each(writes)("of an earlier term does not %s", async name => {
    const { calls, server, asked } = guarded({ isInTerm: false });
    await expect(calls[name]?.()).rejects.toThrow(CutShort);
    expect([server.calls, asked]).toEqual([[], []]);
  });

  test.each([...reads, ...writes])("in its time and term may %s, and takes its signal along", async name => {
    const { calls, server, asked } = guarded({});
    server.hold({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n", uid: "u", resourceVersion: "1", creationTimestamp: "" },
    });
    await calls[name]?.();
    expect(server.calls.length + asked.length).toBe(1);
    for (const { options } of server.calls) expect(options?.signal).toBeInstanceOf(AbortSignal);
  });
});
