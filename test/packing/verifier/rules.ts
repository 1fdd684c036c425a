// All rules by name. Each says what is wrong with a pod at a spot, given all that is placed already.

import type { Pod } from "../../../src/api/pod.ts";
import { isLonely, isRepelled, repels } from "./affinity-rules.ts";
import { type Machine, placesOf, roomsOf, type Spot } from "./cluster.ts";
import type { Cluster } from "./crowds.ts";
import { cordoned, portTaken, short, tainted, unwanted } from "./node-rules.ts";
import { skews } from "./spread-rules.ts";
import { misplaced, overAttached, usedByAnother } from "./volume-rules.ts";

export type Rule = (pod: Pod, spot: Spot, cluster: Cluster) => string | undefined;

export const rules = {
  cordon: cordoned,
  taints: tainted,
  "node affinity": unwanted,
  resources: short,
  "host ports": portTaken,
  "volume place": misplaced,
  "volume limit": overAttached,
  "volume in use": usedByAnother,
  "pod affinity": isLonely,
  "pod anti-affinity": repels,
  "anti-affinity of others": isRepelled,
  "topology spread": skews,
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

export type RuleSet = Readonly<Record<string, Rule>>;

export type Trouble = { rule: string; says: string };

export function troubles(pod: Pod, spot: Spot, { cluster, by = rules }: { cluster: Cluster; by?: RuleSet }): Trouble[] {
  return Object.entries(by).flatMap(([rule, judge]) => {
    const says = judge(pod, spot, cluster);
    return says === undefined ? [] : [{ rule, says }];
  });
}

/** The rules that look at how much room a shape has; the others look at its labels, if at the shape at all. */
const aboutRoom: readonly string[] = ["resources", "host ports"] satisfies RuleName[];

/** What is wrong with a pod on a machine as at least one of its shapes, each rule once. */
export function troublesAsAny(
  pod: Pod,
  machine: Machine,
  { cluster, by = rules }: { cluster: Cluster; by?: RuleSet },
): Trouble[] {
  return Object.entries(by).flatMap(([rule, judge]) => {
    for (const shape of aboutRoom.includes(rule) ? roomsOf(machine) : placesOf(machine)) {
      const says = judge(pod, { machine, shape }, cluster);
      if (says !== undefined) return [{ rule, says }];
    }
    return [];
  });
}
