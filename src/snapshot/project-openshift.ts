// From OpenShift's own objects to what is kept of them: whether the cluster is being upgraded, who else checks the health
// of its machines, and how its control plane is laid out.

import type { KubeObject } from "../api/meta.ts";
import type { MachineChecksView, TopologyView, UpgradeView } from "./check-views.ts";
import { conditionsOf } from "./project-meta.ts";
import { fields, word } from "./raw.ts";

/** Of ClusterVersions. */
export function upgradeOf(clusterVersions: readonly KubeObject[]): UpgradeView {
  const progressing = clusterVersions.flatMap(raw => {
    const conditions = conditionsOf(fields(raw["status"])["conditions"]);
    const found = conditions.find(({ type }) => type === "Progressing");
    return found?.status === "True" ? { name: raw.metadata.name, message: found.message } : [];
  });
  return { isOpenShift: true, progressing };
}

/** Before it has been looked for, or where the API does not exist. */
export const noUpgrade: UpgradeView = { isOpenShift: false, progressing: [] };

/** Of MachineHealthChecks. The one that OpenShift comes with minds only machines that their cloud takes back. */
export function machineChecksOf(machineChecks: readonly KubeObject[]): MachineChecksView {
  const [minding, conflicting] = [
    machineChecks.filter(mindsTerminating),
    machineChecks.filter(one => !mindsTerminating(one)),
  ];
  return {
    conflicting: conflicting.map(({ metadata: { namespace = "", name } }) => `${namespace}/${name}`).sort(),
    mindsTerminating: minding.length > 0,
  };
}

export const noMachineChecks: MachineChecksView = { conflicting: [], mindsTerminating: false };

function mindsTerminating(raw: KubeObject): boolean {
  const conditions = fields(raw["spec"])["unhealthyConditions"];
  const types = Array.isArray(conditions) ? conditions.map(one => word(fields(one)["type"])) : [];
  return types.length === 1 && types[0] === terminatingCondition;
}

/** Of Infrastructures, of which one has a meaning. */
export function topologyOf(infrastructures: readonly KubeObject[]): TopologyView {
  const cluster = infrastructures.find(({ metadata }) => metadata.name === "cluster");
  const controlPlane = word(fields(cluster?.["status"])["controlPlaneTopology"]);
  return controlPlane ? { controlPlane } : noTopology;
}

export const noTopology: TopologyView = {};

/** Of a node whose cloud is about to take its machine back. */
export const terminatingCondition = "Terminating";
