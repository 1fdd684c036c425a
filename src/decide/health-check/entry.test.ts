import { expect, test } from "vitest";
import { aClaim, aSafetyPolicy, at } from "../../../test/builders.ts";
import {
  aCheck,
  aCheckContext,
  aLease,
  aRemediation,
  aTemplate,
  type CheckWorld,
  decideOn as decide,
  remediating,
  running,
  someNodes,
  templateRef,
  web,
} from "../../../test/check-builders.ts";
import { formatTime } from "../../api/time.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import { ledgerRule } from "../actions.ts";

test.each<[string, string, string, CheckWorld]>([
  ["a pause", "paused", "Paused", { checks: [aCheck("web", { spec: { pauseRequests: ["stop"] } })] }],
  ["a closed gate", "too-many-unhealthy", "TooManyUnhealthy", { nodes: someNodes(3, 3) }],
  ["a freeze", "frozen", "Frozen", { safety: aSafetyPolicy({ freeze: { scope: "Everything", reason: "night" } }) }],
  ["a cap of none", "cap-closed", "CapClosed", { safety: aSafetyPolicy({ caps: { repair: { cluster: 0 } } }) }],
])(
  "a remediation that is written down is held by %s, by its own name, and the entry says so",
  (_what, code, reason, world) => {
    const found = decide({ actions: [remediating(web)], leases: [aLease("n0")], ...world });
    expect(found.refusals.map(one => one.code)).toEqual([code]);
    expect(found.commands).toMatchObject([{ kind: "update-action", progress: { waitingFor: { reason } } }]);
  },
);

test("a remediation is told once it has been made, and not again once the entry knows of it", () => {
  const reasons = (world: CheckWorld) => decide({ leases: [aLease("n0")], ...world }).notices.map(one => one.reason);
  expect(reasons({ actions: [remediating(web)] })).toEqual([]);
  const entry = { ...remediating(web), createdAt: at("59m") };
  const createdAt = entry.createdAt;
  const of = (more: Partial<RemediationView>) => [{ ...aRemediation({ of: web, on: "n0" }), ...more }];
  expect(reasons({ actions: [entry], remediations: of({ createdAt }) })).toEqual(["RemediationCreated"]);
  expect(reasons({ actions: [entry], remediations: of({ createdAt: createdAt - 1 }) })).toEqual([]);
  const steps = [{ name: "remediation-1", startedAt: formatTime(createdAt) }];
  const knowing = { ...entry, status: { ...entry.status, steps } };
  expect(reasons({ actions: [knowing], remediations: of({ createdAt }) })).toEqual([]);
});

test("a remediation of the template that a step has by now is told too, not that it had before", () => {
  const [startedAt, finishedAt] = [formatTime(at("40m")), formatTime(at("50m"))];
  const steps = [{ name: "remediation-1", startedAt, finishedAt }];
  const entry = remediating(web, { phase: "Running", createdAt: at("39m"), status: { startedAt, steps } });
  const reasons = (...remediations: readonly RemediationView[]) =>
    decide({ actions: [entry], leases: [aLease("n0")], remediations }).notices.map(one => one.reason);
  const before = { templateName: "before", timedOut: finishedAt, uid: "before", name: "n0-before" };
  const swapped = aRemediation({ of: web, on: "n0", createdAt: at("40m"), ...before });
  expect(reasons(swapped, aRemediation({ of: web, on: "n0", createdAt: at("51m") }))).toEqual(["RemediationCreated"]);
  // The same one, which has taken back its word that it has succeeded.
  expect(reasons(aRemediation({ of: web, on: "n0", createdAt: at("40m") }))).toEqual([]);
});

test.each<[string, CheckWorld, string]>([
  ["is there: it goes on", { remediations: [aRemediation({ of: web, on: "n0" })] }, "Adopted"],
  ["may be there: it goes on", { kinds: { FenceRemediation: { state: "Listing" } } }, "Adopted"],
  ["was never made: it is given up", {}, "Not begun"],
])("an older leader's entry that says nothing of a start, on a node that is well, whose object %s", (_, more, why) => {
  const entry = remediating(web);
  const seen = { checks: [web], nodes: someNodes(3, 0), claims: [aClaim("n0")], actions: [entry] };
  const context = aCheckContext({ ...seen, epoch: 2, ...more });
  const [command] = ledgerRule.decide(entry.name, context).commands;
  expect(command?.why).toMatch(new RegExp(`^${why}`));
});

test("an entry whose node goes with its claim is written by its termination alone, and no further step begins", () => {
  const nodes = someNodes(3, 1);
  const timedOut = formatTime(at("20m"));
  const remediations = [aRemediation({ of: web, on: "n0", timedOut })];
  const steps = ["Fence", "Wipe"].map((kind, order) => ({
    remediationTemplate: templateRef(kind.toLowerCase(), `${kind}RemediationTemplate`),
    order,
    timeout: "5m",
  }));
  const check = aCheck("web", { spec: { escalatingRemediations: steps } });
  const templates = [aTemplate(), aTemplate("wipe", { kind: "WipeRemediationTemplate" })];
  const world = (deleting: Parameters<typeof aClaim>[1]): CheckWorld => ({
    checks: [check],
    nodes,
    claims: nodes.map(({ name }) => aClaim(name, name === "n0" ? deleting : {})),
    remediations,
    templates,
    actions: [running(check)],
    leases: [aLease("n0")],
  });
  expect(decide(world({})).commands.map(({ kind }) => kind)).toContain("create-remediation");
  const found = decide(world({ deletingSince: at("59m") }));
  expect(found.commands).toEqual([]);
  expect(found.refusals.map(({ code }) => code)).toEqual(["node-going"]);
});
