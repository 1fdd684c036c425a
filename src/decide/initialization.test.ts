import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, at, t0 } from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import type { Taint, TaintEffect } from "../api/taint.ts";
import { firstReadyTime, initialization } from "./initialization.ts";

const taint = (key: string, effect: TaintEffect, value?: string): Taint =>
  value === undefined ? { key, effect } : { key, effect, value };
const network = taint("network", "NoExecute");

const claim = aClaim("a", {
  stage: "registered",
  spec: { startupTaints: [network], requests: { cpu: "1", "example.com/gpu": 1, "example.com/none": "0" } },
});
const registered = (options: Parameters<typeof aNode>[1] = {}) =>
  aNode("a", {
    allocatable: { cpu: "4", "example.com/gpu": "1" },
    ...options,
    labels: { "karpenter.sh/initialized": "", ...options.labels },
  });

describe("a registered node", () => {
  test("that has everything is labelled first", () => {
    expect(initialization(claim, registered())).toEqual({
      commands: [
        {
          kind: "update-node",
          node: { name: "a", uid: "a-uid" },
          change: { labels: { "karpenter.sh/initialized": "true" } },
          why: "Node a has all that claim a asks for.",
        },
      ],
      refusals: [],
      notices: [],
    });
  });

  test("is initialized once it shows the label", () => {
    const { condition, commands } = initialization(
      claim,
      registered({ labels: { "karpenter.sh/initialized": "true" } }),
    );
    expect(condition).toEqual({ type: "Initialized", status: "True", reason: "Initialized", message: "" });
    expect(commands).toEqual([]);
  });

  test.each<[string, Parameters<typeof aNode>[1], string, string, string]>([
    ["not Ready", { ready: "False" }, "node-not-ready", "NodeNotReady", "Node a is not Ready: Ready is False (Ready)."],
    [
      "out of reach",
      { ready: "Unknown" },
      "node-not-ready",
      "NodeNotReady",
      "Node a is not Ready: Ready is Unknown (Ready).",
    ],
    ["silent", { conditions: [] }, "node-not-ready", "NodeNotReady", "Node a is not Ready: it says nothing of Ready."],
    [
      "with a startup taint, whatever its value",
      { taints: [{ ...network, value: "setting-up" }] },
      "startup-taints-exist",
      "StartupTaintsExist",
      "Node a still has the startup taint network=setting-up:NoExecute.",
    ],
    [
      "without a resource that was asked for",
      { allocatable: { cpu: "4" } },
      "resource-not-registered",
      "ResourceNotRegistered",
      "Node a does not offer example.com/gpu yet.",
    ],
    [
      "with none of a resource that was asked for",
      { allocatable: { cpu: "4", "example.com/gpu": "0" } },
      "resource-not-registered",
      "ResourceNotRegistered",
      "Node a does not offer example.com/gpu yet.",
    ],
    [
      "with an amount that nobody can read",
      { allocatable: { cpu: "lots", "example.com/gpu": "1" } },
      "resource-not-registered",
      "ResourceNotRegistered",
      "Node a does not offer cpu yet.",
    ],
  ])("%s is not initialized yet", (_, node, code, reason, message) => {
    const step = initialization(claim, registered(node));
    expect(step.commands).toEqual([]);
    expect(step.refusals).toMatchObject([{ subject: "claim/a", code, message }]);
    expect(step.condition).toEqual({ type: "Initialized", status: "Unknown", reason, message });
  });

  test.each([
    taint("node.kubernetes.io/not-ready", "NoSchedule"),
    taint("node.kubernetes.io/not-ready", "NoExecute"),
    taint("node.kubernetes.io/unreachable", "NoSchedule"),
    taint("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", "true"),
    taint("karpenter.sh/unregistered", "NoExecute"),
    taint("readiness.k8s.io/agent", "NoSchedule"),
  ])("with the ephemeral taint $key:$effect is not initialized yet", ephemeral => {
    const step = initialization(claim, registered({ taints: [ephemeral] }));
    expect(step.refusals).toMatchObject([{ code: "ephemeral-taints-exist" }]);
    expect(step.condition).toMatchObject({ status: "Unknown", reason: "KnownEphemeralTaintsExist" });
  });

  test("with other taints is initialized", () => {
    const taints = [taint("team", "NoSchedule"), taint("network", "NoSchedule")];
    expect(initialization(claim, registered({ taints })).commands).toHaveLength(1);
  });

  test("that brought the label along is judged all the same", () => {
    const node = registered({ ready: "False", labels: { "karpenter.sh/initialized": "true" } });
    expect(initialization(claim, node).condition).toMatchObject({ status: "Unknown", reason: "NodeNotReady" });
  });
});

describe("a claim that was initialized", () => {
  const done = aClaim("a");

  test("stays so when its node falls sick", () => {
    const step = initialization(done, aNode("a", { ready: "False", taints: [network] }));
    expect(step).toEqual({ commands: [], refusals: [], notices: [] });
  });

  test("stays so while a node made anew has yet to come up, and the node is labelled again", () => {
    expect(initialization(done, registered({ ready: "False" }))).toMatchObject({
      commands: [],
      refusals: [{ code: "node-not-ready" }],
    });
    expect(initialization(done, registered({ ready: "False" })).condition).toBeUndefined();
    expect(initialization(done, registered()).commands).toMatchObject([{ kind: "update-node" }]);
  });
});

describe("the first time that the node was Ready", () => {
  const ready = (since: number | undefined, createdAt = t0) => {
    const { since: _, ...condition } = aCondition("Ready", "True");
    const conditions = [since === undefined ? condition : { ...condition, since }];
    return aNode("a", { createdAt, conditions });
  };

  test.each<[string, ReturnType<typeof aNode>, string | undefined]>([
    ["is what its reporter says", ready(at("90s")), formatTime(at("90s"))],
    ["is not before the node was there", ready(t0, at("1m")), formatTime(at("1m"))],
    ["is the node's creation if nobody says when", ready(undefined, at("1m")), formatTime(at("1m"))],
    ["has not come while it is not Ready", aNode("a", { ready: "False" }), undefined],
    ["has not come while it says nothing", aNode("a", { conditions: [] }), undefined],
  ])("%s", (_, node, time) => {
    expect(firstReadyTime(claim, node)).toBe(time);
  });

  test("is written once", () => {
    const known = aClaim("a", { status: { firstReadyTime: formatTime(t0) } });
    expect(firstReadyTime(known, ready(at("90s")))).toBeUndefined();
  });
});
