// Read-your-writes for one kind: what we have asked for and what the server has answered lie over what the watch shows,
// until the watch has caught up. An event older than our own write never moves the picture back.

import type { KubeObject } from "../api/meta.ts";
import { isOlder } from "../api/resource-version.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { type CheckedView, type Identity, identityOf, type View, versionOf } from "./kind.ts";
import { looksLike } from "./looks-like.ts";

// Far more than go while a write waits for its answer.
const GONE_MAX = 10_000;

/** What a command that was sent does to an object; the same view once the object shows it. */
export type Effect<V> = (view: V | undefined) => V | undefined;

type Entry<V> = {
  watched: V | undefined;
  /** The version of the last event, also of one that changed nothing visible. */
  seen: string | undefined;
  /** What the server has told us in an answer; no view: that it is gone. */
  written: { view: V | undefined; version: string | undefined } | undefined;
  effects: Map<string, Effect<V>>;
};

/** Each change takes what is shown so far and returns what is to be shown. */
export class InFlight<V extends View | CheckedView> {
  // Only of objects over which something lies.
  readonly #entries = new Map<string, Entry<V>>();
  /** Where the effects of each command lie. */
  readonly #expectedBy = new Map<string, Identity>();
  // A uid never comes back: an event or an answer that speaks of one of these is late.
  readonly #gone = new Set<string>();
  readonly #isEachVersionNews: boolean;

  /** `isEachVersionNews`: no version of an object is shown as the one before it. */
  constructor({ isEachVersionNews = false }: { isEachVersionNews?: boolean } = {}) {
    this.#isEachVersionNews = isEachVersionNews;
  }

  /** An event of this version came in, whether or not anything visible changed. */
  saw(identity: Identity, version: string): void {
    const entry = this.#entries.get(keyOf(identity));
    if (entry !== undefined) entry.seen = version;
  }

  /** The view of an event: where each version is news, that of our own write was made of the answer to us. */
  read(raw: KubeObject, project: () => V): V {
    if (!this.#isEachVersionNews) return project();
    const { namespace = "", name, uid, resourceVersion } = raw.metadata;
    const identity = { namespace, name, uid };
    const written = this.#entries.get(keyOf(identity))?.written;
    const isRead = written?.version === resourceVersion && isOf(identity, written.view);
    return (isRead ? written.view : undefined) ?? project();
  }

  /** Where the watch brings what an answer to us has shown before, it stays that view: nobody need look again. */
  asShown(view: V, shown: V | undefined): V {
    const isOver = this.#entries.has(keyOf(identityOf(view)));
    return isOver && shown !== undefined && isEqual(shown, view) ? shown : view;
  }

  watched(view: V, shown: V | undefined): V | undefined {
    const identity = identityOf(view);
    if (!this.#entries.has(keyOf(identity)) && !this.#gone.has(identity.uid)) return view;
    const entry = this.#entryOf(identity, shown);
    entry.watched = view;
    const version = entry.seen ?? versionOf(view);
    if (!isBefore(version, entry.written?.version)) entry.written = undefined;
    return this.#resolve(identity, entry);
  }

  removed(view: V, shown: V | undefined): V | undefined {
    const identity = identityOf(view);
    this.bury(identity.uid);
    const entry = this.#entryOf(identity, shown);
    if (isOf(identity, entry.watched)) entry.watched = undefined;
    const { written } = entry;
    const isLate = isBefore(entry.seen ?? versionOf(view), written?.version);
    if (isOf(identity, written?.view) || !isLate) entry.written = undefined;
    return this.#resolve(identity, entry);
  }

  /** By an answer to us. What is older than the last that we know of it, of whatever object of that name, is late. */
  gone(view: V, shown: V | undefined): V | undefined {
    const identity = identityOf(view);
    this.bury(identity.uid);
    const entry = this.#entryOf(identity, shown);
    const version = versionOf(view) ?? entry.written?.version ?? entry.seen;
    entry.written = version === undefined ? undefined : { view: undefined, version };
    return this.#resolve(identity, entry);
  }

  /** Whatever speaks of this uid from now on is late. */
  bury(uid: string): void {
    if (uid === "") return;
    this.#gone.add(uid);
    for (const oldest of this.#gone) {
      if (this.#gone.size <= GONE_MAX) return;
      this.#gone.delete(oldest);
    }
  }

  wrote(view: V, version: string | undefined, shown: V | undefined): V | undefined {
    const identity = identityOf(view);
    if (this.#gone.has(identity.uid)) return shown;
    if (isLeaving(view)) return this.gone(view, shown);
    const entry = this.#entryOf(identity, shown);
    if (this.#isNews(entry, view, version)) entry.written = { view, version };
    return this.#resolve(identity, entry);
  }

  expect(identity: Identity, { by, effect, shown }: { by: string; effect: Effect<V>; shown: V | undefined }) {
    const entry = this.#entryOf(identity, shown);
    entry.effects.set(by, effect);
    this.#expectedBy.set(by, identity);
    return this.#resolve(identity, entry);
  }

  expectedBy(command: string): Identity | undefined {
    return this.#expectedBy.get(command);
  }

  unexpect(identity: Identity, command: string, shown: V | undefined): V | undefined {
    const entry = this.#entryOf(identity, shown);
    entry.effects.delete(command);
    this.#expectedBy.delete(command);
    return this.#resolve(identity, entry);
  }

  /**
   * A list is the server's present: what it has is there, even if we saw it go (etcd restored from a backup).
   * Returns what comes to light.
   */
  relisted(): V[] {
    this.#gone.clear();
    for (const entry of this.#entries.values()) {
      if (entry.written !== undefined && entry.written.view === undefined) entry.written = undefined;
    }
    return [...this.#entries.values()].flatMap(({ watched }) => watched ?? []);
  }

  #entryOf(identity: Identity, shown: V | undefined): Entry<V> {
    const key = keyOf(identity);
    const entry = this.#entries.get(key) ?? { watched: shown, seen: undefined, written: undefined, effects: new Map() };
    this.#entries.set(key, entry);
    return entry;
  }

  #resolve(identity: Identity, entry: Entry<V>): V | undefined {
    const isHidden = entry.watched !== undefined && this.#gone.has(identityOf(entry.watched).uid);
    const watched = isHidden ? undefined : entry.watched;
    let view = entry.written === undefined ? watched : entry.written.view;
    for (const [command, effect] of entry.effects) {
      const next = effect(view);
      if (next === view) {
        entry.effects.delete(command);
        this.#expectedBy.delete(command);
      }
      view = next;
    }
    const isNeeded = isHidden || entry.written !== undefined || entry.effects.size > 0;
    if (!isNeeded) this.#entries.delete(keyOf(identity));
    return view;
  }

  // Not if the watch, or a later answer, was faster, nor if it looks like what the watch shows.
  #isNews({ watched, seen, written }: Entry<V>, view: V, version: string | undefined): boolean {
    if (written !== undefined) return !isBefore(version, written.version);
    if (watched === undefined) return true;
    const shown = seen ?? versionOf(watched);
    const isAhead = shown !== undefined && version !== undefined && !isOlder(shown, version);
    return !isAhead && !looksLike(watched, view);
  }
}

function keyOf({ namespace, name }: Identity): string {
  return `${namespace}/${name}`;
}

function isOf({ uid }: Identity, view: View | CheckedView | undefined): boolean {
  return view !== undefined && identityOf(view).uid === uid;
}

function isBefore(version: string | undefined, than: string | undefined): boolean {
  return version !== undefined && than !== undefined && isOlder(version, than);
}

// What is being deleted and is held by nobody any more is gone once it is stored.
function isLeaving(view: View | CheckedView): boolean {
  return "finalizers" in view && view.deletingSince !== undefined && view.finalizers.length === 0;
}
