// A health check by chance, with what it remediates by, and what befalls it: people who pause and edit it, and a stranger
// whose remediator cures, fails, hangs, or is slow to let go.

import type { Manifest } from "../../api/meta.ts";
import { type Dice, diceOf, times } from "./dice.ts";
import type { RandomPool } from "./random-pools.ts";
import { type Act, durationMs, type Entry } from "./scenario.ts";

type RandomCheck = { readonly manifests: readonly Manifest[]; readonly timeline: readonly Entry[] };

/** Chance of its own: the rest of a world is the same with a check or without. */
const purpose = 0x5eed;
const name = "by-chance";
const ours = "fettle.dev/v1alpha1";
const strangers = "fence.example.org/v1";
const stuckFinalizer = "fence.example.org/undo";
const mendedAt = "21h";
const troubleMinutes = 20 * 60;

export function randomCheck(seed: number, pools: readonly RandomPool[]): RandomCheck {
  const dice = diceOf(seed ^ purpose);
  if (!dice.isLucky(35)) return { manifests: [], timeline: [] };
  const steps = dice.one(courses);
  const timeline = [
    ...times(dice.whole(1, 6), () => trouble(dice, pools)),
    ...times(dice.whole(2, 5), () => sickness(dice, pools)),
    ...stranger(dice, steps),
    ...mending(),
  ];
  return {
    manifests: [...kindsOf("FenceRemediation"), ...templates(dice), check(dice, steps)],
    timeline: timeline.toSorted((a, b) => durationMs(a.at) - durationMs(b.at)),
  };
}

type Way = "Replace" | "Reboot" | "Fence";
const courses: readonly (readonly Way[])[] = [
  ["Replace"],
  ["Reboot"],
  ["Fence"],
  ["Reboot", "Replace"],
  ["Fence", "Replace"],
  ["Fence", "Reboot", "Replace"],
];

function kindsOf(remediation: string): readonly Manifest[] {
  return [remediation, `${remediation}Template`].map(kind => {
    const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
    const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const version = { name: "v1", served: true, storage: true, subresources: { status: {} } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.fence.example.org` },
      spec: {
        group: "fence.example.org",
        scope: "Namespaced",
        names: { kind, plural, singular, listKind: `${kind}List` },
        versions: [{ ...version, schema: { openAPIV3Schema } }],
      },
    };
  });
}

function templates(dice: Dice): readonly Manifest[] {
  const template = (way: Way, spec: object) => {
    const { apiVersion, kind, ...metadata } = referenceTo(way);
    return { apiVersion, kind, metadata, spec: { template: { spec } } };
  };
  return [
    template("Replace", dice.isLucky(30) ? { termination: "Graceful" } : {}),
    template("Reboot", { timeout: dice.one(["3m", "10m"]), attempts: dice.whole(1, 2) }),
    template("Fence", { port: dice.whole(1, 8) }),
  ];
}

function referenceTo(way: Way) {
  const kind = `${way}RemediationTemplate`;
  return way === "Fence"
    ? { apiVersion: strangers, kind, name, namespace: "default" }
    : { apiVersion: ours, kind, name };
}

function stepsBy(dice: Dice, ways: readonly Way[]): Record<string, unknown> {
  const [alone, ...more] = ways;
  if (alone !== undefined && more.length === 0 && dice.isLucky(60)) {
    return { remediationTemplate: referenceTo(alone), escalatingRemediations: null };
  }
  return {
    remediationTemplate: null,
    escalatingRemediations: ways.map((way, order) => ({
      order,
      timeout: dice.one(["5m", "20m"]),
      remediationTemplate: referenceTo(way),
    })),
  };
}

function check(dice: Dice, steps: readonly Way[]): Manifest {
  const written = Object.entries(stepsBy(dice, steps)).filter(([, value]) => value !== null);
  return {
    apiVersion: "remediation.medik8s.io/v1alpha1",
    kind: "NodeHealthCheck",
    metadata: { name },
    spec: {
      unhealthyConditions: [
        { type: "Ready", status: "Unknown", duration: dice.one(["30s", "5m"]) },
        { type: "Ready", status: "False", duration: dice.one(["30s", "5m"]) },
        { type: "KernelDeadlock", status: "True", duration: dice.one(["30s", "5m"]) },
      ],
      maxUnhealthy: dice.one([3, "49%", "100%"]),
      ...Object.fromEntries(written),
      ...(dice.isLucky(30) && { healthyDelay: dice.one(["1m", "15m"]) }),
      ...(dice.isLucky(30) && { stormCooldownDuration: dice.one(["1m", "30m"]) }),
    },
  };
}

type Maker = (dice: Dice, pools: readonly RandomPool[]) => Act;

const troubles: readonly Maker[] = [
  dice => edited({ pauseRequests: dice.one([["somebody is nervous"], null]) }),
  dice => edited({ dryRun: dice.isLucky(50) }),
  dice => edited(stepsBy(dice, dice.one(courses))),
  dice => edited({ maxUnhealthy: dice.one([0, 1, "20%", "100%"]) }),
  dice => edited({ selector: dice.one([null, { matchLabels: { team: "blue" } }]) }),
  (dice, pools) => onNodes(dice, pools, { labels: { team: dice.one(["blue", "red"]) } }),
  (dice, pools) => onNodes(dice, pools, { annotations: { "fettle.dev/simulate": "" } }),
  (dice, pools) => onNodes(dice, pools, { labels: { "remediation.medik8s.io/exclude-from-remediation": "true" } }),
  (dice, pools) =>
    onNodes(dice, pools, { annotations: { "remediation.medik8s.io/manually-confirmed-healthy": "yes" } }),
  dice => ({ delete: { kind: dice.one(["FenceRemediation", "ReplaceRemediation"]), selector: "", count: 1 } }),
];

function trouble(dice: Dice, pools: readonly RandomPool[]): Entry {
  const at = `${dice.whole(10, troubleMinutes)}m${dice.whole(0, 59)}s`;
  return { at, do: dice.one(troubles)(dice, pools) };
}

/** At times enough of them for a storm; strangers' nodes are the oldest. */
function sickness(dice: Dice, pools: readonly RandomPool[]): Entry {
  const annotations = { "fettle.dev/simulate": dice.one(["silent", "Ready=False", "KernelDeadlock=True"]) };
  const isOfPools = dice.isLucky(60);
  const whom = isOfPools ? onNodes(dice, pools, { annotations }) : { annotate: { ...oldest(dice), annotations } };
  return { at: `${dice.whole(10, troubleMinutes)}m`, do: whom };
}

function oldest(dice: Dice) {
  return { kind: "Node", selector: "", count: dice.whole(1, 4) };
}

function edited(spec: Record<string, unknown>): Act {
  return { patch: { kind: "NodeHealthCheck", name, merge: { spec } } };
}

function onNodes(
  dice: Dice,
  pools: readonly RandomPool[],
  written: Pick<NonNullable<Act["annotate"]>, "annotations" | "labels">,
): Act {
  const selector = `karpenter.sh/nodepool=${dice.one(pools).name}`;
  return { annotate: { kind: "Node", selector, count: dice.whole(1, 8), ...written } };
}

/** Whoever serves the kind of the fence: it answers now and then, as it pleases, and may be slow to let go. */
function stranger(dice: Dice, steps: readonly Way[]): readonly Entry[] {
  if (!steps.includes("Fence")) return [];
  const toAll = (patch: Pick<NonNullable<Act["patch"]>, "merge" | "subresource">): Act => ({
    patch: { kind: "FenceRemediation", namespace: "default", selector: "", count: dice.whole(1, 3), ...patch },
  });
  const status = { conditions: [{ type: "Succeeded", status: dice.one(["True", "False"]), reason: "ByChance" }] };
  const answers: Entry = {
    at: `${dice.whole(20, 60)}m`,
    every: dice.one(["7m", "31m"]),
    until: "20h",
    do: toAll({ merge: { status }, subresource: "status" }),
  };
  const keeps = { at: "25m", every: "67m", until: "19h", do: toAll({ merge: finalizers([stuckFinalizer]) }) };
  const letsGo = { at: "50m", every: "67m", until: "20h", do: toAll({ merge: finalizers(null) }) };
  return [...(dice.isLucky(70) ? [answers] : []), ...(dice.isLucky(40) ? [keeps, letsGo] : [])];
}

function finalizers(names: readonly string[] | null): Record<string, unknown> {
  return { metadata: { finalizers: names } };
}

function mending(): readonly Entry[] {
  const acts: readonly Act[] = [
    edited({ pauseRequests: null, dryRun: null, selector: null, maxUnhealthy: "49%" }),
    { annotate: { kind: "Node", selector: "", labels: { "remediation.medik8s.io/exclude-from-remediation": "" } } },
    { patch: { kind: "FenceRemediation", namespace: "default", selector: "", merge: finalizers(null) } },
  ];
  return acts.map(act => ({ at: mendedAt, do: act }));
}
