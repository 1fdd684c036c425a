// A scenario: a cluster, its workloads, what people do and what goes wrong on a time line, and what must hold. Its shape
// is defined once: the types, the check of a file and the page docs/scenarios.md speak of the same fields.

import { Type } from "typebox";
import {
  Duration,
  Flag,
  ListOf,
  MapOf,
  Optional,
  Percent,
  type Static,
  StringEnum,
  Struct,
  Text,
  Whole,
} from "../../api/define.ts";
import type { Manifest } from "../../api/meta.ts";
import { labelValueErrors, qualifiedNameErrors, subdomainErrors } from "../../api/name.ts";
import { parseQuantity } from "../../api/quantity.ts";
import { parseSelector } from "../../api/selector-text.ts";
import { prune } from "../../api/schema/prune.ts";
import type { FieldError, Schema } from "../../api/schema/schema.ts";
import { validate } from "../../api/schema/validate.ts";
import { type Millis, parseDuration } from "../../api/time.ts";

const Anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const AnyManifest = Type.Unsafe<Manifest>({ ...Anything, required: ["apiVersion", "kind", "metadata"] });
const Fields = Type.Unsafe<Record<string, unknown>>(Anything);

const many = { maxItems: 10_000, identity: "atomic" } as const;
const Words = (description: string) => ListOf(description, Text("One of them."), many);

/** Which objects: one by name, or some by their labels, the oldest first. */
const meant = {
  kind: Text("Their kind, such as Node or NodeClaim."),
  name: Optional(Text("The name of one.")),
  namespace: Optional(Text("Their namespace; default for kinds that have one: default.")),
  selector: Optional(Text("Those with these labels, such as karpenter.sh/nodepool=web.", { maxLength: 4096 })),
  count: Optional(Whole("How many of those that the selector finds, the oldest first. Default: all.", { minimum: 1 })),
};
const Objects = Struct("Which objects.", meant);
export type Objects = Static<typeof Objects>;

const lasting = {
  for: Duration("For how long."),
  share: Optional(Percent("How many of the calls are struck, by chance. Default 100%.")),
};

export const apiFaultKinds = [
  "TooManyRequests",
  "InternalError",
  "Forbidden",
  "Conflict",
  "LostRequest",
  "LostAnswer",
  "Garbled",
  "Slow",
] as const;
const ApiFault = Struct("The API server fails for the controller.", {
  fault: StringEnum(
    "TooManyRequests, InternalError, Forbidden and Conflict are answers. LostRequest: nothing comes back and nothing was done. LostAnswer: nothing comes back and it was done. Garbled: it was done, and the answer cannot be read. Slow: the answer comes late.",
    apiFaultKinds,
  ),
  ...lasting,
  verbs: Optional(Words("Of get, list, create, update, patch, delete. Default: all.")),
  resources: Optional(Words("Plural names, such as nodeclaims; pods/eviction for a subresource. Default: all.")),
  delay: Optional(Duration("With Slow: how late. Default 30s.")),
  retryAfter: Optional(Duration("With TooManyRequests: what the server asks for. Default: nothing.")),
});

export const watchFaultKinds = ["Delay", "Stall", "Gone", "Drop", "Garbled", "Repeat", "Disorder", "Past"] as const;
const WatchFault = Struct("Watches of the controller fail.", {
  fault: StringEnum(
    "Delay: every event comes late. Stall: nothing comes, not even bookmarks, and no connection ends. Gone: the place in the stream is too old (410). Drop: the connections break. Garbled: the same, in the middle of a line. Repeat: every event comes twice. Disorder: after every event the one before it comes again. Past: the connections break, and those that go on where they were are told again what they know.",
    watchFaultKinds,
  ),
  for: Optional(Duration("For how long, with Delay, Stall, Repeat, Disorder and Past. Default 10m.")),
  resources: Optional(Words("Plural names. Default: all.")),
  delay: Optional(Duration("With Delay: by how much, default 30s. With Past: how old it is, default 10m.")),
});

export const providerFaultKinds = [
  "InsufficientCapacity",
  "QuotaExceeded",
  "Throttled",
  "NotSupported",
  "Unknown",
  "LostAnswer",
  "OldList",
  "Hang",
] as const;
export const providerCalls = ["create", "get", "list", "delete", "reboot"] as const;
const ProviderFault = Struct("The provider fails.", {
  fault: StringEnum(
    "The class of the error that it answers with. LostAnswer: done, and answered with Unknown. OldList: lists are as the last one before it. Hang: no answer ever.",
    providerFaultKinds,
  ),
  ...lasting,
  calls: Optional(
    ListOf("Default: all.", StringEnum("One of them.", providerCalls), { maxItems: 5, identity: "atomic" }),
  ),
});

const Act = Struct("What happens: exactly one of these.", {
  apply: Optional(AnyManifest),
  delete: Optional(Objects),
  annotate: Optional(
    Struct("Sets annotations of objects, also labels; an empty value takes one away.", {
      ...meant,
      annotations: Optional(MapOf("Annotations.", Text("The value.", { maxLength: 4096 }), { maxProperties: 100 })),
      labels: Optional(MapOf("Labels.", Text("The value."), { maxProperties: 100 })),
    }),
  ),
  cordon: Optional(Objects),
  patch: Optional(
    Struct("Merges fields into objects.", {
      ...meant,
      merge: Fields,
      subresource: Optional(StringEnum("Of the status.", ["status"])),
    }),
  ),
  api: Optional(ApiFault),
  watch: Optional(WatchFault),
  provider: Optional(ProviderFault),
  clock: Optional(Struct("The controller's wall clock jumps.", { jump: Duration("By how much.", "signedDuration") })),
  crash: Optional(
    Struct("The controller's process dies at a write.", {
      atWrite: Optional(Whole("At which of its writes from now on. Default: at once.", { minimum: 1 })),
      committed: Optional(Flag("Whether that write still reached the server. Default false.")),
      downFor: Optional(Duration("How long until the next process leads. Default 20s.")),
    }),
  ),
  pause: Optional(
    Struct("The controller's process stands still, loses its lease to another and goes on after all.", {
      for: Duration("For how long; another leads after 20s."),
    }),
  ),
});
export type Act = Static<typeof Act>;

const Entry = Struct("Something that happens.", {
  at: Duration("When, counted from the start; with every: the first time."),
  every: Optional(Duration("Again and again, so far apart.")),
  until: Optional(Duration("With every: not after this.")),
  note: Optional(Text("What it is about, for readers.", { maxLength: 1024 })),
  do: Act,
});
export type Entry = Static<typeof Entry>;

const amount = {
  is: Optional(Whole("Exactly so many.", { minimum: 0 })),
  atLeast: Optional(Whole("At least so many.", { minimum: 0 })),
  atMost: Optional(Whole("At most so many.", { minimum: 0 })),
};

const Expectation = Struct("Something that must hold: exactly one of count, refusal, journal and unharmed.", {
  at: Optional(Duration("When. Default: at the end.")),
  count: Optional(
    Struct("How many objects there are.", {
      kind: meant.kind,
      namespace: meant.namespace,
      selector: meant.selector,
      where: Optional(
        MapOf("Fields and their values, such as status.phase: Done.", Text("The value."), { maxProperties: 20 }),
      ),
      ...amount,
    }),
  ),
  refusal: Optional(
    Struct("What is refused at that instant, and why.", {
      code: Text("Its code."),
      subject: Optional(Text("A part of the subject's name, such as claim/web.")),
      ...amount,
    }),
  ),
  journal: Optional(
    Struct("How often a text stands in a line of the journal up to then.", {
      has: Text("A part of a line, words separated by single spaces.", { maxLength: 1024 }),
      ...amount,
    }),
  ),
  unharmed: Optional(
    Struct("Of what nothing may have been deleted.", {
      kind: meant.kind,
      name: Optional(Text("The name of one. Default: all of the kind.")),
    }),
  ),
});
export type Expectation = Static<typeof Expectation>;

const UnmanagedNode = Struct("A node that nobody provisioned through us.", {
  name: Text("Its name; with count: the beginning of their names."),
  count: Optional(Whole("How many. Default 1.", { minimum: 1 })),
  zone: Optional(Text("Its zone.")),
  cpu: Optional(Text("Its CPUs. Default 4.")),
  memory: Optional(Text("Its memory. Default 16Gi.")),
  labels: Optional(MapOf("Its labels.", Text("The value."), { maxProperties: 100 })),
});
export type UnmanagedNode = Static<typeof UnmanagedNode>;

const Scenario = Struct("A scenario.", {
  title: Text("What it shows, in one line."),
  about: Optional(Text("More about it.", { maxLength: 8192 })),
  seed: Optional(Whole("Where chance begins. Default 1.", { minimum: 0 })),
  until: Duration("How long it lasts."),
  controller: Optional(
    Struct("How the controller is started.", {
      dryRun: Optional(Flag("With --dry-run. Default false.")),
      foreignClaims: Optional(StringEnum("As --foreign-claims. Default ignore.", ["ignore", "repair"])),
      disruption: Optional(Flag("False: with --controllers='*,-disruption'. Default true.")),
      defaultHealthCheck: Optional(
        Flag("With --default-health-check=on. Default false: there are the checks it names."),
      ),
      repairUnset: Optional(StringEnum("As --repair-unset. Default on.", ["on", "off"])),
    }),
  ),
  cluster: Optional(
    Struct("What is there at the start.", {
      manifests: Optional(ListOf("Objects of any kind: classes, pools, claims, a SafetyPolicy.", AnyManifest, many)),
      nodes: Optional(ListOf("Nodes that nobody provisioned through us.", UnmanagedNode, many)),
    }),
  ),
  workloads: Optional(ListOf("Objects of any kind that run on the nodes or guard what runs.", AnyManifest, many)),
  timeline: Optional(ListOf("What happens.", Entry, many)),
  expect: Optional(ListOf("What must hold, beside what must hold in every run.", Expectation, many)),
});
export type Scenario = Static<typeof Scenario>;

// typebox types a schema as what it describes; whoever judges values sees the same object as a Schema.
const schema = JSON.parse(JSON.stringify(Scenario)) as Schema;

export type CheckedScenario =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly findings: readonly Pick<FieldError, "path" | "message">[] };

/** A value as it was read from a file. Whether the API server takes its manifests shows when they are applied. */
export function checkScenario(value: unknown): CheckedScenario {
  const unknown = prune(structuredClone(value), schema, { root: false });
  const findings = [
    ...unknown.map(path => ({ path, message: "there is no such field" })),
    ...validate(value, schema).map(({ path, message }) => ({ path, message })),
  ];
  if (findings.length > 0) return { ok: false, findings };
  const scenario = value as Scenario;
  const more = meaningErrors(scenario);
  return more.length === 0 ? { ok: true, scenario } : { ok: false, findings: more };
}

type Finding = { path: string; message: string };

/** What the schema cannot say. */
function meaningErrors({ until, cluster, timeline = [], expect = [] }: Scenario): Finding[] {
  const acts = timeline.flatMap(({ do: act, every }, index) => [
    ...oneOf(act, `timeline[${index}].do`, Object.keys(Act.properties)),
    ...Object.entries(act).flatMap(([verb, target]) => objectErrors(target, `timeline[${index}].do.${verb}`)),
    ...(every !== undefined && durationMs(every) === 0
      ? [{ path: `timeline[${index}].every`, message: "must be longer than 0s" }]
      : []),
  ]);
  const expectations = expect.flatMap((expectation, index) => [
    ...oneOf(expectation, `expect[${index}]`, ["count", "refusal", "journal", "unharmed"]),
    ...objectErrors(expectation.count ?? expectation.unharmed, `expect[${index}]`),
  ]);
  const nodes = (cluster?.nodes ?? []).flatMap((node, index) => nodeErrors(node, `cluster.nodes[${index}]`));
  return [...nodes, ...acts, ...expectations, ...lateErrors(until, { timeline, expect })];
}

/** Their kubelets would try in vain to register them, and the story would be told without them. */
function nodeErrors({ name, count, zone = "", labels = {}, ...amounts }: UnmanagedNode, path: string): Finding[] {
  const told = (field: string, errors: readonly string[]) =>
    errors.map(message => ({ path: `${path}.${field}`, message }));
  const { cpu = "4", memory = "16Gi" } = amounts;
  return [
    ...told("name", subdomainErrors(count === undefined ? name : `${name}-${count}`)),
    ...told("zone", labelValueErrors(zone)),
    ...Object.entries({ cpu, memory }).flatMap(([field, amount]) => {
      const parsed = parseQuantity(amount);
      return parsed.ok ? [] : told(field, [parsed.error]);
    }),
    ...Object.entries(labels).flatMap(([key, value]) =>
      told(`labels[${key}]`, [...qualifiedNameErrors(key), ...labelValueErrors(value)]),
    ),
  ];
}

/** What would never happen, or never be judged, must not look as if it had held. */
function lateErrors(until: string, lists: { timeline: readonly Entry[]; expect: readonly Expectation[] }): Finding[] {
  return Object.entries(lists).flatMap(([list, entries]) =>
    entries.flatMap(({ at }, index) => {
      if (at === undefined || durationMs(at) <= durationMs(until)) return [];
      return [{ path: `${list}[${index}].at`, message: `comes after the end (until: ${until})` }];
    }),
  );
}

function oneOf(value: object, path: string, choices: readonly string[]): Finding[] {
  const given = Object.keys(value).filter(key => choices.includes(key));
  return given.length === 1 ? [] : [{ path, message: `must have exactly one of ${choices.join(", ")}` }];
}

function objectErrors(target: unknown, path: string): Finding[] {
  const { name, selector } = (target ?? {}) as Partial<Objects>;
  if (typeof selector !== "string") return [];
  if (name !== undefined) return [{ path, message: "must have either a name or a selector" }];
  const parsed = parseSelector(selector);
  return parsed.ok ? [] : [{ path: `${path}.selector`, message: parsed.error }];
}

/** Of a duration that the schema has let pass. */
export function durationMs(text: string): Millis {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}
