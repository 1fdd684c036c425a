// What stories are made of, beside their objects.

import { type Entry, type Expectation, checkScenario, type Scenario } from "../../../src/sim/simulation/scenario.ts";
import type { Change } from "./change.ts";

export type Story = {
  readonly scenario: Scenario;
  /** What is outside is like this here, for every controller. */
  readonly outside?: Change;
};

export function checked(value: unknown): Scenario {
  const found = checkScenario(value);
  if (!found.ok) throw new Error(JSON.stringify(found.findings));
  return found.scenario;
}

export function story(parts: Omit<Partial<Scenario>, "title">): Scenario {
  return checked({ title: "a story for deliberate bugs", until: "1h", ...parts });
}

export const instances = { kind: "ConfigMap", namespace: "fettle-simulated", selector: "fettle.dev/cluster=simulated" };

export const doNotDisrupt = { "karpenter.sh/do-not-disrupt": "true" };

export const deleted = (at: string): Entry => ({ at, do: { delete: { kind: "NodeClaim", name: "by-hand" } } });

export const scaled = (at: string, replicas: number, name = "web"): Entry => {
  return { at, do: { patch: { kind: "NodePool", name, merge: { spec: { replicas } } } } };
};

export const nodesAt = (at: string, is: number): Expectation => ({ at, count: { kind: "Node", is } });

export const untouched: Expectation[] = [{ unharmed: { kind: "Node" } }, { unharmed: { kind: "NodeClaim" } }];

export function gone(is: number): Expectation[] {
  return [{ count: { kind: "NodeAction", where: { "spec.action": "ScaleDown", "status.phase": "Done" }, is } }];
}
