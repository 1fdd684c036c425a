// I1: what is going away or has gone within the window is within every cap of the SafetyPolicy when another one starts.
// Counted are the controller's own actions, which it always knows, and not what others began a moment ago. A share is one of
// the nodes that are there and of those that are counted as going: one may have gone before anybody could see it.

import { parseDuration } from "../../api/time.ts";
import { type Action, allowed, capsOver, isDryRun, isOpen, type Ledger } from "./ledger.ts";

export function capViolations(ledger: Ledger, started: Action, now: number): string[] {
  // A person's own delete is held back by nothing.
  if (started.spec.action === "Deletion") return [];
  const nodes = nodesToShare(ledger);
  return capsOver(ledger.policy, started).flatMap(({ name, cap, counts }) => {
    const counted = [...ledger.actionByName.values()].filter(action => !isDryRun(action) && counts(action));
    const open = counted.filter(isOpen);
    const inZone = open.filter(({ spec }) => spec.zone === started.spec.zone);
    const { perWindow } = cap;
    const windowMs = perWindow === undefined ? 0 : lengthOf(perWindow.duration);
    const gone = counted.filter(action => isGoneSince(action, now - windowMs));
    // What goes on with a node that has its place in the window takes none, also where the share is less by now.
    const isPlaced = gone.some(({ spec }) => spec.node.uid === started.spec.node.uid);
    const inWindow = isPlaced ? 0 : nodesOf([...open, ...gone]);
    return [
      exceeded(`the cap ${name}.cluster`, open.length, allowed(cap.cluster, nodes.length)),
      exceeded(
        `the cap ${name}.zone in ${started.spec.zone}`,
        inZone.length,
        allowed(cap.zone, nodes.filter(({ zone }) => zone === started.spec.zone).length),
      ),
      exceeded(`the cap ${name}.perWindow`, inWindow, allowed(perWindow?.nodes, nodes.length)),
    ].flatMap(message => (message === undefined ? [] : [`I1 ${message} (by ${started.metadata.name})`]));
  });
}

/** A node that was rebooted and goes after all counts once. */
function nodesOf(actions: readonly Action[]): number {
  return new Set(actions.map(({ spec }) => spec.node.uid)).size;
}

/** The one that starts is stored already, so it is among those counted. */
function exceeded(what: string, count: number, most: number): string | undefined {
  return count > most ? `${count} nodes are going or gone where ${what} allows ${most}` : undefined;
}

function nodesToShare({ nodeByName, actionByName }: Ledger): { zone: string | undefined }[] {
  const there = [...nodeByName.values()].map(({ metadata }) => ({
    uid: metadata.uid,
    zone: metadata.labels?.["topology.kubernetes.io/zone"],
  }));
  const known = new Set(there.map(({ uid }) => uid));
  const going = [...actionByName.values()].filter(action => isOpen(action) && !known.has(action.spec.node.uid));
  return [...there, ...going.map(({ spec }) => ({ zone: spec.zone }))];
}

/** One that failed, or was given up on its way, has its place in the window; one that never began took nothing away. */
function isGoneSince(action: Action, since: number): boolean {
  const { phase, startedAt, finishedAt = "" } = action.status ?? {};
  const hasTaken = phase !== "Abandoned" || startedAt !== undefined;
  return !isOpen(action) && hasTaken && Date.parse(finishedAt) > since;
}

function lengthOf(duration: string): number {
  const parsed = parseDuration(duration);
  return parsed.ok ? parsed.value : 0;
}
