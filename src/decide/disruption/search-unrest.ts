// A wave of pods that come or go, as when a deployment is scaled, is judged as one when it is over: whoever it has passed
// already would take the pods of those that it has not, and both would have to move again. Nobody is put off for long.

import { type Instant, type Millis, minuteMs } from "../../api/time.ts";
import type { Stay } from "../../snapshot/moves.ts";
import type { Picture } from "../../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../../snapshot/views.ts";
import { quietSince, standStillMs } from "./clock.ts";

/** Of all nodes: where pods came to more of them, or went from more, a moment ago, the others wait. */
const restlessShare = 0.05;
/** That many nodes are restless in any cluster. */
const restlessMin = 1;
const putOffMaxMs: Millis = 2 * minuteMs;
/** Why a node stays meanwhile. */
const whyPutOff = "pods still come to other nodes and go from them";

type Seen = { readonly picture: Pick<Picture, "podEvents">; readonly now: Instant };

export class Unrest {
  #nodeCount = 0;
  #restlessCount = 0;
  #endsAt: Instant = Number.NEGATIVE_INFINITY;

  add({ name }: NodeView, claim: ClaimView, { picture, now }: Seen) {
    const since = quietSince(claim, name, picture);
    this.#nodeCount++;
    if (since === undefined || since + standStillMs <= now) return;
    this.#restlessCount++;
    this.#endsAt = Math.max(this.#endsAt, since + standStillMs);
  }

  /** When it is over at the earliest; undefined: there is none. */
  get endsAt(): Instant | undefined {
    const isCalm = this.#restlessCount <= Math.max(restlessMin, restlessShare * this.#nodeCount);
    return isCalm ? undefined : this.#endsAt;
  }

  /** How the node stays until then; undefined: it is judged all the same. */
  puttingOff(uid: string, { picture, now }: { picture: Pick<Picture, "stayOf">; now: Instant }): Stay | undefined {
    if (this.endsAt === undefined) return undefined;
    const before = picture.stayOf(uid);
    const at = before?.until === undefined ? now : before.at;
    const until = at + putOffMaxMs;
    return until <= now ? undefined : { short: whyPutOff, at, until };
  }
}
