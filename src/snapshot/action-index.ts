// The ledger's entries by what they are asked for: open ones by node and by claim, finished ones by time.

import { finalPhases } from "../api/node-action.ts";
import { type Instant, parseTime } from "../api/time.ts";
import { Grouped, Ordered } from "./ordered.ts";
import type { Change } from "./tables.ts";
import type { ActionView } from "./views.ts";

type Finished = { readonly at: Instant; readonly action: ActionView };

export class ActionIndex {
  readonly #open = new Ordered<ActionView>();
  readonly #dryRuns = new Ordered<ActionView>();
  readonly #byNodeUid = new Grouped<ActionView>();
  readonly #openByClaimUid = new Grouped<ActionView>();
  readonly #openByPool = new Grouped<ActionView>();
  readonly #byClaimName = new Grouped<ActionView>();
  readonly #byBatch = new Grouped<ActionView>();
  // By time, then by name.
  readonly #finished: Finished[] = [];

  replace({ before, after }: Change<ActionView>): void {
    const name = (after ?? before)?.name ?? "";
    this.#byNodeUid.move(name, { from: before?.spec.node.uid, to: after?.spec.node.uid, value: after });
    this.#byBatch.move(name, { from: before?.spec.batch, to: after?.spec.batch, value: after });
    const open = after !== undefined && isOpen(after) ? after : undefined;
    this.#openByClaimUid.move(name, { from: before?.spec.claim?.uid, to: open?.spec.claim?.uid, value: open });
    this.#openByPool.move(name, { from: before?.spec.nodePool, to: open?.spec.nodePool, value: open });
    if (open === undefined) this.#open.delete(name);
    else this.#open.set(name, open);
    if (after !== undefined && isDryRun(after) && !isFinal(after)) this.#dryRuns.set(name, after);
    else this.#dryRuns.delete(name);
    for (const claim of before === undefined ? [] : claimNames(before)) {
      this.#byClaimName.move(name, { from: claim, to: undefined, value: undefined });
    }
    for (const claim of after === undefined ? [] : claimNames(after)) {
      this.#byClaimName.move(name, { from: undefined, to: claim, value: after });
    }
    if (before !== undefined) this.#takeFinished(before);
    if (after !== undefined) this.#addFinished(after);
  }

  open(): readonly ActionView[] {
    return this.#open.values();
  }

  dryRuns(): readonly ActionView[] {
    return this.#dryRuns.values();
  }

  /** Finished ones and dry runs too. */
  on(nodeUid: string): readonly ActionView[] {
    return this.#byNodeUid.of(nodeUid);
  }

  /** There should be one. Were there more, the oldest has the node. */
  openOn(nodeUid: string): ActionView | undefined {
    return oldest(this.on(nodeUid).filter(isOpen));
  }

  openOfClaim(claimUid: string): ActionView | undefined {
    return oldest(this.#openByClaimUid.of(claimUid));
  }

  openOfPool(pool: string | undefined): readonly ActionView[] {
    return this.#openByPool.of(pool);
  }

  dryRunsOn(nodeUid: string): readonly ActionView[] {
    return this.on(nodeUid).filter(action => isDryRun(action) && !isFinal(action));
  }

  /** Those that take the claim away or wait for it to come up. */
  ofClaim(claimName: string): readonly ActionView[] {
    return this.#byClaimName.of(claimName);
  }

  /** Finished ones too. */
  ofBatch(batch: string): readonly ActionView[] {
    return this.#byBatch.of(batch);
  }

  get finishedCount(): number {
    return this.#finished.length;
  }

  finishedSince(at: Instant): readonly ActionView[] {
    return this.#finished.slice(this.#placeOf(at, "")).map(({ action }) => action);
  }

  #addFinished(action: ActionView): void {
    const at = finishedAt(action);
    if (at !== undefined) this.#finished.splice(this.#placeOf(at, action.name), 0, { at, action });
  }

  #takeFinished(action: ActionView): void {
    const at = finishedAt(action);
    if (at !== undefined) this.#finished.splice(this.#placeOf(at, action.name), 1);
  }

  #placeOf(at: Instant, name: string): number {
    let low = 0;
    let high = this.#finished.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = this.#finished[middle];
      if (found !== undefined && (found.at < at || (found.at === at && found.action.name < name))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Not over and carried out: what the ledger counts. */
function isOpen(action: ActionView): boolean {
  return !isDryRun(action) && !isFinal(action);
}

function isDryRun({ spec, status }: ActionView): boolean {
  return spec.dryRun === true || status.phase === "DryRun";
}

function isFinal({ status }: ActionView): boolean {
  return finalPhases.some(phase => phase === status.phase);
}

function finishedAt(action: ActionView): Instant | undefined {
  if (isDryRun(action) || !isFinal(action)) return undefined;
  const written = parseTime(action.status.finishedAt ?? "");
  return written.ok ? written.value : action.createdAt;
}

function claimNames({ spec }: ActionView): readonly string[] {
  return [...(spec.claim ? [spec.claim.name] : []), ...(spec.replacements ?? []).map(({ name }) => name)];
}

function oldest(actions: readonly ActionView[]): ActionView | undefined {
  return actions.reduce<ActionView | undefined>(
    (first, action) => (first === undefined || action.createdAt < first.createdAt ? action : first),
    undefined,
  );
}
