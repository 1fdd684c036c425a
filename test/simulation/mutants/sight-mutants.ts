// Bugs in what the controller sees: something that is there and not in its picture, or not as it is.

import type { KubeObject } from "../../../src/api/meta.ts";
import type { ClusterPicture } from "../../../src/snapshot/cluster-picture.ts";
import { type Change, overlooking, seeing } from "./change.ts";
import type { Mutant } from "./mutant.ts";

const withoutAnnotations = seeing("pods", raw => {
  const { annotations: _, ...metadata } = raw.metadata;
  return { ...raw, metadata };
});

const oneTier = seeing("pods", raw => {
  const { priorityClassName: _, ...spec } = (raw["spec"] ?? {}) as { priorityClassName?: string };
  return { ...raw, spec };
});

type Caps = { spec?: { caps?: Record<string, Record<string, unknown>> } };

function withCaps(change: (cap: Record<string, unknown>) => Record<string, unknown>): Change {
  return seeing("safetypolicies", raw => {
    const { spec = {} } = raw as KubeObject & Caps;
    const caps = Object.entries(spec.caps ?? {}).map(([name, cap]) => [name, change(cap)]);
    return { ...raw, spec: { ...spec, caps: Object.fromEntries(caps) } };
  });
}

const withoutZones = withCaps(cap => {
  return Object.fromEntries(Object.entries(cap).filter(([field]) => field !== "zone"));
});
/** Of the eight nodes of the story. */
const roundedDown = withCaps(cap => {
  const { cluster } = cap;
  const isShare = typeof cluster === "string" && cluster.endsWith("%");
  return isShare ? { ...cap, cluster: Math.floor((8 * Number.parseInt(cluster, 10)) / 100) } : cap;
});

const neverSilent: Change = options => ({
  ...options,
  feed: wanted => {
    const fed = options.feed(wanted);
    return {
      get synced() {
        return fed.synced;
      },
      ageMs: () => 0,
      stop: () => fed.stop(),
    };
  },
});

const twice = <T>(items: Iterable<T>): T[] => [...items].flatMap(item => [item, item]);

function wakesNobody(isForgotten: (subject: string) => boolean) {
  return (picture: ClusterPicture): Partial<ClusterPicture> => {
    const takeDirty = picture.takeDirty.bind(picture);
    return { takeDirty: () => new Set([...takeDirty()].filter(subject => !isForgotten(subject))) };
  };
}

export const sightMutants: readonly Mutant[] = [
  {
    name: "a freeze is overlooked",
    wrong: overlooking("safetypolicies", "freeze"),
    story: "a freeze",
    caughtBy: "S1",
  },
  {
    name: "untouchable nodes are overlooked",
    wrong: overlooking("safetypolicies", "untouchable"),
    story: "untouchable nodes",
    caughtBy: "S1",
  },
  {
    name: "the policy's dry run is overlooked",
    wrong: overlooking("safetypolicies", "dryRun"),
    story: "dry-run",
    caughtBy: "expected",
  },
  { name: "do-not-disrupt is overlooked", wrong: withoutAnnotations, story: "grace-period", caughtBy: "I6" },
  { name: "all pods are of one tier", wrong: oneTier, story: "tiers", caughtBy: "expected" },
  { name: "caps of a zone are overlooked", wrong: withoutZones, story: "caps of a zone", caughtBy: "I1" },
  { name: "caps are rounded down", wrong: roundedDown, story: "a share of few", caughtBy: "expected" },
  { name: "a silent watch counts as fresh", wrong: neverSilent, story: "stalled-watch", caughtBy: "I2" },
  {
    name: "nothing that goes is counted",
    blind: () => ({ departures: () => [] }),
    story: "caps at once",
    caughtBy: "I1",
  },
  {
    name: "what goes is counted twice",
    blind: picture => {
      const departures = picture.departures.bind(picture);
      return { departures: () => twice(departures()) };
    },
    story: "a cap beside a drain that is held",
    caughtBy: "expected",
  },
  {
    name: "what people delete is not counted",
    blind: picture => {
      const departures = picture.departures.bind(picture);
      return { departures: () => departures().filter(({ action }) => action?.spec.action !== "Deletion") };
    },
    story: "a cap beside a drain that is held",
    caughtBy: "incremental",
  },
  {
    name: "a window forgets what has gone",
    blind: () => ({ finishedSince: () => [] }),
    story: "caps in a window",
    caughtBy: "I1",
  },
  {
    name: "what is in flight is not in the picture",
    blind: picture => {
      const expect = picture.expect.bind(picture);
      // What a launch has found is no command in flight.
      return { expect: (sent, now) => (sent.kind === "launched" ? expect(sent, now) : undefined) };
    },
    story: "two pools and one place",
    caughtBy: "I1",
  },
  {
    name: "the watch is believed more than the answer to a write",
    blind: () => ({ answered: () => {}, wroteGone: () => {} }),
    story: "late watches",
    caughtBy: "expected",
  },
  {
    name: "a change of a claim wakes nobody",
    blind: wakesNobody(subject => subject.startsWith("claim/")),
    story: "claim-life",
    caughtBy: "incremental",
  },
  {
    name: "a change of the cluster wakes nobody",
    blind: wakesNobody(subject => subject === "cluster"),
    story: "vanished-instance",
    caughtBy: "incremental",
  },
];
