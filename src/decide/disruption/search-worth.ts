// Whether a consolidation that waits for its start still pays: by what its nodes and what was launched in their place cost
// now, and by what their pools want to be saved now.

import { capacityTypeKey } from "../../api/node.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ActionView, ClaimView } from "../../snapshot/views.ts";
import { reasonsOf } from "../ledger.ts";
import type * as Consolidation from "./consolidation/question.ts";
import { refusedBy } from "./consolidation/terms.ts";
import { disturbanceOf } from "./disturbance.ts";
import type { Prices } from "./search-prices.ts";

/** Of those that go and of what was launched for them. */
type Paid = {
  readonly nodes: readonly Consolidation.Candidate[];
  readonly before: number;
  readonly after: number;
  /** By name: claims whose price nobody knows. */
  readonly unpriced: readonly string[];
};

type Market = { readonly picture: Pick<Picture, "claim" | "podsOn">; readonly prices: Pick<Prices, "of"> };

export function pricesOf(actions: readonly ActionView[], { picture, prices }: Market): Paid {
  const named = (names: Iterable<string>) => [...new Set(names)].flatMap(name => picture.claim(name) ?? []);
  const going = actions.flatMap(({ spec }) =>
    named(spec.claim ? [spec.claim.name] : []).map(claim => ({ spec, claim })),
  );
  const coming = named(actions.flatMap(({ spec }) => (spec.replacements ?? []).map(({ name }) => name)));
  const sum = (claims: readonly ClaimView[]) => claims.reduce((total, claim) => total + (prices.of(claim) ?? 0), 0);
  const all = [...going.map(({ claim }) => claim), ...coming];
  return {
    nodes: going.map(({ spec, claim }) => ({
      name: spec.node.name,
      pool: claim.pool ?? "",
      price: prices.of(claim) ?? 0,
      isSpot: claim.labels[capacityTypeKey] === "spot",
      disturbance: disturbanceOf(spec.node.name, picture),
    })),
    before: sum(going.map(({ claim }) => claim)),
    after: sum(coming),
    unpriced: all.filter(claim => prices.of(claim) === undefined).map(({ name }) => name),
  };
}

type Terms = { readonly podCount: number; readonly termsByPool: ReadonlyMap<string, Consolidation.Terms> };

/** Undefined: it does, or one of them goes for more than money. */
export function unpaidBy(actions: readonly ActionView[], paid: Paid, { podCount, termsByPool }: Terms) {
  if (!actions.every(isForMoney)) return undefined;
  const [unknown] = paid.unpriced;
  if (unknown !== undefined) return `nobody knows what NodeClaim ${unknown} costs`;
  const { nodes, before, after } = paid;
  const names = nodes.map(({ name }) => name);
  const saving = { nodes: names, newNodes: [], places: new Map(), podCount, price: { before, after } };
  const why = refusedBy(saving, nodes, { termsByPool });
  return why && `${why} (${after.toFixed(4)} instead of ${before.toFixed(4)} an hour)`;
}

/** And for nothing else. */
export function isForMoney({ spec }: ActionView): boolean {
  return reasonsOf(spec).every(({ action }) => action === "Consolidation" || action === "Emptiness");
}
