import { expect, test } from "vitest";
import { aClaim, anAction, aWorld } from "../../../test/builders.ts";
import type { ActionView, ClaimView } from "../../snapshot/views.ts";
import type { Terms } from "./consolidation/question.ts";
import { pricesOf, unpaidBy } from "./search-worth.ts";

const claims = ["a", "b", "r", "s"].map(name => aClaim(name, { pool: "web" }));
const usual: Terms = { isBalanced: false, minSavings: 0, atOnce: 9, price: 10, disturbance: 20 };

function plan(node: string, spec: Partial<ActionView["spec"]> = {}): ActionView {
  return anAction(`consolidation-${node}`, {
    node,
    spec: { action: "Consolidation", replacements: [{ name: "r" }], ...spec },
  });
}
const both = [plan("a"), plan("b")];

type Case = { actions?: readonly ActionView[]; prices?: Record<string, number>; terms?: Partial<Terms> };

function judged({ actions = both, prices = { a: 2, b: 2, r: 1, s: 9 }, terms }: Case) {
  const of = ({ name }: ClaimView) => prices[name];
  const paid = pricesOf(actions, { picture: aWorld({ claims }), prices: { of } });
  const termsByPool = new Map([["web", { ...usual, ...terms }]]);
  return { paid, unpaid: unpaidBy(actions, paid, { podCount: 2, termsByPool }) };
}

test("what was launched for several is paid once, what goes by its own price", () => {
  expect(judged({}).paid).toMatchObject({ before: 4, after: 1, unpriced: [], nodes: [{ price: 2 }, { price: 2 }] });
});

test.each<[string, Case, string | undefined]>([
  ["it saves", {}, undefined],
  ["it saves what the pool wants", { terms: { minSavings: 0.75 } }, undefined],
  [
    "it saves less",
    { terms: { minSavings: 0.76 } },
    "75% would be saved, and NodePool web wants 76% (1.0000 instead of 4.0000 an hour)",
  ],
  [
    "it costs the same",
    { prices: { a: 0.5, b: 0.5, r: 1 } },
    "nothing would be saved (1.0000 instead of 1.0000 an hour)",
  ],
  ["it costs more", { prices: { a: 0.5, b: 0.4, r: 1 } }, "nothing would be saved (1.0000 instead of 0.9000 an hour)"],
  ["what came has no price", { prices: { a: 2, b: 2 } }, "nobody knows what NodeClaim r costs"],
  ["what goes has no price", { prices: { a: 2, r: 1 } }, "nobody knows what NodeClaim b costs"],
  [
    "it disturbs too much",
    { terms: { isBalanced: true, price: 1000 } },
    "too little would be saved for 2 pods that have to move (1.0000 instead of 4.0000 an hour)",
  ],
  ["it goes for another reason", { actions: [plan("a", { action: "Drift" })], prices: { a: 1, r: 9 } }, undefined],
])("judged by what is paid now: %s", (_, asked, unpaid) => {
  expect(judged(asked).unpaid).toBe(unpaid);
});

test("what comes of age as well goes for more than money", () => {
  const evidence = [{ kind: "Age", seenAt: "" }] as const;
  const joined = [
    {
      action: "Expiration",
      askedBy: { kind: "NodePool", name: "web" },
      at: "",
      message: "Old.",
      evidence: [...evidence],
    },
  ] satisfies ActionView["spec"]["joined"];
  expect(judged({ actions: [plan("a", { joined })], prices: { a: 1, r: 9 } }).unpaid).toBeUndefined();
});
