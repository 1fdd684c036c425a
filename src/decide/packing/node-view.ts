// A node to be made, or on its way: what is still possible for it, and what was put on it so far.

import { hostnameKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type { Count, NodeFilter } from "./census.ts";
import type { HostPort } from "./host-ports.ts";
import type { Kind } from "./kind.ts";
import type { Amounts } from "./resources.ts";
import { isSure, type State, type Template } from "./template.ts";
import type { Texts } from "./texts.ts";

/** Pods of one kind that were put somewhere one after the other. */
export type Seated = { readonly pods: Pod[]; readonly kind: Kind };

export type OpenNode = {
  readonly template: Template;
  /** Its place among the pools, or -1 for a node on its way. */
  readonly pool: number;
  /** Its place among the nodes opened, or -1. */
  readonly index: number;
  /** Its name, as a number nobody else has. */
  readonly host: number;
  /** Set for a node on its way. */
  readonly claim: string | undefined;
  /** Types that the pool's limits still allow; undefined: all. */
  allowed: Uint8Array | undefined;
  state: State;
  /** By pods; what daemons need is already taken off the room of the types. */
  used: Amounts;
  ports: readonly HostPort[];
  readonly seated: Seated[];
  /** Where among the types of a state, by price, the first stands that holds what is on the node. What is before it does not. */
  cheapest?: { readonly state: State; readonly at: number } | undefined;
};

export function typeFits({ template, allowed }: OpenNode, type: number, amounts: Amounts): boolean {
  if (allowed !== undefined && allowed[type] !== 1) return false;
  const room = template.room[type];
  if (room === undefined) return false;
  for (let r = 0; r < amounts.length; r++) {
    const amount = amounts[r] ?? 0;
    if (amount > 0 && !(amount <= (room[r] ?? 0))) return false;
  }
  return true;
}

/** The cheapest type that holds so much under a state, or -1. */
export function cheapestType(node: OpenNode, state: State, amounts: Amounts): number {
  for (const type of state.byPrice) if (typeFits(node, type, amounts)) return type;
  return -1;
}

/** What the node costs at least. */
export function priceOf(node: OpenNode): number {
  return node.state.priceByType[node.state.byPrice[cheapestAt(node)] ?? -1] ?? 0;
}

// Nodes only get fuller and states narrower: who was passed over once need not be asked again.
function cheapestAt(node: OpenNode): number {
  const { cheapest, state, used } = node;
  const { byPrice } = state;
  const known = cheapest?.state === state ? cheapest.at : 0;
  let at = known;
  while (at < byPrice.length && !typeFits(node, byPrice[at] ?? 0, used)) at++;
  if (at > known || cheapest?.state !== state) node.cheapest = { state, at };
  return at;
}

/** What it would cost more with so much more on it, in a state; infinite where no type holds that. */
export function raiseOf(node: OpenNode, state: State, more: Amounts): number {
  const price = priceOf(node);
  const { byPrice, priceByType } = state;
  const used = sum(node.used, more);
  for (let at = state === node.state ? cheapestAt(node) : 0; at < byPrice.length; at++) {
    const type = byPrice[at] ?? 0;
    const then = priceByType[type] ?? Number.POSITIVE_INFINITY;
    // Who is cheaper than the cheapest that holds what is there does not hold more.
    if (then >= price && typeFits(node, type, used)) return then - price;
  }
  return Number.POSITIVE_INFINITY;
}

/** Types that everything on the node fits on, the cheapest first. */
export function possibleTypes(node: OpenNode): number[] {
  const { byPrice } = node.state;
  const found: number[] = [];
  for (let at = cheapestAt(node); at < byPrice.length; at++) {
    const type = byPrice[at] ?? 0;
    if (typeFits(node, type, node.used)) found.push(type);
  }
  return found;
}

/** `times`: so often the second. */
export function sum(a: Amounts, b: Amounts, times = 1): Amounts {
  const total = new Float64Array(Math.max(a.length, b.length));
  for (let r = 0; r < total.length; r++) total[r] = (a[r] ?? 0) + times * (b[r] ?? 0);
  return total;
}

/** The domain in which a count finds the pods of the node, or 0: it does not count them, or the label is still open. */
export function domainOn(node: OpenNode, count: Count, texts: Texts): number {
  if (count.filter !== undefined && !isCountedOn(node, count.filter)) return 0;
  if (count.isHost) return node.host;
  const values = node.template.values(node.state, count.counter.key);
  return values.length === 1 && isSure(node.state, count.counter.key) ? texts.id(values[0]) : 0;
}

/** The domains of a count that the node is in, or may come to be in. */
export function possibleDomains(node: OpenNode, { counter, filter, isHost }: Count, texts: Texts): number[] {
  if (filter !== undefined && !isCountedOn(node, filter)) return [];
  if (isHost) return [node.host];
  return node.template.values(node.state, counter.key).map(value => texts.id(value));
}

function isCountedOn({ template, state }: OpenNode, { keys, alternatives, tolerations }: NodeFilter): boolean {
  for (const key of keys) if (key !== hostnameKey && template.values(state, key).length === 0) return false;
  if (tolerations !== undefined && !template.toleratedBy(tolerations, false)) return false;
  return alternatives === undefined || alternatives.some(one => template.join(state, one) !== undefined);
}
