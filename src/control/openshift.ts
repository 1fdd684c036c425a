// What OpenShift says that health checks must heed: whether the cluster is being upgraded, by its ClusterVersions, and
// whether MachineHealthChecks of its own look after the same machines. What is served and cannot be read is said: nobody
// takes an unknown for a no.

import { isEqual } from "../api/schema/correlate.ts";
import type { MachineChecksView, UpgradeView } from "../snapshot/check-views.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { machineChecksOf, noMachineChecks, noUpgrade, upgradeOf } from "../snapshot/project-openshift.ts";
import type { Definitions } from "./definitions.ts";
import { OptionalKind } from "./optional-kind.ts";
import type { Feed } from "./ports.ts";

export class OpenShift {
  readonly #versions: OptionalKind;
  readonly #machineChecks: OptionalKind;
  #upgrade: UpgradeView = noUpgrade;
  #conflicts: MachineChecksView = noMachineChecks;

  constructor(feed: Feed, changed: () => void) {
    const versions = { apiVersion: "config.openshift.io/v1", kind: "ClusterVersion" };
    const machineChecks = { apiVersion: "machine.openshift.io/v1beta1", kind: "MachineHealthCheck" };
    this.#versions = new OptionalKind({ feed, kind: versions, changed });
    this.#machineChecks = new OptionalKind({ feed, kind: machineChecks, changed });
  }

  look(definitions: Definitions, { checks }: ClusterPicture): void {
    this.#versions.look(definitions);
    this.#machineChecks.look(definitions);
    const [upgrade, conflicts] = [this.#upgradeView(), this.#conflictsView()];
    if (!isEqual(upgrade, this.#upgrade)) checks.setUpgrade(upgrade);
    if (!isEqual(conflicts, this.#conflicts)) checks.setMachineChecks(conflicts);
    this.#upgrade = upgrade;
    this.#conflicts = conflicts;
  }

  stop(): void {
    this.#versions.stop();
    this.#machineChecks.stop();
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
}
