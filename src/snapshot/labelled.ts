// Pods by the labels that they have, and budgets by the labels that they select. Pods of one template have one set of
// labels between them (interning.ts), so who is under which budget is found by sets, however many pods there are.

import { isEqual } from "../api/schema/correlate.ts";
import { type Labels, matches } from "../api/selector.ts";
import type { Change } from "./tables.ts";
import type { DisruptionBudgetView, PodView } from "./views.ts";

export class PodsByLabels {
  readonly #namesByNamespace = new Map<string, Map<Labels, Set<string>>>();

  replace({ before, after }: Change<PodView>): void {
    if (before !== undefined && before.labels === after?.labels) return;
    if (before !== undefined) this.#remove(before);
    if (after !== undefined) this.#add(after);
  }

  /** The names of those of the namespace whose labels are selected, in no order. */
  *names(namespace: string, isSelected: (labels: Labels) => boolean): IterableIterator<string> {
    for (const [labels, names] of this.#namesByNamespace.get(namespace) ?? []) if (isSelected(labels)) yield* names;
  }

  #add({ namespace, labels, name }: PodView): void {
    const namesByLabels = this.#namesByNamespace.get(namespace) ?? new Map<Labels, Set<string>>();
    this.#namesByNamespace.set(namespace, namesByLabels);
    const names = namesByLabels.get(labels) ?? new Set();
    namesByLabels.set(labels, names.add(name));
  }

  #remove({ namespace, labels, name }: PodView): void {
    const namesByLabels = this.#namesByNamespace.get(namespace);
    const names = namesByLabels?.get(labels);
    names?.delete(name);
    if (names?.size === 0) namesByLabels?.delete(labels);
    if (namesByLabels?.size === 0) this.#namesByNamespace.delete(namespace);
  }
}

export class BudgetsByLabels {
  /**
   * Which budgets of the namespace select such labels, as long as all of them select what they did. Only of namespaces
   * that have budgets: others come and go by the thousand, and nobody would tell when they are gone.
   */
  readonly #namesByNamespace = new Map<string, WeakMap<Labels, readonly string[]>>();

  replace({ before, after }: Change<DisruptionBudgetView>): void {
    if (before !== undefined && after !== undefined && isEqual(before.selector, after.selector)) return;
    this.#namesByNamespace.delete((after ?? before)?.namespace ?? "");
  }

  /** In the order in which `all`, those of the pod's namespace, are. */
  names({ namespace, labels }: PodView, all: () => readonly DisruptionBudgetView[]): readonly string[] {
    const known = this.#namesByNamespace.get(namespace);
    const before = known?.get(labels);
    if (before !== undefined) return before;
    const budgets = all();
    if (budgets.length === 0) return [];
    const over = budgets.filter(({ selector }) => selector !== undefined && matches(selector, labels));
    const names = over.map(({ name }) => name);
    this.#namesByNamespace.set(namespace, (known ?? new WeakMap<Labels, readonly string[]>()).set(labels, names));
    return names;
  }
}
