// Health checks on a real control plane that serves what OpenShift serves, under the rights that `fettle install`
// prints: what it says is heeded as soon as its kinds are there, and no longer once they are gone.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Manifest } from "../../../src/api/meta.ts";
import { formatTime } from "../../../src/api/time.ts";
import { nodes } from "../../../src/control/resources.ts";
import { systemClock } from "../../../src/kube/system-clock.ts";
import type { FettleProcess } from "../../spine/fettle-process.ts";
import { processWorld } from "../../spine/process-world.ts";
import { Stage, type World } from "../../spine/world.ts";
import { wideCaps } from "../repair/sick.ts";
import { established } from "../established.ts";
import { controllerUser, type Installed, installed, isMissing, succeed } from "../spine/installed.ts";
import {
  clusterVersionKind,
  clusterVersions,
  infrastructureKind,
  infrastructures,
  machineChecks,
  machineKinds,
  machines,
} from "./openshift.ts";
import { aStranger, type Stranger } from "./stranger.ts";
import { conditionOf, type Status, Ward } from "./ward.ts";

const machineKey = "machine.openshift.io/machine";
const [currentConfig, desiredConfig] = ["currentConfig", "desiredConfig"].map(
  key => `machineconfiguration.openshift.io/${key}`,
) as [string, string];

describe.skipIf(isMissing)("health checks on OpenShift", () => {
  let cluster: Installed;
  let stranger: Stranger;
  let controller: FettleProcess;
  let world: World;

  beforeAll(async () => {
    cluster = await installed();
    stranger = await aStranger(cluster.plane);
    const { api } = cluster;
    const account = () => controller.lines;
    world = processWorld({ name: "OpenShift", api, account, stop: () => cluster.stop(), waitMaxMs: 240_000 });
    await wideCaps(new Stage(world, "policy"), "0s");
    controller = await cluster.run(await cluster.identity());
  });
  afterAll(async () => {
    await stranger?.stop();
    await cluster?.stop();
  });

  const serve = (...kinds: readonly Manifest[]) => kubectl(kinds, "apply", "--server-side", "-f", "-");
  const unserve = (...kinds: readonly Manifest[]) => kubectl(kinds, "delete", "-f", "-");

  async function kubectl(items: readonly Manifest[], ...args: readonly string[]): Promise<void> {
    await succeed(cluster.plane, args, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    if (args[0] === "apply") await established(cluster.plane);
  }

  async function aWard(name: string): Promise<{ ward: Ward; sick: string; late: string }> {
    const ward = await Ward.open(world, name);
    const [sick = "", late = ""] = await ward.admit("a", "b", "c");
    await ward.template("idle", "Wait");
    await ward.check({ remediationTemplate: ward.reference("idle") });
    await ward.status("Enabled", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 3);
    return { ward, sick, late };
  }

  test("an upgrade that goes on holds what is new, by the cluster's version and by the nodes' configuration", async () => {
    const { ward, sick, late } = await aWard("upgraded");
    await serve(clusterVersionKind);
    await ward.create(clusterVersions, { metadata: { name: "version" }, spec: { clusterID: "c" } });
    await progressing("True");
    await ward.status("held by the upgrade", saysWhy("ClusterUpgrading", "Working towards 4.99."));
    await ward.sicken(sick);
    await ward.status("one unhealthy", ({ unhealthyNodes = [] }) => unhealthyNodes.length === 1);
    await world.pass(2);
    expect(await ward.remediations()).toEqual([]);

    await annotate(ward, sick, { [currentConfig]: "rendered-1", [desiredConfig]: "rendered-2" });
    await progressing("False");
    await ward.status("held by the configuration", saysWhy("ClusterUpgrading", `Node ${sick}`));
    await world.pass(1);
    expect(await ward.remediations()).toEqual([]);
    await annotate(ward, sick, { [currentConfig]: "rendered-2" });
    await ward.remediation("idle");

    // What runs goes on under the next upgrade, and what is new begins once nobody can say any more that there is one.
    await progressing("True");
    await ward.status("held again", saysWhy("ClusterUpgrading", "ClusterVersion version"));
    await ward.sicken(late);
    await ward.heal(sick);
    await ward.noneLeft();
    await unserve(clusterVersionKind);
    await ward.remediation("idle", ({ metadata }) => metadata.name.startsWith(late));
    await ward.heal(late);
    await ward.noneLeft();
    await ward.entriesDone(2);
  });

  async function progressing(status: string): Promise<void> {
    const lastTransitionTime = formatTime(systemClock.now());
    const conditions = [{ type: "Progressing", status, message: "Working towards 4.99.", lastTransitionTime }];
    const body = { type: "merge", body: { status: { conditions } } } as const;
    await cluster.api.patch(clusterVersions, { name: "version" }, body, { subresource: "status" });
  }

  test("beside a MachineHealthCheck a check is disabled; that for what its cloud takes back is left its own nodes", async () => {
    const { ward, sick, late } = await aWard("checked");
    await serve(...machineKinds);
    const unhealthyConditions = [{ type: "Ready", status: "Unknown", timeout: "300s" }];
    const spec = { selector: {}, maxUnhealthy: "40%", unhealthyConditions };
    await ward.create(machineChecks, { metadata: { name: "workers" }, spec });
    const conflict = `OpenShift's MachineHealthCheck ${ward.name}/workers looks after machines, too.`;
    const told = await ward.status("in conflict", one => conditionOf(one, "Disabled")?.message === conflict);
    expect(told).toMatchObject({ phase: "Disabled", reason: `ConflictingMachineHealthCheckDetected: ${conflict}` });

    const terminating = [{ type: "Terminating", status: "True", timeout: "0s" }];
    await ward.patch(machineChecks, "workers", { spec: { unhealthyConditions: terminating } });
    await ward.status("Enabled", ({ phase }) => phase === "Enabled");
    await takenBack(sick);
    await ward.sicken(sick);
    await refusal(sick, "left-to-machine-check");

    await aMachine(ward, "of-late", late);
    await annotate(ward, late, { [machineKey]: `${ward.name}/of-late` });
    await ward.sicken(late);
    const made = await ward.remediation("idle");
    expect(made.metadata.annotations).toMatchObject({ "remediation.medik8s.io/node-name": late });
    const owners = made.metadata.ownerReferences?.map(({ apiVersion, kind, name }) => `${apiVersion} ${kind} ${name}`);
    expect(owners).toEqual([
      `remediation.medik8s.io/v1alpha1 NodeHealthCheck ${ward.name}`,
      "machine.openshift.io/v1beta1 Machine of-late",
    ]);
    await ward.heal(late);
    await ward.noneLeft();
    await unserve(...machineKinds);
    await ward.remediation("idle", ({ metadata }) => metadata.name.startsWith(sick));
    await ward.heal(sick);
    await ward.noneLeft();
  });

  async function aMachine(ward: Ward, name: string, node: string): Promise<void> {
    await ward.create(machines, { metadata: { name }, spec: {} });
    const body = { type: "merge", body: { status: { nodeRef: { kind: "Node", name: node } } } } as const;
    await cluster.api.patch(machines, { name, namespace: ward.name }, body, { subresource: "status" });
  }

  async function takenBack(name: string): Promise<void> {
    const lastTransitionTime = formatTime(systemClock.now());
    const terminating = { type: "Terminating", status: "True", reason: "Test", message: "", lastTransitionTime };
    const body = { type: "strategic", body: { status: { conditions: [terminating] } } } as const;
    await cluster.api.patch(nodes, { name }, body, { subresource: "status" });
  }

  async function refusal(node: string, code: string): Promise<void> {
    await world.until(`${code} of node ${node}`, async () =>
      controller.lines.some(line => line.includes(`node/${node}`) && line.includes(code)) ? true : undefined,
    );
  }

  test("where the nodes of the control plane fence each other a check is disabled, and else is not", async () => {
    const { ward, sick } = await aWard("laid-out");
    await serve(infrastructureKind);
    await ward.create(infrastructures, { metadata: { name: "cluster" }, spec: {} });
    await laidOut("DualReplica");
    const told = (one: Status) => conditionOf(one, "Disabled")?.reason === "UnsupportedControlPlaneTopology";
    await ward.status("of a topology that is not supported", told);
    await ward.sicken(sick);
    await ward.status("one unhealthy", ({ unhealthyNodes = [] }) => unhealthyNodes.length === 1);
    await world.pass(1);
    expect(await ward.remediations()).toEqual([]);
    await laidOut("HighlyAvailable");
    await ward.remediation("idle");
    await ward.heal(sick);
    await ward.noneLeft();
    await unserve(infrastructureKind);
  });

  async function laidOut(controlPlaneTopology: string): Promise<void> {
    const body = { type: "merge", body: { status: { controlPlaneTopology } } } as const;
    await cluster.api.patch(infrastructures, { name: "cluster" }, body, { subresource: "status" });
  }

  test("nothing that the controller wanted was forbidden", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    const refused = own.filter(({ code }) => code === 401 || code === 403).map(({ resource }) => resource);
    // Of kinds that are served and granted to nobody.
    expect(refused).toEqual([]);
  });
});

function annotate(ward: Ward, node: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  return ward.patch(nodes, node, { metadata: { annotations } });
}

function saysWhy(reason: string, part: string): (status: Status) => boolean {
  return status => {
    const allowed = conditionOf(status, "RemediationAllowed");
    return allowed?.status === "False" && allowed.reason === reason && (allowed.message ?? "").includes(part);
  };
}
