// What OpenShift says that health checks must heed: whether the cluster is being upgraded, by its ClusterVersions, whether
// MachineHealthChecks of its own look after the same machines, and how its control plane is laid out. What is served and
// cannot be read is said: nobody takes an unknown for a no.

import { isEqual } from "../api/schema/correlate.ts";
import type { MachineChecksView, TopologyView, UpgradeView } from "../snapshot/check-views.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import {
  machineChecksOf,
  noMachineChecks,
  noTopology,
  noUpgrade,
  topologyOf,
  upgradeOf,
} from "../snapshot/project-openshift.ts";
import type { Definitions } from "./definitions.ts";
import { OptionalKind } from "./optional-kind.ts";
import type { Feed } from "./ports.ts";

export class OpenShift {
  readonly #versions: OptionalKind;
  readonly #machineChecks: OptionalKind;
  readonly #infrastructures: OptionalKind;
  #upgrade: UpgradeView = noUpgrade;
  #conflicts: MachineChecksView = noMachineChecks;
  #topology: TopologyView = noTopology;

  constructor(feed: Feed, changed: () => void) {
    const versions = { apiVersion: "config.openshift.io/v1", kind: "ClusterVersion" };
    const machineChecks = { apiVersion: "machine.openshift.io/v1beta1", kind: "MachineHealthCheck" };
    const infrastructures = { apiVersion: "config.openshift.io/v1", kind: "Infrastructure" };
    this.#versions = new OptionalKind({ feed, kind: versions, changed });
    this.#machineChecks = new OptionalKind({ feed, kind: machineChecks, changed });
    this.#infrastructures = new OptionalKind({ feed, kind: infrastructures, changed });
  }

  look(definitions: Definitions, { checks }: ClusterPicture): void {
    this.#versions.look(definitions);
    this.#machineChecks.look(definitions);
    this.#infrastructures.look(definitions);
    const [upgrade, conflicts, topology] = [this.#upgradeView(), this.#conflictsView(), this.#topologyView()];
    if (!isEqual(upgrade, this.#upgrade)) checks.setUpgrade(upgrade);
    if (!isEqual(conflicts, this.#conflicts)) checks.setMachineChecks(conflicts);
    if (!isEqual(topology, this.#topology)) checks.setTopology(topology);
    this.#upgrade = upgrade;
    this.#conflicts = conflicts;
    this.#topology = topology;
  }

  stop(): void {
    this.#versions.stop();
    this.#machineChecks.stop();
    this.#infrastructures.stop();
  }

  #upgradeView(): UpgradeView {
    const { isServed, objects, failure } = this.#versions;
    return isServed ? { ...upgradeOf(objects), ...(failure === undefined ? {} : { failure }) } : noUpgrade;
  }

  #conflictsView(): MachineChecksView {
    const { objects, isPending, failure } = this.#machineChecks;
    if (isPending) return { ...noMachineChecks, isPending };
    return { ...machineChecksOf(objects), ...(failure === undefined ? {} : { failure }) };
  }

  #topologyView(): TopologyView {
    const { objects, isPending, failure } = this.#infrastructures;
    if (isPending) return { isPending };
    return { ...topologyOf(objects), ...(failure === undefined ? {} : { failure }) };
  }
}
