// Node: status may be set on create, the provider id only once, and the columns of `kubectl get nodes`.

import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text, wide } from "./column.ts";
import type { Node } from "./node-types.ts";
import { nodeErrors } from "./node-validation.ts";

const rolePrefix = "node-role.kubernetes.io/";

export const node = builtIn({
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  definition: "io.k8s.api.core.v1.Node",
  shortNames: ["no"],
  subresources: ["status"],
  columns: [
    nameColumn,
    text("Status", "Whether the node is ready and accepts pods.", object => status(object as Node)),
    text("Roles", "Roles that the labels of the node name.", object => roles(object as Node)),
    ageColumn,
    text("Version", "Version of the kubelet.", object => (object as Node).status.nodeInfo.kubeletVersion ?? ""),
    wide(text("Internal-IP", "First internal address.", object => address(object as Node, "InternalIP"))),
    wide(text("External-IP", "First external address.", object => address(object as Node, "ExternalIP"))),
    wide(text("OS-Image", "Operating system of the node.", object => info(object as Node, "osImage"))),
    wide(text("Kernel-Version", "Kernel of the node and its architecture.", object => kernel(object as Node))),
    wide(
      text("Container-Runtime", "Container runtime of the node.", object =>
        info(object as Node, "containerRuntimeVersion"),
      ),
    ),
  ],
  rules: {
    defaults: object => setDefaults(object as Node),
    admit: (object, { old }) => {
      if (old === undefined) taintUntilReady(object as Node);
    },
    prepare: (object, { old, subresource }) =>
      prepare(object as Node, old as Node | undefined, subresource === "status"),
    validate: (object, { old, subresource }) =>
      nodeErrors(object as Node, { old: old as Node | undefined, statusOnly: subresource === "status" }),
    selectableFields: object => ({
      "spec.unschedulable": String((object as Node).spec.unschedulable === true),
    }),
  },
});

function setDefaults({ spec, status }: Node): void {
  // The single and the plural form of the pod range are kept alike.
  if (spec.podCIDRs === undefined && spec.podCIDR !== undefined) spec.podCIDRs = [spec.podCIDR];
  if (spec.podCIDR === undefined && spec.podCIDRs?.[0] !== undefined) spec.podCIDR = spec.podCIDRs[0];
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity };
}

/** Nothing is scheduled to a new node before the node controller has seen it ready and takes the taint away. */
function taintUntilReady({ spec }: Node): void {
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  if (spec.taints?.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
  spec.taints = [...(spec.taints ?? []), taint];
}

function prepare(node: Node, old: Node | undefined, statusOnly: boolean): void {
  if (statusOnly && old) {
    node.spec = old.spec;
    return;
  }
  // The kubelet registers its node with status and all, so a create keeps it.
  if (old) node.status = old.status;
  delete node.spec.configSource;
  delete node.status.config;
}

function status({ spec, status }: Node): string {
  const ready = status.conditions?.findLast(condition => condition.type === "Ready");
  const health = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return spec.unschedulable ? `${health},SchedulingDisabled` : health;
}

function roles({ metadata }: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix)) roles.add(key.slice(rolePrefix.length));
    else if (key === "kubernetes.io/role") roles.add(value);
  }
  roles.delete("");
  return roles.size === 0 ? "<none>" : [...roles].sort().join(",");
}

function address({ status }: Node, type: string): string {
  return status.addresses?.find(address => address.type === type)?.address ?? "<none>";
}

function info({ status }: Node, field: string): string {
  return status.nodeInfo[field] || "<unknown>";
}

function kernel(node: Node): string {
  const { architecture } = node.status.nodeInfo;
  return architecture ? `${info(node, "kernelVersion")} (${architecture})` : info(node, "kernelVersion");
}
