import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  aBudget,
  aClaim,
  anAction,
  anAttachment,
  aNode,
  aPod,
  aPool,
  aProvider,
  aSafetyPolicy,
  at,
  aWorld,
  type Stage,
  t0,
} from "../../test/builders.ts";
import { formatTime, minuteMs } from "../api/time.ts";
import { ClusterPicture } from "./cluster-picture.ts";
import { identityOf, type Kind, type View, versionOf } from "./kind.ts";
import type { ListedInstance } from "./instance.ts";
import { compareLaunches, launchResultOf } from "./launch-result.ts";
import type { Picture, PoolTotals, Subject } from "./picture.ts";
import type { Sent } from "./sent.ts";
import type { ActionView, ClaimView, NodeView, PodView } from "./views.ts";

// Few names, so that everything meets everything: joins that cross, names that come again, actions on what is gone.
const names = ["a", "b", "c"] as const;
const zones = ["z1", "z2"] as const;
const pools = ["p", "q"] as const;
const namespaces = ["n", "m"] as const;
const name = fc.constantFrom(...names);
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
const isDeleting = maybe(fc.constantFrom(t0, at("1m")));
const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const nodes = fc
  .record({
    name,
    life: fc.nat(1),
    providerID: fc.constantFrom("", ...names.map(one => `test:///${one}`)),
    ready: fc.constantFrom("True", "False", "Unknown"),
    zone: maybe(fc.constantFrom(...zones)),
    deletingSince: isDeleting,
    isCordoned: fc.boolean(),
  })
  .map(({ name, life, ...rest }) => aNode(name, { uid: `${name}-${life}`, ...present(rest) }));

const claims = fc
  .record({
    name,
    life: fc.nat(1),
    stage: fc.constantFrom<Stage>("new", "launched", "registered", "initialized"),
    of: fc.constantFrom(...names),
    pool: maybe(fc.constantFrom(...pools)),
    zone: maybe(fc.constantFrom(...zones)),
    deletingSince: isDeleting,
    cpu: maybe(fc.constantFrom("4", "8")),
  })
  .map(({ name, life, of, stage, cpu, ...rest }) =>
    aClaim(name, {
      uid: `claim-${name}-${life}`,
      stage,
      ...(cpu === undefined ? {} : { status: { capacity: { cpu } } }),
      ...(stage === "new" ? {} : { providerID: `test:///${of}` }),
      ...present(rest),
    }),
  );

const pods = fc
  .record({ name, namespace: fc.constantFrom(...namespaces), on: maybe(name), life: fc.nat(1), isReady: fc.boolean() })
  .map(({ name, namespace, on, life, isReady }) =>
    aPod(name, { namespace, uid: `${namespace}-${name}-${life}`, isReady, volumeClaims: [name], ...present({ on }) }),
  );

const actions = fc
  .record({
    name: fc.constantFrom("x", "y"),
    node: name,
    life: fc.nat(1),
    claim: maybe(name),
    replacement: maybe(name),
    nodePool: maybe(fc.constantFrom(...pools)),
    phase: fc.constantFrom("Pending", "Running", "Done", "Failed", "DryRun"),
    finished: fc.constantFrom("1m", "2m"),
  })
  .map(({ name, node, life, claim, replacement, nodePool, phase, finished }) => {
    const { claim: _, ...spec } = anAction(name, { node: aNode(node, { uid: `${node}-${life}` }) }).spec;
    const optional = {
      claim: claim && { name: claim, uid: `claim-${claim}-${life}` },
      replacements: replacement && [{ name: replacement }],
      nodePool,
    };
    const status = phase === "Done" || phase === "Failed" ? { finishedAt: formatTime(at(finished)) } : {};
    return { ...anAction(name, { phase, status }), spec: { ...spec, ...present(optional) } };
  });

const others: fc.Arbitrary<[Kind, View]> = fc.oneof(
  fc.tuple(
    fc.constant<Kind>("pool"),
    fc
      .record({ name: fc.constantFrom(...pools), replicas: fc.nat(2), nodes: fc.nat(1), failures: fc.nat(1) })
      .map(({ name, replicas, nodes, failures }) =>
        aPool(name, { spec: { replicas }, status: { nodes, launchBackoff: { failures, until: formatTime(t0) } } }),
      ),
  ),
  fc.tuple(
    fc.constant<Kind>("safety-policy"),
    fc.boolean().map(dryRun => aSafetyPolicy({ dryRun })),
  ),
  fc.tuple(
    fc.constant<Kind>("disruption-budget"),
    fc
      .tuple(name, fc.constantFrom(...namespaces), fc.nat(1))
      .map(([name, namespace, disruptionsAllowed]) =>
        aBudget(name, { namespace, uid: `${namespace}-${name}`, disruptionsAllowed, selector: {} }),
      ),
  ),
  fc.tuple(
    fc.constant<Kind>("attachment"),
    fc.tuple(name, name).map(([name, on]) => anAttachment(name, { on })),
  ),
  fc.tuple(
    fc.constant<Kind>("volume-claim"),
    fc
      .tuple(name, fc.constantFrom(...namespaces), maybe(name))
      .map(([name, namespace, volume]) => ({ name, namespace, ...present({ volume }) })),
  ),
);

const objects: fc.Arbitrary<[Kind, View]> = fc.oneof(
  { weight: 3, arbitrary: nodes.map((view): [Kind, View] => ["node", view]) },
  { weight: 3, arbitrary: claims.map((view): [Kind, View] => ["claim", view]) },
  { weight: 2, arbitrary: pods.map((view): [Kind, View] => ["pod", view]) },
  { weight: 3, arbitrary: actions.map((view): [Kind, View] => ["action", view]) },
  { weight: 2, arbitrary: others },
);

const commands: fc.Arbitrary<Sent> = fc.oneof(
  actions.map(({ name, spec }): Sent => ({ kind: "open-action", name, spec, phase: "Pending" })),
  claims.map(({ name, uid }): Sent => ({ kind: "delete-claim", claim: { name, uid } })),
  fc.constantFrom("x", "y").map((name): Sent => ({ kind: "start-action", action: { name, uid: "" } })),
  claims.map(({ name, labels }): Sent => {
    const metadata = { name, labels: { ...labels } };
    return { kind: "create-claim", manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: {} } };
  }),
);

type Step = { readonly told: string; readonly run: (picture: ClusterPicture, version: number) => void };

const withVersion = (view: View, version: number): View =>
  "resourceVersion" in view ? { ...view, resourceVersion: String(version) } : view;
const step = (told: string, run: Step["run"]): Step => ({ told, run });
const described = ([kind, view]: [Kind, View]) => `${kind} ${JSON.stringify(identityOf(view))}`;

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: objects.map(o => step(`put ${described(o)}`, (p, v) => p.put(o[0], withVersion(o[1], v)))) },
  { weight: 2, arbitrary: objects.map(o => step(`remove ${described(o)}`, p => p.remove(o[0], o[1]))) },
  {
    weight: 3,
    // An answer is of now, or of some time ago.
    arbitrary: fc
      .tuple(objects, fc.integer({ min: -5, max: 3 }))
      .map(([o, lag]) =>
        step(`wrote ${described(o)} ${lag}`, (p, v) => p.wrote(o[0], withVersion(o[1], v + lag), String(v + lag))),
      ),
  },
  {
    weight: 1,
    arbitrary: objects.map(o =>
      step(`gone ${described(o)}`, p => {
        const { name, uid, namespace } = identityOf(o[1]);
        p.wroteGone(o[0], name, uid, namespace);
      }),
    ),
  },
  { weight: 3, arbitrary: commands.map(c => step(`expect ${c.kind}`, (p, v) => p.expect(c, t0 + v))) },
  { weight: 2, arbitrary: commands.map(c => step(`unexpect ${c.kind}`, p => p.unexpect(c))) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<Kind>("node", "claim", "pod")
      .map(k => step(`relist ${k}`, p => p.feed(k).handlers.synced())),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, fc.constantFrom("running", "gone"))
      .map(([n, state]) =>
        step(`instance ${n} ${state}`, (p, v) =>
          p.setInstance({ providerID: `test:///${n}`, state, seenAt: t0 + minuteMs + v }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.uniqueArray(name), fc.constantFrom(0, 1))
      .map(([listed, life]) =>
        step(`list ${listed.join()} ${life}`, (p, v) =>
          p.setInstanceList({ at: t0 + minuteMs - 100 + v, instances: listed.map(one => listedInstance(one, life)) }),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("claim", "node", "pod/n", "instance/test://", "action"), name, fc.boolean())
      .map(([lane, n, fails]) =>
        step(`failure ${lane}/${n} ${fails}`, (p, v) =>
          p.setFailure(`${lane}/${n}`, fails ? { at: v, retryAt: v, count: v, reason: "", message: "" } : undefined),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .boolean()
      .map(stale =>
        step(`stale ${stale}`, p => p.setStaleness(stale ? { resource: "nodes", message: "silent" } : undefined)),
      ),
  },
);

/** Launched for the claim of the same name, or for one that came later. */
function listedInstance(one: string, life: number) {
  return { providerID: `test:///${one}`, createdAt: t0, cluster: "test", claimUid: `claim-${one}-${life}` };
}

/** Every answer of the picture to every question that can be asked about these names. */
function lookUps(picture: Picture): unknown {
  const all = [...picture.nodes()];
  return {
    nodes: all,
    claims: [...picture.claims()],
    pools: [...picture.pools()],
    actions: [...picture.actions()],
    open: [...picture.openActions()],
    dryRuns: [...picture.dryRuns()],
    finished: [t0, at("1m"), at("2m"), at("3m")].map(since => [...picture.finishedSince(since)]),
    departures: [...picture.departures()],
    zones: [...picture.zones()],
    counts: [
      picture.nodeCount,
      picture.departureCount,
      picture.finishedCount,
      ...zones.map(zone => picture.nodeCountIn(zone)),
    ],
    joins: all.map(node => [node.name, picture.claimOf(node), picture.zoneOf(node)]),
    nodesOf: [...picture.claims()].map(claim => picture.nodesOf(claim)),
    ofPool: pools.map(pool => [
      [...picture.claimsOfPool(pool)],
      picture.claimCountOfPool(pool),
      picture.totalsOfPool(pool),
      [...picture.nodesOfPool(pool)],
    ]),
    strays: [[...picture.unclaimedInstances()], [...picture.unlistedClaims()]],
    nodeless: [picture.nodelessClaims(), picture.claimCount],
    byUid: names.flatMap(one => [0, 1].map(life => aboutUid(picture, `${one}-${life}`))),
    onNode: names.map(one => [[...picture.podsOn(one)], [...picture.attachmentsOn(one)]]),
    pods: namespaces.flatMap(namespace => names.map(one => aboutPod(picture, namespace, one))),
    instances: names.map(one => picture.instance(`test:///${one}`)),
    safety: picture.safety,
    staleness: picture.staleness,
  };
}

function aboutUid(picture: Picture, uid: string): unknown {
  return [picture.nodeByUid(uid), picture.openActionOn(uid), picture.dryRunsOn(uid)];
}

function aboutPod(picture: Picture, namespace: string, name: string): unknown {
  const pod = picture.pod(namespace, name);
  return [pod, pod && picture.budgetsOver(pod), picture.volumeOf(namespace, name)];
}

const stories = fc.array(steps, { minLength: 1, maxLength: 40 });

test("however it came to be, every look-up is that of a picture made from scratch", () => {
  fc.assert(
    fc.property(stories, story => {
      const picture = new ClusterPicture(aProvider());
      for (const [index, { run }] of story.entries()) run(picture, 10 + index * 10);
      expect(lookUps(picture)).toEqual(lookUps(ClusterPicture.rebuilt(picture)));
    }),
    { numRuns: 300 },
  );
});

test("what is counted is what can be counted by hand", () => {
  fc.assert(
    fc.property(stories, story => {
      const picture = new ClusterPicture(aProvider());
      for (const [index, { run }] of story.entries()) run(picture, 10 + index * 10);
      const all = [...picture.nodes()];
      for (const zone of zones) {
        expect(picture.nodeCountIn(zone)).toBe(all.filter(node => picture.zoneOf(node) === zone).length);
      }
      for (const pool of pools) {
        expect(picture.claimsOfPool(pool)).toEqual(picture.claims().filter(claim => claim.pool === pool));
        expect(picture.departuresOf(pool)).toEqual(picture.departures().filter(one => one.pool === pool));
        expect(picture.totalsOfPool(pool)).toMatchObject(totalsByHand(picture.claimsOfPool(pool)));
      }
      expect(picture.zones()).toEqual([...new Set(all.flatMap(node => picture.zoneOf(node) ?? []))].sort());
      const { instances = [] } = picture.instanceList ?? {};
      const isKnown = ({ providerID, claimUid }: ListedInstance) =>
        picture.claims().some(claim => claim.providerID === providerID || claim.uid === claimUid);
      expect(new Set(picture.unclaimedInstances())).toEqual(new Set(instances.filter(one => !isKnown(one))));
      const isListed = (claim: ClaimView) => instances.some(({ providerID }) => providerID === claim.providerID);
      const wasLaunched = ({ providerID, createdAt, conditions }: ClaimView) =>
        providerID !== undefined &&
        (conditions.find(({ type }) => type === "Launched")?.since ?? createdAt) + minuteMs <=
          (picture.instanceList?.at ?? -1);
      expect(picture.unlistedClaims()).toEqual(picture.claims().filter(one => wasLaunched(one) && !isListed(one)));
      expect(new Set(picture.departures().map(({ node }) => node.uid))).toEqual(goingByHand(picture));
      expect(picture.departureCount).toBe(goingByHand(picture).size);
    }),
    { numRuns: 300 },
  );
});

function totalsByHand(claims: readonly ClaimView[]): Partial<PoolTotals> {
  const staying = claims.filter(({ deletingSince }) => deletingSince === undefined);
  const launched = staying.filter(({ providerID }) => providerID !== undefined);
  const cpus = launched.flatMap(({ status }) => status.capacity?.["cpu"] ?? []).map(String);
  const counts = new Map([...new Set(cpus)].map(cpu => [cpu, cpus.filter(one => one === cpu).length]));
  return {
    claims: claims.length,
    staying: staying.length,
    launched: launched.length,
    capacity: new Map(counts.size === 0 ? [] : [["cpu", counts]]),
    launches: claims.flatMap(claim => launchResultOf(claim) ?? []).sort(compareLaunches),
  };
}

/** From the definition, one view after another. */
function goingByHand(picture: ClusterPicture): Set<string> {
  const isOpen = ({ status: { phase = "Pending" } }: ActionView) => phase === "Pending" || phase === "Running";
  const open = picture.actions().filter(isOpen);
  const byNode = picture
    .nodes()
    .filter(
      node =>
        node.deletingSince !== undefined ||
        picture
          .claims()
          .some(
            claim =>
              claim.providerID === node.providerID &&
              node.providerID !== undefined &&
              claim.deletingSince !== undefined,
          ),
    );
  const lost = picture
    .claims()
    .filter(
      claim =>
        claim.deletingSince !== undefined &&
        claim.status.nodeName !== undefined &&
        !picture.nodes().some(node => node.providerID !== undefined && node.providerID === claim.providerID) &&
        !open.some(({ spec }) => spec.claim?.uid === claim.uid),
    );
  return new Set([
    ...byNode.map(({ uid }) => uid),
    ...open.map(({ spec }) => spec.node.uid),
    ...lost.map(({ uid }) => uid),
  ]);
}

test("whoever's surroundings changed is looked at again", () => {
  fc.assert(
    fc.property(stories, story => {
      const picture = new ClusterPicture(aProvider());
      for (const [index, { run, told }] of story.entries()) {
        const before = surroundings(picture);
        picture.takeDirty();
        run(picture, 10 + index * 10);
        const after = surroundings(picture);
        const dirty = picture.takeDirty();
        const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
          subject => before.get(subject) !== after.get(subject),
        );
        expect({ told, missed: changed.filter(subject => !dirty.has(subject)) }).toEqual({ told, missed: [] });
      }
    }),
    { numRuns: 200 },
  );
});

/** What a rule may read when it judges a subject, as one text each: the other side of dependencies.ts. */
function surroundings(picture: ClusterPicture): Map<Subject, string> {
  const texts = new Map<Subject, string>([["cluster", JSON.stringify(aroundCluster(picture))]]);
  for (const claim of picture.claims()) texts.set(`claim/${claim.name}`, JSON.stringify(aroundClaim(picture, claim)));
  for (const node of picture.nodes()) texts.set(`node/${node.name}`, JSON.stringify(aroundNode(picture, node)));
  for (const { name } of picture.pools()) texts.set(`pool/${name}`, JSON.stringify(aroundPool(picture, name)));
  for (const action of picture.actions())
    texts.set(`action/${action.name}`, JSON.stringify(aroundAction(picture, action)));
  return texts;
}

function aroundCluster(picture: ClusterPicture): unknown {
  const readiness = ({ conditions }: NodeView) => conditions.find(({ type }) => type === "Ready")?.status;
  return [
    picture
      .nodes()
      .map(node => [node.uid, node.labels, node.providerID, node.deletingSince, readiness(node), picture.zoneOf(node)]),
    picture.departures().map(({ node, pool, zone, action }) => [node, pool, zone, action]),
    picture
      .claims()
      .map(claim => [
        claim.uid,
        claim.pool,
        claim.zone,
        claim.providerID,
        claim.deletingSince,
        claim.isProvisional,
        claim.conditions.find(({ type }) => type === "Launched")?.since,
      ]),
    picture.unlistedClaims(),
    picture.unclaimedInstances(),
    picture.actions(),
    picture.safety,
    picture.staleness,
    picture.instanceList,
    names.map(one => [picture.instance(`test:///${one}`), picture.failure(`instance/test:///${one}`)]),
  ];
}

function aroundClaim(picture: ClusterPicture, claim: ClaimView): unknown {
  const pool = picture.pool(claim.pool ?? "");
  const isGoing = claim.deletingSince !== undefined;
  return [
    claim,
    picture.nodesOf(claim).map(node => [aroundNode(picture, node), drainOf(picture, node, isGoing)]),
    pool && [
      pool.effective,
      pool.invalid,
      claim.providerID === undefined ? [pool.annotations, pool.status.launchBackoff, pool.conditions] : [],
    ],
    claim.providerID && [picture.instance(claim.providerID), picture.failure(`instance/${claim.providerID}`)],
    picture.failure(`claim/${claim.name}`),
    isGoing ? picture.staleness : undefined,
  ];
}

function drainOf(picture: ClusterPicture, node: NodeView, isGoing: boolean): unknown {
  const around = (pod: PodView) => [
    pod,
    picture.failure(`pod/${pod.namespace}/${pod.name}`),
    isGoing ? [picture.budgetsOver(pod), pod.volumeClaims.map(claim => picture.volumeOf(pod.namespace, claim))] : [],
  ];
  return [picture.podsOn(node.name).map(around), picture.attachmentsOn(node.name)];
}

function aroundNode(picture: ClusterPicture, node: NodeView): unknown {
  const action = picture.openActionOn(node.uid);
  return [
    node,
    picture.claimOf(node),
    action,
    action && picture.failure(`action/${action.name}`),
    picture.failure(`node/${node.name}`),
  ];
}

function aroundPool(picture: ClusterPicture, name: string): unknown {
  const pool = picture.pool(name);
  const totals = picture.totalsOfPool(name);
  const hasSurplus = totals.staying > (pool?.effective.replicas ?? Number.POSITIVE_INFINITY);
  const around = (claim: ClaimView) => [
    claim,
    picture.failure(`claim/${claim.name}`),
    picture
      .nodesOf(claim)
      .map(node => [node, picture.claimOf(node)?.name, picture.openActionOn(node.uid), picture.podsOn(node.name)]),
  ];
  const { claims, staying, launched, launches } = totals;
  const amounts = ([resource, counts]: readonly [string, ReadonlyMap<string, number>]) =>
    [...counts].map(([amount, count]) => `${resource} ${amount} ${count}`);
  const capacity = [...totals.capacity].flatMap(amounts).sort();
  return [
    pool,
    [claims, staying, launched, launches, capacity],
    hasSurplus ? picture.claimsOfPool(name).map(around) : [],
    picture.failure(`pool/${name}`),
  ];
}

function aroundAction(picture: ClusterPicture, action: ActionView): unknown {
  const { node, claim, replacements = [], nodePool } = action.spec;
  const named = claim && picture.claim(claim.name);
  const isOpen = picture.openActions().includes(action);
  const pool = nodePool === undefined ? undefined : picture.pool(nodePool);
  // What is sick or deleted goes whatever the numbers of its pool are, and what has begun goes on.
  const isChosen = !["Repair", "Remediation", "Deletion"].includes(action.spec.action) && !action.status.startedAt;
  const staying = picture
    .claimsOfPool(nodePool ?? "")
    .filter(({ deletingSince }) => deletingSince === undefined).length;
  return [
    action,
    picture.nodeByUid(node.uid),
    named,
    replacements.map(one => picture.claim(one.name)),
    named?.providerID && picture.instance(named.providerID),
    picture.failure(`action/${action.name}`),
    isOpen ? [picture.staleness, picture.safety.policy, pool?.effective, isChosen ? staying : 0] : [],
  ];
}

/** One object of a name after another, as the server has them over time. */
type Life = { readonly view: ClaimView; readonly isOurs: boolean; readonly isGone: boolean };

const lives = fc
  .array(fc.record({ isOurs: fc.boolean(), ends: fc.boolean() }), { minLength: 1, maxLength: 12 })
  .map(acts => {
    let life = 0;
    let isThere = false;
    return acts.map(({ isOurs, ends }, index): Life => {
      const isGone = isThere && ends;
      if (!isThere) life++;
      isThere = !isGone;
      const version = { resourceVersion: String(100 + index), annotations: { act: String(index) } };
      return { view: aClaim("a", { uid: `life-${life}`, ...version }), isOurs, isGone };
    });
  });

// What we write is answered at once; what the watch brings comes later, perhaps twice.
test("the picture never shows an object older than our own last write of it, and ends with what the server has", () => {
  const pace = fc.array(fc.nat(3), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(lives, pace, fc.boolean(), (acts, pace, repeats) => {
      const picture = aWorld();
      const waiting: Life[] = [];
      let ours = 0;
      const deliver = () => {
        const { view, isGone } = waiting.shift() ?? {};
        if (view === undefined) return;
        for (const _ of repeats ? [1, 2] : [1]) {
          if (isGone) picture.remove("claim", view);
          else picture.put("claim", view);
        }
        const shown = picture.claim("a");
        expect(shown === undefined ? ours : Number(versionOf(shown))).toBeGreaterThanOrEqual(ours);
      };
      for (const [index, act] of acts.entries()) {
        waiting.push(act);
        const { view, isOurs, isGone } = act;
        if (isOurs && !isGone) picture.wrote("claim", view);
        // Only what we see can we delete.
        const deletes = isOurs && isGone && picture.claim("a")?.uid === view.uid;
        if (deletes) picture.wroteGone("claim", "a", view.uid);
        if (deletes || (isOurs && !isGone)) ours = 100 + index;
        for (let due = pace[index] ?? 0; due > 0; due--) deliver();
      }
      while (waiting.length > 0) deliver();
      const last = acts.at(-1);
      expect(picture.claim("a")).toEqual(last?.isGone ? undefined : last?.view);
    }),
    { numRuns: 1_000 },
  );
});
