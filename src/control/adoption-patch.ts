// A node that has only just joined is written to by others at the same time. Its adoption holds only to the lists that it
// replaces, as the watch has shown them: what else has changed since does not matter, and need not be read.

import type { NodeChange } from "../decide/decision.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { JsonPatchOperation } from "./ports.ts";
import { finalizersAfter, ownersAfter, taintsAfter } from "./patch.ts";

type Texts = Readonly<Record<string, string | null>>;

/** The server refuses it whole if the node is another one, or if one of the lists is. */
export function adoptionPatch(change: NodeChange, seen: NodeView): readonly JsonPatchOperation[] {
  const { uid, labels, annotations, finalizers, owners, taints } = seen;
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    ...entries("/metadata/labels", labels, change.labels),
    ...entries("/metadata/annotations", annotations, change.annotations),
    ...list("/metadata/finalizers", finalizers, finalizersAfter(finalizers, change)),
    ...list("/metadata/ownerReferences", owners, ownersAfter([], change.owner)),
    ...list("/spec/taints", taints, taintsAfter(taints, change)),
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
