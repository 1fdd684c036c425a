// Nodes: what a kubelet registers, what may change later, and how `kubectl get nodes` shows it.

import { type Change, corpus } from "./case.ts";

type Body = Record<string, unknown>;

const past = "2021-03-04T05:06:07Z";
const ready = (status: string): Body => ({
  type: "Ready",
  status,
  reason: "Kubelet",
  message: "said so",
  lastHeartbeatTime: past,
  lastTransitionTime: past,
});
const spec = (fields: Body): Body => ({ spec: fields });
const changed = (body: Body, put: (node: { spec: Body; metadata: Body; status: Body }) => void) => ({
  body,
  changes: [{ put: object => put(object as never) }] satisfies Change[],
});

export const nodes = corpus(
  { group: "", plural: "nodes", kind: "Node" },
  {
    minimal: {},
    "with capacity": { status: { capacity: { cpu: "4", memory: "16Gi", pods: "110" } } },
    "with allocatable": { status: { capacity: { cpu: 4 }, allocatable: { cpu: "3900m", memory: "15728640Ki" } } },
    "whole status": {
      metadata: { labels: { "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "master" } },
      spec: { providerID: "sim://a/b", podCIDR: "10.1.0.0/24", taints: [{ key: "a", effect: "NoSchedule" }] },
      status: {
        conditions: [ready("True")],
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "ExternalIP", address: "1.2.3.4" },
          { type: "Hostname", address: "a" },
        ],
        nodeInfo: {
          kubeletVersion: "v1.36.3",
          osImage: "Debian",
          kernelVersion: "6.1",
          containerRuntimeVersion: "containerd://2",
          architecture: "amd64",
          operatingSystem: "linux",
          machineID: "",
          systemUUID: "",
          bootID: "",
          kubeProxyVersion: "",
        },
        images: [{ names: ["a:1"], sizeBytes: 5 }],
        volumesInUse: [],
        phase: "Running",
      },
    },
    "condition without times": { status: { conditions: [{ type: "Ready", status: "True" }] } },
    "not ready": { status: { conditions: [ready("False")] } },
    "ready unknown": { status: { conditions: [ready("Unknown")] } },
    cordoned: { spec: { unschedulable: true }, status: { conditions: [ready("True")] } },
    "unschedulable false is dropped": spec({ unschedulable: false }),
    "both pod ranges": spec({ podCIDRs: ["10.1.0.0/24", "fd00::/64"] }),
    "taints with values": spec({ taints: [{ key: "a", value: "b", effect: "NoExecute", timeAdded: past }] }),
    "same key, two effects": spec({
      taints: [
        { key: "a", effect: "NoExecute" },
        { key: "a", effect: "NoSchedule" },
      ],
    }),
    "two pod ranges of one family": spec({ podCIDRs: ["10.1.0.0/24", "10.2.0.0/24"] }),
    "pod range that is none": spec({ podCIDR: "here" }),
    "same taint twice": spec({
      taints: [
        { key: "a", effect: "NoExecute" },
        { key: "a", value: "x", effect: "NoExecute" },
      ],
    }),
    "taint without key and effect": spec({ taints: [{}] }),
    "taint effect": spec({ taints: [{ key: "a", effect: "Never" }] }),
    "taint value": spec({ taints: [{ key: "a", value: "not ok", effect: "NoSchedule" }] }),
    "negative capacity": { status: { capacity: { cpu: "-1" } } },
    "part of a pod": { status: { capacity: { pods: "500m" } } },
    "capacity that is none": { status: { capacity: { cpu: "lots" } } },
    "heartbeat that is no time": { status: { conditions: [{ ...ready("True"), lastHeartbeatTime: "now" }] } },
    "bad name": { metadata: { name: "Not_OK" } },
    "config source is dropped": spec({
      configSource: { configMap: { name: "a", namespace: "b", kubeletConfigKey: "c" } },
    }),
    "cordon by put": changed({}, node => Object.assign(node.spec, { unschedulable: true })),
    "cordon by patch": {
      body: {},
      changes: [{ patch: { spec: { unschedulable: true } } }, { patch: { spec: { unschedulable: null } } }],
    },
    "taint by patch replaces": {
      body: spec({ taints: [{ key: "a", effect: "NoSchedule" }] }),
      changes: [{ patch: { spec: { taints: [{ key: "b", effect: "NoExecute" }] } } }],
    },
    "provider id set once": changed({}, node => Object.assign(node.spec, { providerID: "sim://x" })),
    "provider id changed": changed(spec({ providerID: "sim://x" }), node =>
      Object.assign(node.spec, { providerID: "sim://y" }),
    ),
    "provider id taken away": changed(spec({ providerID: "sim://x" }), node => delete node.spec.providerID),
    "pod range changed": changed(spec({ podCIDR: "10.1.0.0/24" }), node => {
      Object.assign(node.spec, { podCIDR: "10.2.0.0/24", podCIDRs: ["10.2.0.0/24"] });
    }),
    "status through the main resource": changed({}, node => Object.assign(node.status, { phase: "Running" })),
    "bad taint later": changed({}, node => Object.assign(node.spec, { taints: [{ key: "a", effect: "x" }] })),
    "status and labels through the subresource": {
      body: {},
      changes: [{ status: { conditions: [ready("True")], allocatable: { cpu: "2" } } }],
    },
    "same address twice": {
      body: {},
      changes: [
        {
          status: {
            addresses: [
              { type: "InternalIP", address: "10.0.0.1" },
              { type: "InternalIP", address: "10.0.0.1" },
            ],
          },
        },
      ],
    },
    "conditions merge by type": {
      body: { status: { conditions: [ready("True")] } },
      changes: [{ patch: { status: { conditions: [{ type: "Ready", status: "False" }] } } }],
    },
    "labels removed": changed({ metadata: { labels: { a: "b" } } }, node => delete node.metadata.labels),
  },
);
