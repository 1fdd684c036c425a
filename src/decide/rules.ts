// All rules, in the order in which they are asked: the program's table of contents.

import type { Picture, Subject, SubjectKind } from "../snapshot/picture.ts";
import { ledgerRule } from "./actions.ts";
import { uncordonRule } from "./cordon.ts";
import type { Context, Decision, Rule } from "./decision.ts";
import { nodeDeletion } from "./departing.ts";
import { deadlineUndo } from "./deadline-undo.ts";
import { disruptionRules } from "./disruption/rules.ts";
import { garbage } from "./garbage.ts";
import { healthCheckRules } from "./health-check/rules.ts";
import { lifecycle } from "./lifecycle.ts";
import { outOfServiceRule } from "./out-of-service.ts";
import { pool } from "./pool.ts";
import { pendingPod, plannedClaims, provisioning } from "./provisioning/provisioning.ts";
import { readiness } from "./readiness.ts";
import { repair } from "./repair.ts";
import { rebootRule } from "./reboot.ts";
import { replacementLaunch } from "./replacement-launch.ts";
import { leftoverRule, untaintRule } from "./replacement-undo.ts";
import { replicas } from "./replicas.ts";
import { retentionRule } from "./retention.ts";
import { termination } from "./termination.ts";

export const rules: readonly Rule[] = [
  lifecycle,
  pool,
  replicas,
  provisioning,
  plannedClaims,
  pendingPod,
  readiness,
  repair,
  nodeDeletion,
  termination,
  garbage,
  ledgerRule,
  rebootRule,
  uncordonRule,
  outOfServiceRule,
  replacementLaunch,
  untaintRule,
  deadlineUndo,
  leftoverRule,
  retentionRule,
  ...healthCheckRules,
  ...disruptionRules,
];

/** From scratch, over every subject, by rule and subject: what the incremental loop is compared with. */
export function decideAll(context: Context): ReadonlyMap<string, Decision> {
  const decisions = new Map<string, Decision>();
  for (const rule of rules) {
    for (const { name, subject } of subjectsOf(rule.kind, context.picture)) {
      decisions.set(decisionKey(rule.name, subject), rule.decide(name, context));
    }
  }
  return decisions;
}

export function decisionKey(rule: string, subject: Subject): string {
  return `${rule} ${subject}`;
}

type Named = { readonly name: string; readonly subject: Subject };

function* subjectsOf(kind: SubjectKind, picture: Picture): Iterable<Named> {
  if (kind === "cluster") return yield { name: "cluster", subject: "cluster" };
  for (const { name } of viewsOf(kind, picture)) yield { name, subject: `${kind}/${name}` };
}

function viewsOf(kind: Exclude<SubjectKind, "cluster">, picture: Picture): Iterable<{ readonly name: string }> {
  switch (kind) {
    case "claim":
      return picture.claims();
    case "node":
      return picture.nodes();
    case "pool":
      return picture.pools();
    case "action":
      return picture.actions();
    case "check":
      return picture.checks.all();
    case "pod":
      return [...picture.wantingPods()].map(({ namespace, name }) => ({ name: `${namespace}/${name}` }));
  }
}
