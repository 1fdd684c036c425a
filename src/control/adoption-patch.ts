// A node that has only just joined is written to by others at the same time. Its adoption holds only to what it replaces, as
// the watch has shown it: what else has changed since does not matter, and need not be read.

import type { Taint } from "../api/taint.ts";
import type { NodeChange } from "../decide/decision.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { JsonPatchOperation } from "./ports.ts";
import { finalizersAfter, ownersAfter, taintsAfter } from "./patch.ts";

type Texts = Readonly<Record<string, string | null>>;

/** The server refuses it whole if the node is another one, or if one of the lists is, or a taint is not where it was. */
export function adoptionPatch(change: NodeChange, seen: NodeView): readonly JsonPatchOperation[] {
  const { uid, labels, annotations, finalizers, owners, taints } = seen;
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    ...entries("/metadata/labels", labels, change.labels),
    ...entries("/metadata/annotations", annotations, change.annotations),
    ...list("/metadata/finalizers", finalizers, finalizersAfter(finalizers, change)),
    ...list("/metadata/ownerReferences", owners, ownersAfter([], change.owner)),
    ...taintOperations(taints, change),
  ];
}

/** A list that is empty is not there, which a test knows as null. */
function list(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[] | undefined,
): readonly JsonPatchOperation[] {
  if (after === undefined) return [];
  const test = { op: "test", path, value: before.length === 0 ? null : before } as const;
  return [test, after.length === 0 ? { op: "remove", path } : { op: "add", path, value: after }];
}

/** One by one: those that Kubernetes itself puts on a new node come and go meanwhile. */
function taintOperations(seen: readonly Taint[], change: NodeChange): readonly JsonPatchOperation[] {
  const after = taintsAfter(seen, change);
  if (after === undefined) return [];
  const path = "/spec/taints";
  if (seen.length === 0) return list(path, seen, after);
  // From the last on, so that the others stay where they are.
  const gone = [...seen.entries()].filter(([, taint]) => !after.includes(taint)).toReversed();
  return [
    ...gone.flatMap(([index, { key, effect }]): JsonPatchOperation[] => [
      { op: "test", path: `${path}/${index}/key`, value: key },
      { op: "test", path: `${path}/${index}/effect`, value: effect },
      { op: "remove", path: `${path}/${index}` },
    ]),
    ...after
      .filter(taint => !seen.includes(taint))
      .map((value): JsonPatchOperation => ({ op: "add", path: `${path}/-`, value })),
  ];
}

function entries(path: string, before: Texts, change: Texts = {}): readonly JsonPatchOperation[] {
  const set = Object.entries(change).filter(([, value]) => value !== null);
  const gone = Object.keys(change).filter(key => change[key] === null && before[key] !== undefined);
  if (Object.keys(before).length === 0) {
    if (set.length === 0) return [];
    return [
      { op: "test", path, value: null },
      { op: "add", path, value: Object.fromEntries(set) },
    ];
  }
  return [
    ...set.map(([key, value]) => ({ op: "add" as const, path: `${path}/${escaped(key)}`, value })),
    ...gone.map(key => ({ op: "remove" as const, path: `${path}/${escaped(key)}` })),
  ];
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
