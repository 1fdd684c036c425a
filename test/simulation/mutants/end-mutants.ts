// Bugs at a node's end: its deadline, its pods, its instance, its finalizer, and whose node it is.

import { terminationFinalizer, terminationTimestampKey } from "../../../src/api/well-known.ts";
import { formatTime, hourMs } from "../../../src/api/time.ts";
import { blinded, deciding } from "./change.ts";
import type { Mutant } from "./mutant.ts";

/** An hour more with everything that is said of it. */
const alwaysAnHour = deciding("termination", (decision, { now }) => ({
  ...decision,
  commands: decision.commands.map(command => {
    if (command.kind !== "update-claim" || command.status === undefined) return command;
    const annotations = { [terminationTimestampKey]: formatTime(now + hourMs) };
    return { ...command, metadata: { ...command.metadata, annotations } };
  }),
}));

/** Whatever has its providerID. */
const everyNodeIsOurs = blinded("termination", picture => ({
  nodesOf: claim => picture.nodesOf(claim).map(node => ({ ...node, finalizers: [terminationFinalizer] })),
}));

export const endMutants: readonly Mutant[] = [
  {
    name: "a deadline moves on with every word",
    wrong: alwaysAnHour,
    story: "disruption-budget",
    caughtBy: "T1",
  },
  {
    name: "the instance is given up under pods that would move",
    wrong: blinded("termination", () => ({ podsOn: () => [] })),
    story: "disruption-budget",
    caughtBy: "D1",
  },
  {
    name: "a node with a claim's providerID is taken for its own",
    wrong: everyNodeIsOurs,
    story: "a stranger with a claim's providerID",
    caughtBy: "U1",
  },
  {
    name: "what has gone frees no place",
    blind: picture => {
      const takeDirty = picture.takeDirty.bind(picture);
      return { takeDirty: () => new Set([...takeDirty()].filter(subject => subject !== "cluster")) };
    },
    story: "caps at once",
    caughtBy: "incremental",
  },
];
