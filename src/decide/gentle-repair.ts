// What a repair that goes gently waits for: its pods want another node from when it is written down, and what is found or
// launched for them comes first. Where nothing is found in time it goes without, and says so.

import { type Instant, type Millis, minuteMs } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView, NodeView, PodView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import type { Context } from "./decision.ts";
import { instantOf, reasonsOf } from "./ledger.ts";
import { comesBy } from "./readiness.ts";
import type { Objection } from "./safety.ts";

/** How long a place is searched for. */
const searchMaxMs: Millis = minuteMs;

type Place =
  /** Nothing to wait for; `lacks`: because there is no place. */
  { readonly lacks?: string; readonly since?: Instant } | { readonly message: string; readonly until: Instant };

export type PlacesWait = { readonly hold: Objection; readonly until: Instant };

/** Undefined: its pods have their places, or it goes without. */
export function awaitedPlaces(action: ActionView, node: NodeView, context: Context): PlacesWait | undefined {
  if (!waitsForPlaces(action, context)) return undefined;
  const coming = placesOf(action, node, context.picture).flatMap(place =>
    "message" in place && place.until > context.now ? place : [],
  );
  const [first] = coming;
  if (first === undefined) return undefined;
  const until = Math.min(...coming.map(place => place.until));
  const message = `Node ${node.name} stays until its pods have a place elsewhere: ${first.message}.`;
  return { hold: { code: "places-not-ready", message, until, liftedBy: "the node that they are to go to" }, until };
}

/** Why it goes although pods of it have no place yet; undefined: they have, or nobody was to wait for that. */
export function goesWithout(action: ActionView, node: NodeView, context: Context): string | undefined {
  if (!waitsForPlaces(action, context)) return undefined;
  for (const place of placesOf(action, node, context.picture)) {
    if ("message" in place) return `It goes without waiting any longer: ${place.message}.`;
    if (place.lacks !== undefined) return `It goes without a replacement: ${place.lacks}`;
  }
  return undefined;
}

/** From when on its start is late: the places it waited for had their own time. */
export function placesSince(action: ActionView, context: Context): Instant | undefined {
  const node = context.picture.nodeByUid(action.spec.node.uid);
  if (node === undefined || !waitsForPlaces(action, context)) return undefined;
  const ends = placesOf(action, node, context.picture).map(place =>
    "message" in place ? place.until : (place.since ?? 0),
  );
  return Math.max(searchedUntil(action), ...ends);
}

/** Nobody can tell the pods of a silent node to stop, and by force nobody is asked: there is nothing to wait for. */
function waitsForPlaces({ spec, status }: ActionView, { picture, settings }: Context): boolean {
  if (!settings.findsPlaces || spec.method !== "Terminate" || spec.termination !== "Graceful") return false;
  if (status.startedAt !== undefined || status.phase === "Running") return false;
  const node = picture.nodeByUid(spec.node.uid);
  if (node === undefined || node.deletingSince !== undefined) return false;
  const isSilent = conditionOf(node.conditions, "Ready")?.status === "Unknown";
  return !isSilent && reasonsOf(spec).every(({ action }) => action === "Repair");
}

function placesOf(action: ActionView, { name }: NodeView, picture: Picture): readonly Place[] {
  return [...picture.podsOn(name)]
    .filter(pod => picture.wantsNode(pod))
    .map(pod => placeOf(pod, searchedUntil(action), picture));
}

function placeOf({ namespace, name, uid }: PodView, searched: Instant, picture: Picture): Place {
  const placement = picture.placementOf(uid);
  const pod = `pod ${namespace}/${name}`;
  if (placement === undefined) return { message: `a place is searched for ${pod}`, until: searched };
  if (placement.on === "nothing") return { lacks: `${pod} has no place: ${placement.short}` };
  if (placement.on === "node") return {};
  const claim = picture.claim(placement.name);
  const message = `NodeClaim ${placement.name}, where ${pod} is to go, is not initialized`;
  if (claim === undefined || claim.isProvisional) return { message, until: searched };
  const initialized = conditionOf(claim.conditions, "Initialized");
  if (isTrue(claim.conditions, "Initialized")) return { since: initialized?.since ?? claim.createdAt };
  const limit = comesBy(claim);
  return { message, until: "doubt" in limit ? searched : limit.dueAt };
}

function searchedUntil({ spec, createdAt }: ActionView): Instant {
  return (instantOf(spec.decidedAt) ?? createdAt) + searchMaxMs;
}
