// Random operations on one kind: the verbs in the proportions in which they find most, with names few enough to meet.

import fc from "fast-check";
import { createMetadata, metadataChange } from "./metadata.ts";
import type { Json, JsonObject, Operation, Query, Subject } from "./operation.ts";

/** What a kind brings with it. Bodies and changes are without metadata. */
export type Habits = {
  subject: Subject;
  bodies: fc.Arbitrary<JsonObject>;
  /** Merged into an object by updates, merge patches and strategic patches. */
  changes: fc.Arbitrary<JsonObject>;
  statuses?: fc.Arbitrary<JsonObject>;
  /** What is written to the scale subresource, where there is one. */
  scales?: fc.Arbitrary<JsonObject>;
  /** Strategic patches with directives; absent for custom kinds, which answer 415 to all of them. */
  strategic?: fc.Arbitrary<JsonObject>;
  jsonPatches?: fc.Arbitrary<Json[]>;
  fieldSelectors?: readonly string[];
  /** Named by their subresource. */
  posts?: fc.Arbitrary<{ subresource: string; body: JsonObject }>;
  weight?: number;
};

const names = fc.constantFrom("a", "a", "b", "c");

const writeQuery: fc.Arbitrary<Query> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Query>({}) },
  {
    weight: 7,
    arbitrary: fc.constantFrom<Query>(
      { fieldValidation: "Strict" },
      { fieldValidation: "Warn" },
      { fieldValidation: "Ignore" },
      { fieldManager: "tester" },
      { dryRun: "All" },
      { dryRun: "All", fieldValidation: "Strict" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Query>(
      { dryRun: "Some" },
      { fieldValidation: "Maybe" },
      { fieldManager: "x".repeat(129), fieldValidation: "Maybe" },
    ),
  },
);

const versions = fc.constantFrom("latest", "latest", "latest", "oldest", "none", "malformed" as const);
const uids = fc.constantFrom("none", "none", "right", "right", "wrong" as const);
const labelSelectors = ["app=x", "app in (x,y)", "tier!=silver", "app notin (z)", "app", "tier==gold"];
const listSelectors = [...labelSelectors, "!tier", "app=", "app=x=y", "app in x", ",", "app>1"];

export function operationsOn(habits: Habits): fc.Arbitrary<Operation> {
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary });
  return fc.oneof(
    weighted(8, creates(habits)),
    weighted(6, updates(habits)),
    weighted(8, patches(habits)),
    weighted(6, deletes(habits)),
    weighted(1, deletesOfMany(habits)),
    weighted(2, gets(habits)),
    weighted(4, lists(habits)),
    weighted(2, watches(habits)),
    ...(habits.posts === undefined ? [] : [weighted(5, posts(habits, habits.posts))]),
  );
}

export function creates({ subject, bodies }: Habits): fc.Arbitrary<Operation> {
  const body = fc.tuple(bodies, createMetadata).map(([rest, metadata]) => ({ ...rest, metadata }));
  const generate = fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
  return fc.record({
    kind: fc.constant("create"),
    subject: fc.constant(subject),
    name: names,
    generate,
    body,
    query: writeQuery,
  });
}

function changeOf({ changes }: Habits): fc.Arbitrary<JsonObject> {
  const withMetadata = metadataChange.map(metadata => ({ metadata }));
  return fc.oneof(
    changes,
    withMetadata,
    fc.tuple(changes, withMetadata).map(([one, other]) => ({ ...one, ...other })),
  );
}

/** The main resource, or a subresource with what belongs to it. */
function places(habits: Habits): fc.Arbitrary<{ subresource: string; change: JsonObject }> {
  const main = changeOf(habits).map(change => ({ subresource: "", change }));
  const status =
    habits.statuses === undefined
      ? []
      : [fc.oneof(habits.statuses, changeOf(habits)).map(change => ({ subresource: "status", change }))];
  const scale = habits.scales === undefined ? [] : [habits.scales.map(change => ({ subresource: "scale", change }))];
  return fc.oneof(
    { weight: 3, arbitrary: main },
    ...[...status, ...scale].map(arbitrary => ({ weight: 1, arbitrary })),
  );
}

function updates(habits: Habits): fc.Arbitrary<Operation> {
  return fc
    .record({ name: names, query: writeQuery, version: versions, uid: uids, place: places(habits) })
    .map(({ place, ...rest }) => ({ kind: "update", subject: habits.subject, ...rest, ...place }));
}

function patches(habits: Habits): fc.Arbitrary<Operation> {
  const { subject } = habits;
  const merge = places(habits).map(({ subresource, change }) => ({
    type: "merge" as const,
    subresource,
    body: change,
  }));
  const strategicChange = fc.oneof(changeOf(habits), ...(habits.strategic ? [habits.strategic, habits.strategic] : []));
  const strategic = strategicChange.map(body => ({ type: "strategic" as const, subresource: "", body }));
  const json = fc
    .oneof(jsonPatches, ...(habits.jsonPatches ? [habits.jsonPatches, habits.jsonPatches] : []))
    .map(body => ({ type: "json" as const, subresource: "", body }));
  const patch = fc.oneof(
    { weight: 4, arbitrary: merge },
    { weight: habits.strategic ? 4 : 1, arbitrary: strategic },
    { weight: 3, arbitrary: json },
  );
  return fc
    .record({ name: names, query: writeQuery, patch })
    .map(({ name, query, patch }) => ({ kind: "patch", subject, name, query, ...patch }));
}

const jsonPatches = fc.constantFrom<Json[]>(
  [],
  [{ op: "add", path: "/metadata/labels/added", value: "yes" }],
  [{ op: "remove", path: "/metadata/labels/absent" }],
  [{ op: "replace", path: "/metadata/labels/sequence", value: "moved" }],
  [{ op: "test", path: "/metadata/name", value: "somebody" }],
  [
    { op: "test", path: "/metadata/name", value: "@a" },
    { op: "add", path: "/metadata/annotations", value: { note: "patched" } },
  ],
  [{ op: "copy", from: "/metadata/name", path: "/metadata/labels/copied" }],
  [{ op: "move", from: "/metadata/labels/app", path: "/metadata/labels/moved" }],
  [{ op: "add", path: "/metadata/finalizers", value: ["test.fettle.dev/hold"] }],
  [{ op: "add", path: "/metadata/finalizers/-", value: "test.fettle.dev/second" }],
  [{ op: "remove", path: "/metadata/finalizers/0" }],
  [{ op: "remove", path: "/metadata/finalizers" }],
  [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }],
  [{ op: "replace", path: "/metadata/uid", value: "other" }],
  [{ op: "remove", path: "/metadata/name" }],
  [{ op: "add", path: "no-slash", value: 1 }],
  [{ op: "increase", path: "/metadata/generation" }],
  [{ op: "replace", path: "/metadata/labels", value: "text" }],
  [{ op: "replace", path: "", value: {} }],
  [{ op: "add", path: "/metadata/labels/a~1b", value: "slash" }],
);

const deleteOptions = fc.record(
  {
    gracePeriodSeconds: fc.constantFrom<Json>(0, 1, 30, 30, -1),
    propagationPolicy: fc.constantFrom("Background", "Foreground", "Orphan", "Elsewhere"),
    dryRun: fc.constant<Json>(["All"]),
    orphanDependents: fc.boolean(),
  },
  { requiredKeys: [] },
);

const usualDeletes = fc.oneof(
  { weight: 2, arbitrary: fc.constant<JsonObject>({}) },
  { weight: 3, arbitrary: deleteOptions },
);

function deletes({ subject }: Habits): fc.Arbitrary<Operation> {
  return fc.record({
    kind: fc.constant("delete"),
    subject: fc.constant(subject),
    name: names,
    query: fc.constantFrom<Query>(
      {},
      {},
      {},
      { dryRun: "All" },
      { gracePeriodSeconds: "0" },
      { propagationPolicy: "Orphan" },
    ),
    options: usualDeletes,
    version: fc.constantFrom("none", "none", "none", "latest", "oldest", "malformed" as const),
    uid: fc.constantFrom("none", "none", "right", "wrong" as const),
  });
}

function deletesOfMany({ subject, fieldSelectors = [] }: Habits): fc.Arbitrary<Operation> {
  return fc.record({
    kind: fc.constant("delete-collection"),
    subject: fc.constant(subject),
    query: selections(["app=x", "tier=gold"], fieldSelectors),
    options: usualDeletes.map(options => ({ kind: "DeleteOptions", apiVersion: "v1", ...options })),
  });
}

function gets({ subject, statuses, scales }: Habits): fc.Arbitrary<Operation> {
  return fc.record({
    kind: fc.constant("get"),
    subject: fc.constant(subject),
    name: names,
    query: fc.constant<Query>({}),
    subresource: fc.constantFrom("", "", ...(statuses ? ["status"] : []), ...(scales ? ["scale"] : []), "nonsense"),
    version: versions,
  });
}

function selections(labels: readonly string[], fields: readonly string[]): fc.Arbitrary<Query> {
  return fc
    .record(
      { labelSelector: fc.constantFrom(...labels), fieldSelector: fc.constantFrom("metadata.name!=@a", ...fields) },
      { requiredKeys: [] },
    )
    .map(query => query as Query);
}

function lists({ subject, fieldSelectors = [] }: Habits): fc.Arbitrary<Operation> {
  const fields = [...fieldSelectors, "metadata.name=@a", "metadata.namespace=@ns", "spec.nothing=1", "metadata.name"];
  const limit = fc.constantFrom<Query>({}, {}, { limit: "1" }, { limit: "2" }, { limit: "-1" }, { limit: "many" });
  return fc
    .tuple(
      selections(listSelectors, fields),
      limit,
      fc.constantFrom("none", "none", "none", "latest", "oldest", "malformed" as const),
      fc.boolean(),
    )
    .map(([selection, page, version, exact]) => ({
      kind: "list",
      subject,
      query: { ...selection, ...page },
      version,
      exact,
    }));
}

// Only selections that the end marker is part of, or the stream would not end.
function watches({ subject, fieldSelectors = [] }: Habits): fc.Arbitrary<Operation> {
  return fc.record({
    kind: fc.constant("watch"),
    subject: fc.constant(subject),
    query: selections(labelSelectors, fieldSelectors),
    from: fc.constantFrom("now", "start", "initial" as const),
  });
}

function posts(
  { subject }: Habits,
  bodies: fc.Arbitrary<{ subresource: string; body: JsonObject }>,
): fc.Arbitrary<Operation> {
  return fc
    .record({ name: names, query: writeQuery, post: bodies })
    .map(({ name, query, post }) => ({ kind: "post", subject, name, query, ...post }));
}
