// How health checks stand: what each sees, what holds its remediations back, and how many run. By check, cause and kind,
// never by node: a sick cluster is no reason for thousands of series.

import { hourMs } from "../api/time.ts";
import { isTrue } from "../decide/conditions.ts";
import type { CheckView, RemediationView } from "../snapshot/check-views.ts";
import { type Family, type Sample, tally } from "./family.ts";
import type { Asked, Of } from "./measured.ts";

/** Why a node that is unhealthy is not remediated, or not further. */
const causes: ReadonlySet<string> = new Set([
  "already-going",
  "cap-closed",
  "cap-spent",
  "check-deleting",
  "check-disabled",
  "clock-off",
  "cluster-upgrading",
  "correlated-failure",
  "create-failed",
  "do-not-repair",
  "due-time-unknown",
  "edited-while-remediating",
  "etcd-quorum",
  "excluded",
  "frozen",
  "lease-held",
  "left-to-machine-check",
  "left-to-repair",
  "no-template-left",
  "outranked",
  "paused",
  "picture-stale",
  "policy-invalid",
  "remediation-of-another",
  "remediations-unseen",
  "settling",
  "still-being-removed",
  "storm-cooldown",
  "too-many-unhealthy",
  "tried-before",
  "untouchable",
  "upgrade-unknown",
  "write-failed",
]);

/** As old as medik8s' own alarm has it. */
const oldMs = 48 * hourMs;

export function checkFamilies(of: Of): Family[] {
  const gauge = (name: string, help: string, labels: readonly string[]) =>
    ({ name: `fettle_health_check_${name}`, help, type: "gauge", labels }) as const;
  const perCheck = (read: (check: CheckView, asked: Asked) => Iterable<Sample>) =>
    of(function* (asked) {
      for (const check of asked.picture.checks.all()) yield* read(check, asked);
    });
  return [
    {
      ...gauge("nodes", "Nodes that a check selects, healthy or not, and those it remediates.", ["check", "state"]),
      samples: perCheck(nodesOf),
    },
    {
      ...gauge("phase", "1 for the phase a check is in.", ["check", "phase"]),
      samples: perCheck(({ name, status: { phase } }) => (phase ? [{ labels: { check: name, phase }, value: 1 }] : [])),
    },
    {
      ...gauge("storm", "1 while a check waits for a storm to end, or to cool down.", ["check", "state"]),
      samples: perCheck(stormOf),
    },
    {
      ...gauge("no_template_left", "1 while a check has tried every remediation on some node in vain.", ["check"]),
      samples: perCheck(({ name, conditions }) => [
        { labels: { check: name }, value: Number(isTrue(conditions, "NoTemplateLeft")) },
      ]),
    },
    {
      ...gauge("held_back", "Nodes of a check for which nothing, or nothing more, is begun, by cause.", [
        "check",
        "cause",
      ]),
      samples: of(asked => tally(heldBack(asked), ["check", "cause"])),
    },
    {
      ...gauge("old_remediations", "Remediations that have run for two days, by their kind.", ["remediation"]),
      samples: of(asked =>
        tally(
          kinds(asked, ({ createdAt }) => createdAt + oldMs <= asked.now),
          ["remediation"],
        ),
      ),
    },
    {
      name: "nodehealthcheck_ongoing_remediation",
      help: "Remediations that run, by their kind.",
      type: "gauge",
      labels: ["remediation"],
      samples: of(asked =>
        tally(
          kinds(asked, () => true),
          ["remediation"],
        ),
      ),
    },
  ];
}

function* nodesOf(check: CheckView, { picture: { checks } }: Asked): Iterable<Sample> {
  const notHealthy = checks.notHealthyCount(check);
  const sample = (state: string, value: number) => ({ labels: { check: check.name, state }, value });
  yield sample("healthy", checks.selectedCount(check) - notHealthy);
  yield sample("not-healthy", notHealthy);
  yield sample("remediated", checks.remediatedNodes(check).length);
}

function* stormOf({ name, conditions }: CheckView): Iterable<Sample> {
  const sample = (state: string, type: string) => ({
    labels: { check: name, state },
    value: Number(isTrue(conditions, type)),
  });
  yield sample("active", "StormActive");
  yield sample("cooling", "StormCooldownActive");
}

function* heldBack(asked: Asked): Iterable<string> {
  for (const { subject, check, code } of asked.refusals()) {
    if (check !== undefined && causes.has(code) && subject.startsWith("node/")) yield `${check} ${code}`;
  }
}

function* kinds({ picture: { checks } }: Asked, isMeant: (one: RemediationView) => boolean): Iterable<string> {
  for (const check of checks.all()) {
    for (const node of checks.remediatedNodes(check)) {
      for (const one of checks.remediationsOf(check, node)) if (isMeant(one)) yield one.kind;
    }
  }
}
