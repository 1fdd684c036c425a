// Whether a pod of some kind may go on a node to be made, and what that leaves possible for the node. A label that the
// rules about other pods look at is narrowed to values they allow, and to one value where pods still to come will
// have to count this one.

import { hostnameKey } from "../../api/node.ts";
import type { Count } from "./census.ts";
import type { Counter } from "./counter.ts";
import { clash } from "./host-ports.ts";
import type { Kind, SpreadRule } from "./kind.ts";
import type { OpenNode } from "./node-view.ts";
import { isSure, type State } from "./template.ts";
import type { Texts } from "./texts.ts";

/** A constraint by its name, as reasons call it. */
export type Trouble =
  | "taints"
  | "host ports"
  | "node affinity"
  | "resources"
  | "pod affinity"
  | "pod anti-affinity"
  | "anti-affinity of other pods"
  | "topology spread";

export type Surroundings = {
  texts: Texts;
  /** The least number of pods a host has that the rule counts; 0 while new hosts can be had. */
  hostMin(rule: SpreadRule, kind: Kind): number;
  /** Of counts whose domains may not become more: those that there are. See settled.ts. */
  settled: SettledDomains;
};

export type SettledDomains = ReadonlyMap<Count, ReadonlySet<number>>;

/** `holds`: whether a state leaves a type that is large enough. Of several ways to admit the pod one that does is taken. */
export function admit(
  kind: Kind,
  node: OpenNode,
  { around, holds }: { around: Surroundings; holds: (state: State) => boolean },
): State | Trouble {
  if (kind.ports.length > 0 && clash(kind.ports, node.ports)) return "host ports";
  let trouble: Trouble = "node affinity";
  for (const alternative of kind.alternatives) {
    const state = node.template.join(node.state, alternative);
    if (state === undefined) continue;
    const found = amongOthers(kind, node, { state, around, holds });
    if (typeof found !== "string" && holds(found)) return found;
    trouble = typeof found === "string" ? found : "resources";
  }
  return trouble;
}

type Attempt = { state: State; around: Surroundings; holds: (state: State) => boolean };

function amongOthers(kind: Kind, node: OpenNode, attempt: Attempt): State | Trouble {
  let { state } = attempt;
  const { around } = attempt;
  const narrow = (count: Count, isAllowed: (pods: number) => boolean, needsLabel: boolean): boolean => {
    if (count.isHost) return isAllowed(count.counter.count(node.host));
    const isRight = (domain: number) => isAllowed(count.counter.count(domain));
    const next = narrowed(state, count, { isRight, needsLabel, around });
    if (next !== undefined) state = next;
    return next !== undefined;
  };
  for (const [count, domains] of around.settled) {
    if (count.isHost && !domains.has(node.host)) return "topology spread";
    if (count.isHost) continue;
    const next = narrowed(state, count, { isRight: domain => domains.has(domain), needsLabel: false, around });
    if (next === undefined) return "topology spread";
    state = next;
  }
  for (const count of kind.antis) if (!narrow(count, isNone, false)) return "pod anti-affinity";
  for (const count of kind.group.repelled) if (!narrow(count, isNone, false)) return "anti-affinity of other pods";
  for (const { counts, self } of kind.affinities) {
    const isFirst = self && counts.every(({ counter }) => counter.total === 0);
    for (const count of counts) if (!narrow(count, pods => isFirst || pods > 0, true)) return "pod affinity";
  }
  for (const rule of kind.spreads) {
    const most = rule.maxSkew - rule.self + leastOf(rule, kind, around);
    if (!narrow(rule.count, pods => pods <= most, true)) return "topology spread";
  }
  return kind.group.counted.length === 0 && kind.asks.length === 0 ? state : pinned(kind, { ...attempt, state });
}

const isNone = (pods: number) => pods === 0;

export function leastOf(rule: SpreadRule, kind: Kind, around: Surroundings): number {
  const { counter, isHost } = rule.count;
  const settled = around.settled.get(rule.count);
  if (settled !== undefined) return settled.size < rule.minDomains ? 0 : leastAmong(settled, counter);
  if (isHost) return around.hostMin(rule, kind);
  return counter.domainCount < rule.minDomains ? 0 : counter.min();
}

function leastAmong(domains: Iterable<number>, counter: Counter): number {
  let least = Number.POSITIVE_INFINITY;
  for (const domain of domains) {
    least = Math.min(least, counter.count(domain));
    if (least === 0) break;
  }
  return least;
}

type Narrowing = { isRight: (domain: number) => boolean; needsLabel: boolean; around: Surroundings };

function narrowed(state: State, { counter }: Count, { isRight, needsLabel, around }: Narrowing): State | undefined {
  const values = state.template.values(state, counter.key);
  if (values.length === 0) return needsLabel ? undefined : state;
  const allowed = values.filter(value => isRight(around.texts.id(value)));
  // Types that lack the label may be among those left: where it is needed they go.
  if (allowed.length === values.length && (!needsLabel || isSure(state, counter.key))) return state;
  if (!needsLabel)
    return state.template.ban(
      state,
      counter.key,
      values.filter(value => !allowed.includes(value)),
    );
  return allowed.length === 0 ? undefined : state.template.pin(state, counter.key, allowed);
}

// Pods still to come look at domains: where this one will be must be known.
function pinned(kind: Kind, { state, around, holds }: Attempt): State {
  let result = state;
  for (const count of [...kind.group.counted, ...kind.asks]) {
    const { counter } = count;
    if (count.isHost || counter.key === hostnameKey) continue;
    const others = counter.pending - (kind.asks.includes(count) ? 1 : 0);
    if (others <= 0 && !kind.repels.some(one => one.counter.key === counter.key)) continue;
    const values = result.template.values(result, counter.key);
    if (values.length > 1 || (values.length === 1 && !isSure(result, counter.key)))
      result = best(count, { state: result, around, holds }) ?? result;
  }
  return result;
}

// The emptiest domain, for the sake of spreading; among equals the cheapest, then the first by name.
function best({ counter }: Count, { state, around: { texts }, holds }: Attempt): State | undefined {
  let found: State | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const value of [...state.template.values(state, counter.key), undefined]) {
    // A node may also be without the label, if nobody needs it.
    const next = state.template.pin(state, counter.key, value === undefined ? [] : [value]);
    const pods = counter.count(texts.id(value));
    if (next === undefined || pods > least || !holds(next)) continue;
    if (pods < least || found === undefined || next.cheapest < found.cheapest) [found, least] = [next, pods];
  }
  return found;
}
