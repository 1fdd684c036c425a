// What processes of the controller may and may not write, by the audit log: in dry run, and when a leader comes back
// that others took for dead. And whether the pod that is printed may run at all.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject, Manifest } from "../../../src/api/meta.ts";
import { nodeClaims } from "../../../src/api/node-claim.ts";
import { nodePools } from "../../../src/api/node-pool.ts";
import { nodeHealthChecks } from "../../../src/api/node-health-check.ts";
import { replaceRemediationTemplates } from "../../../src/api/remediation.ts";
import { safetyPolicies } from "../../../src/api/safety-policy.ts";
import { disruptionBudgets, nodes, pods } from "../../../src/control/resources.ts";
import type { FettleProcess } from "../../spine/fettle-process.ts";
import { processWorld } from "../../spine/process-world.ts";
import { type Claim, Stage } from "../../spine/world.ts";
import { type Identity, type Installed, installed, isMissing } from "./installed.ts";
import { isWrite, type Request } from "./requests.ts";

/**
 * Long enough for an eviction: the server tries again for seconds while others write the same PodDisruptionBudget, and
 * one that is cut off in between counts as a disruption for two minutes.
 */
const lease = [
  "--leader-elect-lease-duration=10s",
  "--leader-elect-renew-deadline=8s",
  "--leader-elect-retry-period=1s",
];

/** All that may be written where everything is only shown. That we may do something is asked, not written. */
const ofDryRuns = [
  "create events",
  "patch events",
  "create nodeactions",
  "patch nodeactions/status",
  "update leases",
  "create selfsubjectaccessreviews",
];
const ailment = "KernelDeadlock";
const ailing = { "fettle.dev/simulate": `${ailment}=True` };

describe.skipIf(isMissing)("processes of the controller", () => {
  let cluster: Installed;
  const running: FettleProcess[] = [];

  beforeAll(async () => {
    cluster = await installed();
  });
  afterAll(() => cluster?.stop());

  async function start(identity: Identity, ...flags: readonly string[]): Promise<FettleProcess> {
    // Whose heap is to be full need not fill the machine first.
    const process = await cluster.run(identity, {
      flags: [...lease, ...flags],
      nodeFlags: ["--max-old-space-size=192"],
    });
    running.push(process);
    return process;
  }

  async function stageOf(name: string): Promise<Stage> {
    const account = () => running.flatMap(({ lines }) => lines.slice(-40));
    const stop = () => cluster.stop();
    const stage = new Stage(processWorld({ name, api: cluster.api, account, stop }), name);
    await stage.open();
    return stage;
  }

  const writesBy = async ({ credential }: Identity) =>
    (await cluster.requests()).filter(request => request.credential === credential && isWrite(request));

  test("in dry run, whoever asks for it, only the lease, Events and what would be done are written", async () => {
    const stage = await stageOf("dry-run");
    const acting = await start(await cluster.identity());
    const pool = stage.named("workers");
    const template = { metadata: { labels: stage.labels }, spec: {} };
    await stage.create(nodePools.resource, { metadata: { name: pool }, spec: { replicas: 2, template } });
    const claims = await stage.ready(2);
    expect(await acting.stop()).toBe(0);

    await stage.patch(nodePools.resource, pool, { spec: { replicas: 1 } });
    const wish = await stage.claim("wish");
    await stage.patch(nodes, claims[0]?.status?.nodeName ?? "", { metadata: { annotations: ailing } });
    await stage.create(nodeHealthChecks.resource, {
      metadata: { name: pool },
      spec: {
        selector: { matchLabels: stage.labels },
        unhealthyConditions: [{ type: ailment, status: "True", duration: "1s" }],
        remediationTemplate: { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: pool },
      },
    });
    const shown = async (flags: readonly string[], ...actions: readonly string[]) => {
      const dry = await cluster.identity();
      const process = await start(dry, ...flags);
      await stage.world.until("what would be done", async () => {
        const open = (await stage.actions(...claims)).filter(({ status }) => status?.phase === "DryRun");
        return actions.every(action => open.some(({ spec }) => spec.action === action && spec.dryRun))
          ? true
          : undefined;
      });
      await stage.world.until("the launch that is held back", async () =>
        process.lines.some(line => line.includes(wish.metadata.name)) ? true : undefined,
      );
      await stage.world.pass(5);
      expect(await process.stop()).toBe(0);
      const written = new Set((await writesBy(dry)).map(({ verb, resource }) => `${verb} ${resource}`));
      expect([...written].filter(write => !ofDryRuns.includes(write))).toEqual([]);
      expect(written).toContain("update leases");
      return written;
    };
    expect(await shown(["--dry-run"], "ScaleDown")).toContain("create nodeactions");

    // By the cluster's own word, and of a health check, too.
    await stage.create(replaceRemediationTemplates.resource, {
      metadata: { name: pool },
      spec: { template: { spec: {} } },
    });
    const policies = safetyPolicies.resource;
    await stage.create(policies, { metadata: { name: "default" }, spec: { dryRun: true, settle: { quiet: "0s" } } });
    expect(await shown([], "ScaleDown", "Remediation")).toContain("create nodeactions");
    for (const kind of [nodeHealthChecks, replaceRemediationTemplates]) await stage.delete(kind.resource, pool);
    await stage.delete(policies, "default");
    expect((await stage.claims()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await stage.instances(wish)).toEqual([]);
  });

  /** Two replicas, and three nodes whose drains a budget holds; the one that leads has opened their actions. */
  async function handover(name: string) {
    const stage = await stageOf(name);
    const [old, next] = [await cluster.identity(), await cluster.identity()];
    const oldLeader = await start(old);
    for (const claim of ["a", "b", "c"]) await stage.claim(claim);
    const claims = await stage.ready(3);
    await heldPods(stage, claims);
    const nextLeader = await start(next);
    await Promise.all(claims.map(({ metadata }) => stage.delete(nodeClaims.resource, metadata.name)));
    await stage.world.until("drains that are held", async () => {
      const actions = await stage.actions(...claims);
      const held = actions.filter(({ status }) => status?.waitingFor?.message.includes("PodDisruptionBudget web"));
      return held.length === claims.length ? true : undefined;
    });
    const takenOver = async () => {
      const takenAt = await stage.world.until("the other to take over", async () => {
        const lease = (await writesBy(next)).find(({ resource, code }) => resource === "leases" && code < 300);
        return lease?.at;
      });
      await stage.world.until("the actions to be adopted", async () => {
        const actions = await stage.actions(...claims);
        const epochs = new Set(actions.map(({ spec }) => spec.epoch));
        return epochs.size === 1 && (await writesBy(next)).some(isAdoption) ? true : undefined;
      });
      return takenAt;
    };
    const letGo = () => stage.patch(disruptionBudgets, "web", { spec: { minAvailable: 0 } });
    const over = async () => {
      await stage.gone(...claims);
      const phases = (await stage.actions(...claims)).map(({ status }) => status?.phase);
      await stage.delete(disruptionBudgets, "web");
      return phases;
    };
    return { stage, old, oldLeader, nextLeader, takenOver, letGo, over };
  }

  test.each<[string, (one: FettleProcess) => void, (one: FettleProcess) => void]>([
    ["that was stopped", one => one.signal("SIGSTOP"), one => one.signal("SIGCONT")],
    ["whose event loop stood still", one => one.hang(), one => one.goOn()],
  ])("an old leader %s for longer than its lease writes nothing when it goes on", async (name, stop, goOn) => {
    const { stage, old, oldLeader, nextLeader, takenOver, letGo, over } = await handover(name.replaceAll(" ", "-"));
    stop(oldLeader);
    const takenAt = await takenOver();
    // The old one awakes to a world in which there is much to do, and all that it knew says that it leads.
    await letGo();
    goOn(oldLeader);
    expect(await over()).toEqual(["Done", "Done", "Done"]);
    await stage.world.pass(3);

    const late = (await writesBy(old)).filter(({ at, resource }) => at > takenAt && resource !== "leases");
    expect(late).toEqual([]);
    // Also its lease was not its own any more.
    const renewals = (await writesBy(old)).filter(({ at, resource }) => at > takenAt && resource === "leases");
    expect(renewals.filter(({ code }) => code < 300)).toEqual([]);
    expect([await oldLeader.stop(), await nextLeader.stop()]).toEqual([0, 0]);
  });

  test("a leader whose heap is full ends, and the other goes on from what is written", async () => {
    const { oldLeader, nextLeader, takenOver, letGo, over } = await handover("full-heap");
    oldLeader.fillHeap();
    expect(await oldLeader.ended).toBe("SIGABRT");
    await takenOver();
    await letGo();
    expect(await over()).toEqual(["Done", "Done", "Done"]);
    expect(await nextLeader.stop()).toBe(0);
  });

  test("the pod that is printed passes the restricted Pod Security Standard, and one that may run as root does not", async () => {
    const deployment = cluster.objects.find(({ kind }) => kind === "Deployment") as Deployment;
    const { metadata, spec } = deployment.spec.template;
    const admitted = async (name: string, of: PodSpec) => {
      const manifest = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name }, spec: of };
      const key = { namespace: deployment.metadata.namespace ?? "" };
      return cluster.api.create(pods, key, manifest, { dryRun: true }).then(
        () => "admitted",
        (error: Error) => error.message,
      );
    };
    expect(await admitted("as-printed", spec)).toBe("admitted");
    const { runAsNonRoot: _, runAsUser: __, ...securityContext } = spec.securityContext;
    expect(await admitted("as-root", { ...spec, securityContext })).toMatch(
      /violates PodSecurity "restricted:latest": runAsNonRoot/,
    );
  });
});

type PodSpec = { securityContext: { runAsNonRoot?: boolean; runAsUser?: number } };
type Deployment = Manifest & {
  metadata: { namespace?: string };
  spec: { template: { metadata: KubeObject["metadata"]; spec: PodSpec } };
};

const isAdoption = ({ resource, code }: Request) => resource === "nodeactions" && code < 300;

type Budget = KubeObject & { status?: { currentHealthy?: number } };

/** One on each node, under a budget that lets none go and has counted them. */
async function heldPods(stage: Stage, claims: readonly Claim[]): Promise<void> {
  const labels = { app: "web" };
  const budget = { minAvailable: claims.length, selector: { matchLabels: labels } };
  await stage.create(disruptionBudgets, { metadata: { name: "web" }, spec: budget });
  for (const { metadata, status } of claims) {
    const containers = [{ name: "web", image: "web" }];
    const spec = { nodeName: status?.nodeName, terminationGracePeriodSeconds: 1, containers };
    await stage.create(pods, { metadata: { name: metadata.name, labels }, spec });
  }
  await stage.world.until("the pods to be counted", async () => {
    const found = await stage.get<Budget>(disruptionBudgets, "web");
    return found?.status?.currentHealthy === claims.length ? true : undefined;
  });
}
