// Planned disruption in worlds by chance: a decision depends on no instant before the one it names, and what is left
// standing after a change is what a look from scratch would say.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { aBudget, aClaim, aCondition, anAction, aNode, aPod, aPool, aWorld, t0 } from "../../../test/builders.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { dayMs, formatTime, hourMs, type Instant, secondMs } from "../../api/time.ts";
import { doNotDisruptKey } from "../../api/well-known.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { Subject } from "../../snapshot/picture.ts";
import type { ClaimView, PodView } from "../../snapshot/views.ts";
import type { Context, Decision } from "../decision.ts";
import { decisionKey } from "../rules.ts";
import { disruptionRules } from "./rules.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const names = ["a", "b", "c"];
const ownRules = disruptionRules.filter(({ kind }) => kind !== "cluster");

const within = fc.integer({ min: 0, max: 3 * hourMs }).map(ms => t0 + Math.floor(ms / secondMs) * secondMs);
const duration = fc.constantFrom("0s", "15s", "10m", "1h", "Never");
const spec: fc.Arbitrary<NodePoolSpec> = fc
  .record({
    consolidateAfter: duration,
    policy: fc.constantFrom("WhenEmpty", "WhenUnderutilized", "Balanced"),
    driftAfter: fc.option(duration, { nil: undefined }),
    expireAfter: duration,
    maxDoNotDisrupt: fc.option(fc.constantFrom("10m", "1h"), { nil: undefined }),
    label: fc.constantFrom("x", "y"),
    replicas: fc.option(fc.constant(2), { nil: undefined, freq: 6 }),
  })
  .map(({ consolidateAfter, policy, driftAfter, expireAfter, maxDoNotDisrupt, label, replicas }) => ({
    template: { metadata: { labels: { label } } },
    disruption: {
      consolidateAfter,
      consolidationPolicy: policy,
      actionControls: {
        ...(driftAfter === undefined ? {} : { Drift: { disruptAfter: driftAfter } }),
        Expiration: { disruptAfter: expireAfter },
      },
      ...(maxDoNotDisrupt === undefined ? {} : { maxDoNotDisrupt }),
    },
    ...(replicas === undefined ? {} : { replicas }),
  }));

const pod: fc.Arbitrary<PodView> = fc
  .record({
    name: fc.constantFrom("p", "q", "r", "s"),
    on: fc.option(fc.constantFrom(...names), { nil: undefined, freq: 4 }),
    startedAt: within,
    phase: fc.constantFrom("Running", "Pending", "Succeeded"),
    doNotDisrupt: fc.option(fc.constantFrom("true", "30m", "2h", "never"), { nil: undefined }),
    ownerKind: fc.constantFrom("ReplicaSet", "StatefulSet", "DaemonSet"),
    deletionAt: fc.option(within, { nil: undefined, freq: 5 }),
    isReady: fc.boolean(),
    app: fc.constantFrom("web", "db"),
  })
  .map(({ name, on, doNotDisrupt, deletionAt, ownerKind, app, ...more }) =>
    aPod(name, {
      ...more,
      ownerKind,
      tier: ownerKind === "DaemonSet" ? "daemon" : "workload",
      labels: { app },
      ...(on === undefined ? { isUnschedulable: true } : { on }),
      ...(doNotDisrupt === undefined ? {} : { doNotDisrupt }),
      ...(deletionAt === undefined ? {} : { deletionAt }),
    }),
  );

const claim: fc.Arbitrary<ClaimView> = fc
  .record({
    name: fc.constantFrom(...names),
    stage: fc.constantFrom("registered", "initialized", "initialized", "initialized"),
    expireAfter: fc.constantFrom("1h", "2h", "Never"),
    grace: fc.option(fc.constant("1h"), { nil: undefined }),
    consolidatable: fc.boolean(),
    driftedSince: fc.option(within, { nil: undefined }),
    lastPodEvent: fc.option(within, { nil: undefined }),
    isStamped: fc.boolean(),
  })
  .map(({ name, stage, expireAfter, grace, consolidatable, driftedSince, lastPodEvent, isStamped }) => {
    const made = aClaim(name, {
      pool: "web",
      stage,
      spec: { expireAfter, ...(grace === undefined ? {} : { terminationGracePeriod: grace }) },
      annotations: isStamped
        ? { "karpenter.sh/nodepool-hash": "1234abcd", "karpenter.sh/nodepool-hash-version": "fettle-v1" }
        : {},
      ...(lastPodEvent === undefined ? {} : { status: { lastPodEventTime: formatTime(lastPodEvent) } }),
    });
    const more = [
      ...(consolidatable ? [aCondition("Consolidatable", "True")] : []),
      ...(driftedSince === undefined ? [] : [aCondition("Drifted", "True", { since: driftedSince, reason: "X" })]),
    ];
    return { ...made, conditions: [...made.conditions, ...more] };
  });

type Change = (picture: ClusterPicture) => void;

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: pod.map(
      (view): Change =>
        picture =>
          picture.put("pod", view),
    ),
  },
  pod.map(
    (view): Change =>
      picture => {
        const known = picture.pod(view.namespace, view.name);
        if (known !== undefined) picture.remove("pod", known);
      },
  ),
  {
    weight: 3,
    arbitrary: claim.map(
      (view): Change =>
        picture =>
          picture.put("claim", view),
    ),
  },
  spec.map(
    (value): Change =>
      picture =>
        picture.put("pool", aPool("web", { spec: value })),
  ),
  fc.constantFrom("web", "other").map(
    (name): Change =>
      picture =>
        picture.remove("pool", aPool(name)),
  ),
  fc.record({ name: fc.constantFrom(...names), doNotDisrupt: fc.boolean() }).map(
    ({ name, doNotDisrupt }): Change =>
      picture =>
        picture.put("node", aNode(name, { annotations: doNotDisrupt ? { [doNotDisruptKey]: "true" } : {} })),
  ),
  fc.record({ app: fc.constantFrom("web", "db"), disruptionsAllowed: fc.nat(2), isObserved: fc.boolean() }).map(
    ({ app, ...more }): Change =>
      picture =>
        picture.put("disruption-budget", aBudget(app, more)),
  ),
  fc
    .record({
      node: fc.constantFrom(...names),
      phase: fc.constantFrom("Pending", "Running", "Done"),
      other: fc.constantFrom(...names),
    })
    .map(
      ({ node, phase, other }): Change =>
        picture =>
          picture.put(
            "action",
            anAction(`x-${node}`, { node, phase: phase as "Pending", spec: { replacements: [{ name: other }] } }),
          ),
    ),
  fc.constantFrom(...names).map(
    (name): Change =>
      picture => {
        const placements = new Map(
          picture.unplacedPods().map(({ uid }) => [uid, { on: "node", name, at: t0 } as const]),
        );
        picture.settleSearch({ at: t0, claims: [], placements });
      },
  ),
  fc.constant<Change>(picture => picture.providerChanged()),
);

function decideAll(picture: ClusterPicture, now: Instant): Map<string, Decision> {
  const decisions = new Map<string, Decision>();
  for (const rule of ownRules) {
    for (const subject of picture.subjects(rule.kind)) ask(decisions, subject, contextAt(picture, now));
  }
  return decisions;
}

function ask(decisions: Map<string, Decision>, subject: Subject, context: Context): void {
  const kind = subject.slice(0, subject.indexOf("/"));
  for (const rule of ownRules) {
    if (rule.kind === kind)
      decisions.set(decisionKey(rule.name, subject), rule.decide(subject.slice(kind.length + 1), context));
  }
}

function contextAt(picture: ClusterPicture, now: Instant): Context {
  return { picture, now, settings, epoch: 1 };
}

const world = fc
  .record({ spec, claims: fc.array(claim, { maxLength: 4 }), pods: fc.array(pod, { maxLength: 6 }), now: within })
  .map(({ spec: value, claims, pods, now }) => {
    let clock = now;
    const nodes = names.map(name => aNode(name));
    const picture = aWorld({ pools: [aPool("web", { spec: value })], claims, pods, nodes, now: () => clock });
    return {
      picture,
      now,
      advance: (to: Instant) => {
        clock = to;
      },
    };
  });

test("what is decided holds unchanged until the instant that it names", () => {
  fc.assert(
    fc.property(world, fc.double({ min: 0, max: 1, noNaN: true }), ({ picture, now }, share) => {
      for (const [key, decision] of decideAll(picture, now)) {
        const end = decision.wakeAt === undefined ? now + 400 * dayMs : decision.wakeAt - 1;
        expect(end).toBeGreaterThanOrEqual(now);
        for (const later of [now + Math.floor((end - now) * share), end]) {
          expect(decideAll(picture, later).get(key)).toEqual(decision);
        }
      }
    }),
  );
});

test("what stands after a change equals what is decided from scratch", () => {
  fc.assert(
    fc.property(
      world,
      fc.array(fc.tuple(change, fc.integer({ min: 0, max: 20 * 60 * secondMs })), { maxLength: 12 }),
      ({ picture, now: start, advance }, steps) => {
        let now = start;
        const standing = decideAll(picture, now);
        for (const [apply, pause] of steps) {
          now += pause;
          advance(now);
          apply(picture);
          for (const subject of picture.takeDirty())
            if (subject !== "cluster") ask(standing, subject, contextAt(picture, now));
          for (const [key, { wakeAt }] of standing) {
            const subject = key.slice(key.indexOf(" ") + 1) as Subject;
            if (wakeAt !== undefined && wakeAt <= now) ask(standing, subject, contextAt(picture, now));
          }
          for (const [key, decision] of decideAll(ClusterPicture.rebuilt(picture), now)) {
            expect({ key, decision: standing.get(key) }).toEqual({ key, decision });
          }
        }
      },
    ),
  );
});

test("no node is asked for by the same action twice, and none that is going", () => {
  fc.assert(
    fc.property(world, ({ picture, now }) => {
      for (const decision of decideAll(picture, now).values()) {
        const asked = decision.proposals.map(({ action }) => action);
        expect(new Set(asked).size).toBe(asked.length);
        const held = decision.refusals.filter(({ code }) => code !== "budget-closed");
        expect(held.length).toBeLessThanOrEqual(asked.length > 0 ? 0 : 1);
        for (const { node, dueAt } of decision.proposals) {
          expect(dueAt).toBeLessThanOrEqual(now);
          expect(picture.openActionOn(node.uid)).toBe(undefined);
        }
      }
    }),
  );
});
