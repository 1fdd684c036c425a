import { describe, expect, test } from "vitest";
import { aBudget, aPod, aWorld } from "../../test/builders.ts";
import type { Labels } from "../api/selector.ts";
import { BudgetsByLabels, PodsByLabels } from "./labelled.ts";
import type { DisruptionBudgetView } from "./views.ts";

const web: Labels = { app: "web" };
const api: Labels = { app: "api" };
const all = () => true;

describe("pods by their labels", () => {
  test("are found by the labels that they have now, and in their namespace alone", () => {
    const pods = new PodsByLabels();
    const pod = (labels: Labels, namespace = "default") => aPod("a", { labels, namespace });
    pods.replace({ before: undefined, after: pod(web) });
    pods.replace({ before: undefined, after: pod(web, "other") });
    expect([...pods.names("default", labels => labels === web)]).toEqual(["a"]);
    pods.replace({ before: pod(web), after: pod(api) });
    expect([...pods.names("default", labels => labels === web)]).toEqual([]);
    expect([...pods.names("default", labels => labels === api)]).toEqual(["a"]);
    pods.replace({ before: pod(api), after: undefined });
    expect([...pods.names("default", all)]).toEqual([]);
    expect([...pods.names("other", all)]).toEqual(["a"]);
  });

  test("are looked for once for each set of labels", () => {
    const pods = new PodsByLabels();
    for (const name of ["a", "b", "c"]) pods.replace({ before: undefined, after: aPod(name, { labels: web }) });
    let asked = 0;
    expect([...pods.names("default", () => ++asked > 0)]).toEqual(["a", "b", "c"]);
    expect(asked).toBe(1);
  });
});

describe("the budgets over a pod", () => {
  const pod = aPod("a", { labels: web });
  const over = (...names: string[]) => names;

  test("are those of now: one that comes, one that goes, and what each says", () => {
    const picture = aWorld({ pods: [pod], budgets: [aBudget("web")] });
    const named = () => picture.budgetsOver(pod).map(({ name }) => name);
    expect(named()).toEqual(over("web"));
    picture.put("disruption-budget", aBudget("also", { selector: { matchLabels: { app: "web" } } }));
    expect(named()).toEqual(over("also", "web"));
    picture.put("disruption-budget", aBudget("web", { disruptionsAllowed: 7 }));
    expect(picture.budgetsOver(pod).map(({ disruptionsAllowed }) => disruptionsAllowed)).toContain(7);
    picture.remove("disruption-budget", aBudget("web"));
    expect(named()).toEqual(over("also"));
  });

  test("are others when one selects something else", () => {
    const picture = aWorld({ pods: [pod], budgets: [aBudget("web")] });
    expect(picture.budgetsOver(pod)).toHaveLength(1);
    picture.put("disruption-budget", aBudget("web", { selector: { matchLabels: { app: "api" } } }));
    expect(picture.budgetsOver(pod)).toEqual([]);
  });

  test("are looked for once for a set of labels; of a namespace that has none nothing is kept", () => {
    const budgets = new BudgetsByLabels();
    let asked = 0;
    const names = (namespace: string, all: readonly DisruptionBudgetView[]) =>
      budgets.names(aPod("a", { labels: web, namespace }), () => (asked++, all));
    for (let i = 0; i < 2; i++) expect(names("default", [aBudget("web")])).toEqual(["web"]);
    expect(asked).toBe(1);
    for (let i = 0; i < 2; i++) expect(names("short-lived", [])).toEqual([]);
    expect(asked).toBe(3);
  });
});
