// Random clusters over hours, through the rules and the arbiter, with remediators that succeed, fail, hang and take nodes
// away: what health checks promise whatever comes. The counting here is plain and knows nothing of the kept numbers.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aCondition, aNode, aSafetyPolicy, at, aWorld } from "../../../test/builders.ts";
import type { NodeHealthCheckSpec } from "../../api/node-health-check.ts";
import { nodeOfLease } from "../../api/node-health-check-contract.ts";
import { formatTime, type Instant, minuteMs, secondMs } from "../../api/time.ts";
import type { CheckView, NodeLeaseView, RemediationView } from "../../snapshot/check-views.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { ActionView, ConditionView, NodeView } from "../../snapshot/views.ts";
import { ledgerRule } from "../actions.ts";
import { arbitrate } from "../arbitrate.ts";
import type { ActionProgress, Command, Context, Decision, LeaseTaking } from "../decision.ts";
import { decideCheck } from "./check.ts";
import { controlPlaneLimits, remediationVeto } from "./holds.ts";
import { decideCheckedNode } from "./node.ts";
import { aCheck, apiVersion, aTemplate, created, served, templateRef } from "../../../test/check-builders.ts";

const unlimited = { cluster: "100%", zone: "100%", perWindow: { nodes: 1_000, duration: "1h" } };
const safety = aSafetyPolicy({ caps: { repair: unlimited } });
const kinds = ["FenceRemediation", "RebootRemediation"];
const templates = [aTemplate(), aTemplate("reboot", { kind: "RebootRemediationTemplate" })];

type Act = { readonly node: number; readonly what: "True" | "False" | "Unknown" | "gone" | "back" };
type Deed = { readonly which: number; readonly what: "succeed" | "fail" | "takes-away" | "hold" | "let-go" | "vanish" };
type Round = { readonly seconds: number; readonly acts: readonly Act[]; readonly deeds: readonly Deed[] };
type Story = {
  readonly size: number;
  readonly masters: number;
  readonly spec: NodeHealthCheckSpec;
  readonly rounds: readonly Round[];
};

const steps: NodeHealthCheckSpec = {
  escalatingRemediations: [
    { remediationTemplate: templateRef("reboot", "RebootRemediationTemplate"), order: 2, timeout: "5m" },
    { remediationTemplate: templateRef(), order: 1, timeout: "3m" },
  ],
};
const round: fc.Arbitrary<Round> = fc.record({
  seconds: fc.integer({ min: 0, max: 400 }),
  acts: fc.array(
    fc.record({
      node: fc.nat(9),
      what: fc.constantFrom<Act["what"]>("True", "True", "False", "Unknown", "gone", "back"),
    }),
    { maxLength: 4 },
  ),
  deeds: fc.array(
    fc.record({
      which: fc.nat(5),
      what: fc.constantFrom<Deed["what"]>("succeed", "fail", "takes-away", "hold", "let-go", "vanish"),
    }),
    { maxLength: 3 },
  ),
});
const story: fc.Arbitrary<Story> = fc.record({
  size: fc.integer({ min: 1, max: 8 }),
  masters: fc.nat(3),
  spec: fc
    .tuple(
      fc.constantFrom<NodeHealthCheckSpec>(
        { maxUnhealthy: 1 },
        { maxUnhealthy: "49%" },
        { minHealthy: "51%" },
        { maxUnhealthy: "100%" },
      ),
      fc.constantFrom<NodeHealthCheckSpec>({}, steps),
      fc.constantFrom<NodeHealthCheckSpec>({}, { healthyDelay: "90s" }, { stormCooldownDuration: "4m" }),
    )
    .map(([gate, remediation, delay]): NodeHealthCheckSpec => ({ ...gate, ...remediation, ...delay })),
  rounds: fc.array(round, { minLength: 1, maxLength: 10 }),
});

const controlPlane = { "node-role.kubernetes.io/control-plane": "" };

class World {
  readonly picture: ClusterPicture = aWorld({ safety });
  readonly checks = this.picture.checks;
  readonly objects = new Map<string, RemediationView>();
  readonly leases = new Map<string, NodeLeaseView>();
  readonly standing = new Map<string, Decision>();
  readonly #masters: number;
  now: Instant = at("10h");
  #next = 0;
  #checkByName = new Map<string, CheckView>();

  constructor({ size, masters, spec }: Story) {
    this.#masters = masters;
    for (const kind of kinds) {
      this.checks.setKind({ apiVersion, kind }, served(kind));
      this.checks.setKind({ apiVersion, kind: `${kind}Template` }, served(`${kind}Template`));
    }
    for (const template of templates) this.checks.replaceTemplate({ before: undefined, after: template });
    for (const name of ["all", "some"]) {
      const selector = { matchLabels: { some: "yes" } };
      this.#putCheck(aCheck(name, { spec: name === "some" ? { ...spec, selector } : spec }));
    }
    for (let index = 0; index < size; index++) this.putNode(index, "True");
  }

  get context(): Context {
    const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
    return { picture: this.picture, now: this.now, settings, epoch: 1 };
  }

  /** The same, by indexes that were made from nothing. */
  get rebuilt(): Context {
    const picture = ClusterPicture.rebuilt(this.picture);
    return { ...this.context, picture };
  }

  #putCheck(after: CheckView): void {
    this.checks.replaceCheck({ before: this.#checkByName.get(after.name), after });
    this.#checkByName.set(after.name, after);
  }

  putNode(index: number, ready: "True" | "False" | "Unknown"): void {
    const name = `n${index}`;
    const before = this.picture.node(name);
    if (before?.conditions[0]?.status === ready) return;
    const labels = { ...(index < this.#masters ? controlPlane : {}), ...(index % 2 === 0 ? { some: "yes" } : {}) };
    const identity = before ?? { uid: `${name}-${this.#next++}`, createdAt: this.now };
    this.#replaceNode(
      before,
      aNode(name, { ready, since: this.now, labels, uid: identity.uid, createdAt: identity.createdAt, providerID: "" }),
    );
  }

  endNode(index: number): void {
    const node = this.picture.node(`n${index}`);
    if (node !== undefined) this.#replaceNode(node, undefined);
  }

  #replaceNode(before: NodeView | undefined, after: NodeView | undefined): void {
    if (after !== undefined) this.picture.put("node", after);
    else if (before !== undefined) this.picture.remove("node", before);
  }

  putObject(after: RemediationView | undefined, before: RemediationView | undefined): void {
    const { kind, name } = after ?? before ?? { kind: "", name: "" };
    const isGone = after === undefined || (after.deletingSince !== undefined && after.finalizers.length === 0);
    if (isGone) this.objects.delete(`${kind}/${name}`);
    else this.objects.set(`${kind}/${name}`, after);
    this.checks.replaceRemediation({ before, after: isGone ? undefined : after });
  }

  deed({ which, what }: Deed): void {
    const object = [...this.objects.values()][which];
    if (object === undefined) return;
    if (what === "vanish") return this.putObject(undefined, object);
    const changes: Record<Exclude<Deed["what"], "vanish">, Partial<RemediationView>> = {
      succeed: { succeeded: aCondition("Succeeded", "True", { since: this.now }) },
      fail: { succeeded: aCondition("Succeeded", "False", { since: this.now }) },
      "takes-away": { takesNodeAway: true },
      hold: object.deletingSince === undefined ? { finalizers: ["busy"] } : {},
      "let-go": { finalizers: [] },
    };
    this.putObject({ ...object, ...changes[what] }, object);
  }

  putAction(after: ActionView): void {
    this.picture.put("action", after);
  }

  carryOut(command: Command): void {
    switch (command.kind) {
      case "open-action": {
        const { name, spec, phase } = command;
        const meta = {
          name,
          uid: `${name}-uid`,
          resourceVersion: "1",
          createdAt: this.now,
          labels: {},
          annotations: {},
          finalizers: [],
        };
        this.putAction({ ...meta, spec: { ...spec, decidedAt: formatTime(this.now) }, status: { phase } });
        return;
      }
      case "update-action": {
        const action = this.picture.action(command.action.name);
        if (action !== undefined && command.progress)
          this.putAction({ ...action, status: progressed(action, command.progress, this.now) });
        return;
      }
      case "create-remediation": {
        const made = created(command.manifest, this.now);
        if (this.objects.has(`${made.kind}/${made.name}`)) throw new Error(`${made.kind} ${made.name} is made twice`);
        if (command.takes !== undefined) this.#takeLease(command.takes);
        return this.putObject({ ...made, uid: `${made.name}-${this.#next++}` }, undefined);
      }
      case "annotate-remediation":
      case "delete-remediation": {
        const { resource, name, uid } = command.remediation;
        const object = this.objects.get(`${resource.kind}/${name}`);
        if (object?.uid !== uid) throw new Error(`${command.kind} is meant for another ${resource.kind} ${name}`);

        this.putObject(
          command.kind === "delete-remediation"
            ? { ...object, deletingSince: this.now }
            : this.#annotated(object, command.annotations),
          object,
        );
        return;
      }
      case "take-node-lease":
        return this.#takeLease(command);
      case "release-node-lease":
        return this.#release(command);
      case "update-check":
        return this.#updateCheck(command);
      default:
        throw new Error(`nobody asks for ${command.kind} here`);
    }
  }

  #takeLease({ node, holder, durationSeconds, over }: LeaseTaking): void {
    const lease = {
      nodeName: node.name,
      uid: `lease-${node.name}`,
      resourceVersion: `${this.#next++}`,
      holder,
      durationMs: durationSeconds * secondMs,
      renewedAt: this.now,
    };
    assertSeen(over?.resourceVersion, this.leases.get(node.name));
    this.leases.set(node.name, lease);
    this.checks.replaceLease(node.name, lease);
  }

  #release({ lease, resourceVersion }: Extract<Command, { kind: "release-node-lease" }>): void {
    const nodeName = nodeOfLease(lease.name) ?? "";
    assertSeen(resourceVersion, this.leases.get(nodeName));
    this.leases.delete(nodeName);
    this.checks.replaceLease(nodeName, undefined);
  }

  #annotated(object: RemediationView, annotations: Readonly<Record<string, string | null>>): RemediationView {
    const { healthySince: _, ...unstamped } = object;
    const healthy = annotations["remediation.medik8s.io/healthy-delay"];
    const timedOut = annotations["remediation.medik8s.io/nhc-timed-out"];
    if (healthy === null) return unstamped;
    return {
      ...object,
      ...(healthy === "" ? { healthySince: this.now } : {}),
      ...(timedOut === "" ? { timedOut: formatTime(this.now) } : {}),
    };
  }

  #updateCheck({ check, status }: Extract<Command, { kind: "update-check" }>): void {
    const before = this.#checkByName.get(check.name);
    if (before === undefined) return;
    const { conditions = [], ...rest } = status;
    const stamped = conditions.map((one): ConditionView => ({ ...one, since: one.since ?? this.now }));
    this.#putCheck({ ...before, status: { ...before.status, ...rest }, conditions: stamped });
  }
}

function assertSeen(version: string | undefined, lease: NodeLeaseView | undefined): void {
  if (version !== lease?.resourceVersion) throw new Error(`the lease has the version ${lease?.resourceVersion}`);
}

function progressed(
  { status }: ActionView,
  { phase, steps: told, outcome, waitingFor }: ActionProgress,
  now: Instant,
): ActionView["status"] {
  const time = formatTime(now);
  const isOver = phase === "Done" || phase === "Abandoned" || phase === "Failed";
  const { waitingFor: waited, ...others } = status;
  const waits = waitingFor === undefined ? waited : waitingFor && waitOf(waitingFor, time);
  return {
    ...others,
    ...(waits ? { waitingFor: waits } : {}),
    ...(phase === undefined ? {} : { phase }),
    ...(phase === "Running" && status.startedAt === undefined ? { startedAt: time } : {}),
    ...(told === undefined
      ? {}
      : {
          steps: told.map(({ name, isFinished }) => ({
            name,
            startedAt: time,
            ...(isFinished ? { finishedAt: time } : {}),
          })),
        }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(isOver ? { finishedAt: time } : {}),
  };
}

function waitOf({ reason, message, until }: NonNullable<ActionProgress["waitingFor"]>, since: string) {
  return { reason, message, since, ...(until === undefined ? {} : { until: formatTime(until) }) };
}

function subjectsOf({ picture }: Context): readonly string[] {
  return [
    ...[...picture.nodes()].map(({ name }) => `node/${name}`),
    ...picture.checks.all().map(({ name }) => `check/${name}`),
  ];
}

function judged(subject: string, context: Context): Decision {
  const name = subject.slice(subject.indexOf("/") + 1);
  return subject.startsWith("node/") ? decideCheckedNode(name, context) : decideCheck(name, context);
}

/** Asks who is concerned or due, carries out what they say, and so on until nobody has anything to say. */
function settle(world: World): void {
  for (let turn = 0; turn < 40; turn++) {
    ask(world);
    const commands = [...world.standing.values()].flatMap(decision => decision.commands);
    const starts = startsOf(world);
    for (const { name } of world.picture.openActions()) {
      commands.push(...ledgerRule.decide(name, world.context).commands.filter(({ kind }) => kind === "update-action"));
    }
    if (commands.length + starts.length === 0) return;
    for (const command of [...commands, ...starts]) world.carryOut(command);
  }
  throw new Error("the rules never come to rest");
}

function ask(world: World): void {
  const { context } = world;
  const asked = new Set<string>(world.picture.takeDirty());
  for (const [subject, { wakeAt }] of world.standing)
    if (wakeAt !== undefined && wakeAt <= world.now) asked.add(subject);
  const there = new Set(subjectsOf(context));
  for (const subject of world.standing.keys()) if (!there.has(subject)) world.standing.delete(subject);
  for (const subject of asked) if (there.has(subject)) world.standing.set(subject, judged(subject, context));
  const fresh = world.rebuilt;
  for (const subject of there) {
    const stands = world.standing.get(subject);
    // What nobody asked about again is what it would be from scratch, and at every instant until it wakes.
    expect({ subject, ...stands }).toEqual({ subject, ...judged(subject, fresh) });
    const later = Math.min(world.now + 90 * secondMs, (stands?.wakeAt ?? Number.POSITIVE_INFINITY) - 1);
    if (later > world.now) expect(judged(subject, { ...fresh, now: later })).toEqual(stands);
  }
}

function startsOf(world: World): readonly Command[] {
  const { context } = world;
  const proposals = [...world.standing].flatMap(([subject, decision]) =>
    decision.proposals.map(proposal => ({ subject: subject as "node/x", rule: "checks", proposal })),
  );
  const asked = proposals.map(({ proposal }) => proposal);
  const gates = { limits: controlPlaneLimits(asked, context), vetoes: [remediationVeto(context)] };
  const { commands } = arbitrate({ proposals, context, gates });
  const opened = commands.flatMap(command => (command.kind === "open-action" ? [command] : []));
  for (const { spec } of opened) {
    const check = world.checks.check(spec.askedBy.name);
    if (check !== undefined && world.checks.remediationsOf(check, spec.node.name).length === 0)
      expectOpen(check, world);
  }
  const masters = opened.filter(
    ({ spec }) => world.picture.node(spec.node.name)?.labels["node-role.kubernetes.io/control-plane"] === "",
  );
  expect(masters.length).toBeLessThanOrEqual(1);
  return opened;
}

/** No start with more nodes not healthy than the check allows, counted over all. */
function expectOpen(check: CheckView, { picture, objects }: World): void {
  const nodes = [...picture.nodes()].filter(({ labels }) => check.name === "all" || labels["some"] === "yes");
  const own = [...objects.values()].filter(({ checkUid }) => checkUid === check.uid);
  const sick = nodes.filter(
    ({ name, conditions }) => conditions[0]?.status !== "True" || own.some(({ nodeName }) => nodeName === name),
  ).length;
  const gone = new Set(own.flatMap(({ nodeName }) => (picture.node(nodeName) === undefined ? [nodeName] : []))).size;
  const total = nodes.length + gone;
  const { limit } = check.effective;
  const allowed =
    "minHealthy" in limit
      ? total - Math.ceil(total * 0.51)
      : limit.maxUnhealthy === "1"
        ? 1
        : limit.maxUnhealthy === "49%"
          ? Math.max(1, Math.floor(total * 0.49))
          : total;
  expect(sick + gone).toBeLessThanOrEqual(allowed);
}

test("whatever comes: the gate holds, decisions stand, one node has one remediation, and all ends when all is well", () => {
  fc.assert(
    fc.property(story, told => {
      const world = new World(told);
      settle(world);
      for (const { seconds, acts, deeds } of told.rounds) {
        world.now += seconds * secondMs;
        for (const { node, what } of acts) {
          if (what === "gone") world.endNode(node);
          else if (what === "back") world.putNode(node % told.size, "True");
          else if (world.picture.node(`n${node}`) !== undefined) world.putNode(node, what);
        }
        for (const deed of deeds) world.deed(deed);
        settle(world);
        const owners = [...world.objects.values()].map(({ nodeName, checkUid }) => `${nodeName} ${checkUid}`);
        const nodes = [...new Set(owners)].map(owner => owner.split(" ")[0]);
        expect(new Set(nodes).size).toBe(nodes.length);
      }
      expectRest(world, told);
    }),
    { numRuns: 60 },
  );
});

function expectRest(world: World, { size }: Story): void {
  for (let index = 0; index < size; index++) world.putNode(index, "True");
  for (let look = 0; look < 4; look++) {
    world.now += 5 * minuteMs;
    for (const object of world.objects.values()) {
      world.putObject({ ...object, finalizers: [], succeeded: aCondition("Succeeded", "True") }, object);
    }
    settle(world);
  }
  expect([...world.objects.keys()]).toEqual([]);
  expect([...world.picture.openActions()].map(({ name }) => name)).toEqual([]);
  expect([...world.leases.keys()].filter(name => world.picture.node(name) !== undefined)).toEqual([]);
}
