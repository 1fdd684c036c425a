// The controller between a feed and an API that do what a test says, on a clock that moves only when told: for tests of
// what the shell itself does, with rules of their own.

import { apiVersionOf, type KubeObject, type ObjectMeta, type Resource } from "../src/api/meta.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { ApiError, type Status } from "../src/api/status.ts";
import { type Controller, type ControllerOptions, startController } from "../src/control/controller.ts";
import type { Feed, InstanceProvider, KubeApi } from "../src/control/ports.ts";
import { nodes } from "../src/control/resources.ts";
import { type Command, controllers, type JournalEntry, nothing, type Rule } from "../src/decide/decision.ts";
import { repairStatements } from "../src/provider/repair-statements.ts";
import { aProvider } from "./builders.ts";
import { ManualClock } from "./kube/manual-clock.ts";

export type Call = {
  readonly verb: "get" | "list" | "create" | "patch" | "delete";
  readonly plural: string;
  readonly name: string;
  readonly body?: unknown;
  readonly options?: CallOptions;
};
type CallOptions = { signal?: AbortSignal; subresource?: string; [option: string]: unknown };
type Answer = (call: Call) => unknown;

/** Answers as a server would that likes everything, unless a test says otherwise. */
export class ScriptedApi {
  readonly calls: Call[] = [];
  /** The first that answers anything but undefined. */
  readonly answers: Answer[] = [];
  readonly objects = new Map<string, KubeObject>();
  #version = 1000;

  readonly api: KubeApi = {
    get: (resource, key, options) => this.#call("get", resource, { ...key, options }),
    list: (resource, options) => this.#call("list", resource, { options }),
    watch: () => ({ close: () => {} }),
    create: (resource, key, object, options) =>
      this.#call("create", resource, { name: key.name ?? object.metadata.name ?? "", body: object, options }),
    update: () => Promise.reject(new Error("the shell writes no whole objects")),
    patch: (resource, key, patch, options) => this.#call("patch", resource, { ...key, body: patch.body, options }),
    delete: (resource, key, options) => this.#call("delete", resource, { ...key, options }),
    deleteCollection: () => Promise.reject(new Error("the shell deletes nothing wholesale")),
  };

  get writes(): readonly string[] {
    return this.calls
      .filter(({ verb }) => verb !== "get" && verb !== "list")
      .map(({ verb, plural, name, options }) => {
        return `${verb} ${plural}${options?.subresource ? `/${options.subresource}` : ""} ${name}`;
      });
  }

  /** What a server has at its start. */
  hold(...objects: KubeObject[]): void {
    for (const object of objects) this.objects.set(`${pluralOf(object)} ${object.metadata.name}`, object);
  }

  async #call<T>(
    verb: Call["verb"],
    { plural }: Resource,
    { name = "", body, options }: { name?: string; body?: unknown; options: object | undefined },
  ): Promise<T> {
    const more = { ...(body === undefined ? {} : { body }), ...(options ? { options: { ...options } } : {}) };
    const call: Call = { verb, plural, name, ...more };
    this.calls.push(call);
    const { signal } = call.options ?? {};
    for (const answer of this.answers) {
      const said = answer(call);
      if (said !== undefined) return (await orAborted(Promise.resolve(said), signal)) as T;
    }
    return this.#usual(call) as T;
  }

  #usual({ verb, plural, name, body }: Call): unknown {
    const key = `${plural} ${name}`;
    const known = this.objects.get(key);
    switch (verb) {
      case "list":
        return { items: [...this.objects.values()].filter(o => pluralOf(o) === plural), resourceVersion: "1000" };
      case "get":
        if (known === undefined) throw refusal(404, "NotFound");
        return known;
      case "create": {
        const manifest = body as KubeObject;
        const metadata = { ...meta(name), ...manifest.metadata, resourceVersion: this.#next() };
        this.objects.set(key, { ...manifest, metadata });
        return this.objects.get(key);
      }
      case "patch": {
        if (known === undefined) throw refusal(404, "NotFound");
        const patch = body as Partial<KubeObject>;
        const metadata = { ...known.metadata, ...patch.metadata, resourceVersion: this.#next() };
        const status = { ...(known["status"] as object), ...(patch["status"] as object) };
        const spec = { ...(known["spec"] as object), ...(patch["spec"] as object) };
        const patched = { ...known, ...patch, metadata, spec, status };
        this.objects.set(key, patched);
        return patched;
      }
      case "delete":
        this.objects.delete(key);
        return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
    }
  }

  #next(): string {
    return String(++this.#version);
  }
}

function orAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    answer.then(resolve, reject);
  });
}

export function refusal(code: number, reason: string, details?: NonNullable<Status["details"]>): ApiError {
  const message = `${reason} of a script`;
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
  return new ApiError({ ...head, code, reason, message, ...(details ? { details } : {}) });
}

/** A call that is never answered, and ends only with its signal. */
export const hung = (): Promise<never> => new Promise(() => {});

type Shown = {
  request: Parameters<Feed>[0];
  known: Map<string, { raw: KubeObject; view: unknown }>;
  synced: boolean;
  lastAt: number;
};

export class ScriptedFeed {
  readonly #clock: ManualClock;
  readonly #shownByPlural = new Map<string, Shown>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  readonly feed: Feed = request => {
    const shown: Shown = { request: request as Shown["request"], known: new Map(), synced: false, lastAt: 0 };
    this.#shownByPlural.set(request.resource.plural, shown);
    const ageMs = () => this.#clock.monotonic() - shown.lastAt;
    return {
      get synced() {
        return shown.synced;
      },
      ageMs,
      stop: () => {},
    };
  };

  /** Every kind is listed, or all but these. */
  sync(...missing: string[]): void {
    for (const [plural, shown] of this.#shownByPlural) {
      shown.synced = !missing.includes(plural);
      if (shown.synced) shown.request.handlers.synced?.();
    }
    this.bookmark();
  }

  lose(plural: string): void {
    this.#of(plural).synced = false;
  }

  /** A sign of life from every watch, or all but these. */
  bookmark(...silent: string[]): void {
    for (const [plural, shown] of this.#shownByPlural) {
      if (!silent.includes(plural)) shown.lastAt = this.#clock.monotonic();
    }
  }

  show(raw: KubeObject): void {
    const { request, known } = this.#of(pluralOf(raw));
    const before = known.get(raw.metadata.name);
    const view = request.project(raw, before?.view);
    known.set(raw.metadata.name, { raw, view });
    if (before === undefined) request.handlers.added(view);
    else if (before.view !== view) request.handlers.updated(view, before.view);
  }

  gone(raw: KubeObject): void {
    const { request, known } = this.#of(pluralOf(raw));
    const before = known.get(raw.metadata.name);
    known.delete(raw.metadata.name);
    if (before !== undefined) request.handlers.deleted(before.view);
  }

  #of(plural: string): Shown {
    const shown = this.#shownByPlural.get(plural);
    if (shown === undefined) throw new Error(`nobody watches ${plural}`);
    return shown;
  }
}

export type Lead = ControllerOptions["leadership"] & { become(epoch: number | undefined): void };

export function lead(epoch: number | undefined): Lead {
  const changed: (() => void)[] = [];
  let now = epoch;
  return {
    get epoch() {
      return now;
    },
    onChange: tell => changed.push(tell),
    become: next => {
      now = next;
      for (const tell of changed) tell();
    },
  };
}

export class ScriptedShell {
  readonly clock = new ManualClock();
  readonly server = new ScriptedApi();
  readonly feed = new ScriptedFeed(this.clock);
  readonly journal: JournalEntry[] = [];
  readonly leadership: Lead;
  readonly controller: Controller;

  constructor(rules: readonly Rule[], options: Partial<ControllerOptions> & { epoch?: number | undefined } = {}) {
    const { epoch = 1, ...rest } = options;
    this.leadership = lead("epoch" in options ? options.epoch : epoch);
    this.controller = startController({
      api: this.server.api,
      clock: this.clock,
      feed: this.feed.feed,
      provider: scriptedProvider(),
      rules,
      settings: { cluster: "test", dryRun: false, foreignClaims: "ignore" },
      controllers: new Set(controllers),
      leadership: this.leadership,
      journal: entry => this.journal.push(entry),
      ...rest,
    });
  }

  /** Every kind is listed and the first turn made. */
  async begin(...objects: KubeObject[]): Promise<void> {
    this.server.hold(...objects);
    for (const object of objects) this.feed.show(object);
    this.feed.sync();
    await this.clock.advance(50);
  }

  said(event: JournalEntry["event"]): JournalEntry[] {
    return this.journal.filter(entry => entry.event === event);
  }
}

export function scriptedProvider(more: Partial<InstanceProvider> = {}): InstanceProvider {
  const unasked = () => Promise.resolve({ error: "NotSupported", message: "a test did not say" } as const);
  return {
    view: aProvider({ repairStatements: repairStatements() }),
    onChange: () => {},
    create: unasked,
    get: unasked,
    list: unasked,
    delete: unasked,
    reboot: unasked,
    stop: () => {},
    ...more,
  };
}

/** A rule about claims that says what a test wants. */
export function aRule(decide: Rule["decide"], more: Partial<Rule> = {}): Rule {
  return { name: "scripted", controller: "lifecycle", kind: "claim", decide, ...more };
}

export const commanding = (...commands: Command[]) => ({ ...nothing, commands });

function meta(name: string): ObjectMeta {
  return { name, uid: `${name}-uid`, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
}

export function rawClaim(name: string, more: Partial<ObjectMeta> = {}): KubeObject {
  const { resource } = nodeClaims;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { ...meta(name), ...more }, spec: {} };
}

export function rawNode(name: string, more: Partial<ObjectMeta> = {}): KubeObject {
  return { apiVersion: "v1", kind: nodes.kind, metadata: { ...meta(name), ...more }, spec: {}, status: {} };
}

function pluralOf({ kind }: KubeObject): string {
  if (kind === "SafetyPolicy") return "safetypolicies";
  return `${kind.toLowerCase()}s`;
}
