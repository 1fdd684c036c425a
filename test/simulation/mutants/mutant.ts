// A deliberate bug, and where it must show.

import type { ClusterPicture } from "../../../src/snapshot/cluster-picture.ts";
import type { Change } from "./change.ts";
import type { StoryName } from "./stories.ts";

export type Mutant = {
  /** What the controller does wrong. */
  readonly name: string;
  readonly story: StoryName;
  /** An invariant (I5), `expected` (the story's own word), `incremental` (not what a look from scratch says) or `storm`. */
  readonly caughtBy: string;
} & (
  | { readonly wrong: Change }
  /** Members of the picture that the controller keeps, in place of its own. */
  | { readonly blind: (picture: ClusterPicture) => Partial<ClusterPicture> }
);
