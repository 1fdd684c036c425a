import { describe, expect, test } from "vitest";
import { EmbeddedServer } from "../../../test/embedded-server.ts";
import { node } from "./node.ts";
import type { Node } from "./node-types.ts";

const nodes = { group: "", plural: "nodes" };

function created(body: object = {}, server = new EmbeddedServer()): Node {
  return server.written({ verb: "create", ...nodes, body: { metadata: { name: "n" }, ...body } }) as Node;
}

/** One cell of `kubectl get nodes`. */
function shown(column: string, body: object): unknown {
  const found = node.columns.find(({ name }) => name === column);
  return found?.cell(created(body), Date.parse("2026-01-01T00:05:00Z"));
}

const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

describe("kubectl get nodes", () => {
  test.each([
    ["Unknown", {}],
    ["Ready", { status: ready("True") }],
    ["NotReady", { status: ready("False") }],
    ["NotReady", { status: ready("Unknown") }],
    ["Ready,SchedulingDisabled", { status: ready("True"), spec: { unschedulable: true } }],
  ])("status %s", (word, body) => {
    expect(shown("Status", body)).toBe(word);
  });

  test.each([
    ["<none>", {}],
    ["control-plane", { "node-role.kubernetes.io/control-plane": "" }],
    ["a,b", { "node-role.kubernetes.io/b": "", "kubernetes.io/role": "a" }],
  ])("roles %s", (roles, labels) => {
    expect(shown("Roles", { metadata: { name: "n", labels } })).toBe(roles);
  });

  test("what the kubelet says of the machine", () => {
    const nodeInfo = { kubeletVersion: "v1.36.3", osImage: "Debian", kernelVersion: "6.1", architecture: "arm64" };
    const addresses = [
      { type: "Hostname", address: "h" },
      { type: "InternalIP", address: "10.0.0.1" },
    ];
    const body = { status: { nodeInfo, addresses } };
    const columns = ["Age", "Version", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"];
    expect(columns.map(column => shown(column, body))).toEqual([
      "5m",
      "v1.36.3",
      "10.0.0.1",
      "<none>",
      "Debian",
      "6.1 (arm64)",
      "<unknown>",
    ]);
  });
});

describe("a new node", () => {
  test("takes no pods before it was seen ready", () => {
    const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    expect(created().spec.taints).toEqual([taint]);
    expect(created({ spec: { taints: [taint] } }).spec.taints).toEqual([taint]);
  });

  test("keeps the status it registers with", () => {
    expect(created({ status: ready("True") }).status.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
  });

  test("can allocate all it has unless it says otherwise", () => {
    expect(created({ status: { capacity: { cpu: "4" } } }).status.allocatable).toEqual({ cpu: "4" });
  });

  test.each([
    [{ podCIDR: "10.1.0.0/24" }, { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] }],
    [{ podCIDRs: ["10.1.0.0/24"] }, { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] }],
    [{ unschedulable: false }, {}],
  ])("%j becomes %j", (spec, expected) => {
    const { taints: _, ...rest } = created({ spec }).spec;
    expect(rest).toEqual(expected);
  });
});

describe("refused", () => {
  const taint = (fields: object) => ({ spec: { taints: [fields] } });
  test.each([
    [taint({ key: "a" }), "metadata.taints[0].effect: Required value"],
    [taint({ key: "a", effect: "Soon" }), 'metadata.taints[0].effect: Unsupported value: "Soon"'],
    [taint({ key: "not ok", effect: "NoSchedule" }), "metadata.taints[0].key: Invalid value"],
    [taint({ key: "a", value: "not ok", effect: "NoSchedule" }), "metadata.taints[0].value: Invalid value"],
    [
      { spec: { taints: ["x", "y"].map(value => ({ key: "a", value, effect: "NoExecute" })) } },
      "metadata.taints[1]: Duplicate value",
    ],
    [{ status: { capacity: { cpu: "-1" } } }, "status.capacity.cpu: Invalid value"],
    [{ status: { capacity: { "example.com/x": "500m" } } }, "must be an integer"],
    [{ spec: { podCIDR: "10.0.0.0" } }, "spec.podCIDRs[0]: Invalid value"],
    [{ spec: { podCIDRs: ["10.0.0.0/24", "10.1.0.0/24"] } }, "no more than one CIDR for each IP family"],
  ])("%j", (body, why) => {
    expect(() => created(body)).toThrow(why);
  });

  const changed = (before: object, spec: object) => {
    const server = new EmbeddedServer();
    created({ spec: before }, server);
    return server.written({ verb: "merge", ...nodes, name: "n", body: { spec } }) as Node;
  };

  test("another provider id, once there is one", () => {
    expect(changed({}, { providerID: "a" }).spec.providerID).toBe("a");
    expect(() => changed({ providerID: "a" }, { providerID: "b" })).toThrow("may not change providerID");
  });

  test("another pod range, once there is one", () => {
    const range = (bits: number) => ({ podCIDR: `10.1.0.0/${bits}`, podCIDRs: [`10.1.0.0/${bits}`] });
    expect(changed({}, range(24)).spec.podCIDR).toBe("10.1.0.0/24");
    expect(() => changed(range(24), range(25))).toThrow("may not change podCIDR");
    expect(() => changed(range(24), { podCIDR: null, podCIDRs: null })).toThrow("may not change podCIDR");
  });
});

test("the status subresource leaves the spec alone, the main resource the status", () => {
  const server = new EmbeddedServer();
  created({}, server);
  const call = {
    verb: "merge",
    ...nodes,
    name: "n",
    body: { spec: { unschedulable: true }, status: ready("True") },
  } as const;
  const viaStatus = server.written({ ...call, subresource: "status" }) as Node;
  expect([viaStatus.spec.unschedulable, viaStatus.status.conditions?.length]).toEqual([undefined, 1]);
  const viaMain = server.written({ ...call, body: { spec: { unschedulable: true }, status: ready("False") } }) as Node;
  expect([viaMain.spec.unschedulable, viaMain.status.conditions?.[0]?.status]).toEqual([true, "True"]);
});

test("nodes may be chosen by whether they take pods", () => {
  expect(node.rules.selectableFields?.(created({ spec: { unschedulable: true } }))).toEqual({
    "spec.unschedulable": "true",
  });
});
