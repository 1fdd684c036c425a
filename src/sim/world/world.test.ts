import { expect, test } from "vitest";
import { type BoxOptions, LivingBox, startedAt } from "../../../test/living-box.ts";
import { isReady } from "./conditions.ts";
import type { Node, Pod } from "./objects.ts";
import { canonical } from "./pod-template.ts";
import {
  daemonSetResource,
  deploymentResource,
  jobResource,
  nodeResource,
  podResource,
  statefulSetResource,
} from "./resources.ts";

const container = { name: "main", image: "none", resources: { requests: { cpu: "250m", memory: "128Mi" } } };
const workload = (app: string, spec: object = {}) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: { containers: [container] } },
  ...spec,
});

/** Some of everything, a node that dies and comes back, one that a person makes sick, one whose machine goes. */
async function story(options: BoxOptions): Promise<LivingBox> {
  const box = new LivingBox(options);
  for (const name of ["a", "b", "c", "d"]) box.join(name, { readyAfterMs: 7000 });
  await box.run(20);
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: workload("web", { replicas: 6 }) });
  await box.create(daemonSetResource, { metadata: { name: "agent" }, spec: workload("agent") });
  await box.create(statefulSetResource, { metadata: { name: "db" }, spec: workload("db", { replicas: 2 }) });
  const template = { metadata: { labels: { app: "job" } }, spec: { restartPolicy: "Never", containers: [container] } };
  await box.create(jobResource, { metadata: { name: "job" }, spec: { completions: 3, parallelism: 2, template } });
  await box.run(33);
  box.world.kubelets.halt("a");
  await box.run(400);
  box.world.kubelets.resume("a");
  await box.patch(nodeResource, "b", { metadata: { annotations: { "fettle.dev/simulate": "Ready=False" } } });
  await box.run(200);
  await box.patch(nodeResource, "b", { metadata: { annotations: { "fettle.dev/simulate": null } } });
  box.world.kubelets.leave("c");
  await box.delete(nodeResource, "c");
  await box.run(400);
  return box;
}

test("the same seed gives the same journal, byte for byte", async () => {
  const [one, two, other] = [await story({ seed: 7 }), await story({ seed: 7 }), await story({ seed: 8 })];
  expect(one.failures).toEqual([]);
  expect(one.journal.length).toBeGreaterThan(150);
  expect(one.journal.join("\n")).toBe(two.journal.join("\n"));
  expect(one.journal.join("\n")).not.toBe(other.journal.join("\n"));
});

test.each([
  ["where nobody reads Events: made, refused, bound, running", false, ["pods", "pods", "pods", "pods"]],
  ["beside that an Event where somebody may", true, ["pods", "pods", "events", "pods", "pods"]],
])("a pod that waits for its node is written, %s", async (_, recordsEvents, expected) => {
  const box = new LivingBox({ recordsEvents });
  await box.create(podResource, { metadata: { name: "web" }, spec: { containers: [container] } });
  await box.run(5);
  box.join("a");
  await box.run(20);
  expect(isReady(await box.get<Pod>(podResource, "web"))).toBe(true);
  const written = box.journal.map(line => line.split(" ")[2]).filter(name => name === "pods" || name === "events");
  expect(written).toEqual(expected);
});

test("beats that are only computed change nothing else: the journal is that of kubelets that write them", async () => {
  const [computed, written] = [await story({ seed: 3, beats: "computed" }), await story({ seed: 3, beats: "written" })];
  expect(written.journal.length).toBeGreaterThan(computed.journal.length + 300);
  expect(withoutBeats(computed.journal)).toEqual(withoutBeats(written.journal));
});

/** Leases are the beats themselves; every write counts the version up, and heartbeats say when they were. */
function withoutBeats(journal: readonly string[]): string[] {
  const lastByObject = new Map<string, string>();
  return journal.flatMap(line => {
    const [at = "", type = "", kind = "", key = "", ...json] = line.split(" ");
    const object = canonical(JSON.parse(json.join(" "))).replaceAll(ownOfARun, "");
    const before = lastByObject.get(`${kind} ${key}`);
    lastByObject.set(`${kind} ${key}`, object);
    // A heartbeat is a status without news.
    const isBeat = kind.startsWith("leases") || (type === "MODIFIED" && before === object);
    return isBeat ? [] : [`${at} ${type} ${kind} ${key} ${object}`];
  });
}

const ownOfARun = /"(resourceVersion|lastHeartbeatTime|uid)":"[^"]*",?/g;

test("after everything has healed, all that was asked for runs on the nodes that are left", async () => {
  const box = await story({ seed: 1 });
  const pods = await box.list<Pod>(podResource);
  const running = pods.filter(pod => pod.status.phase === "Running" && isReady(pod));
  const countByApp = new Map<string | undefined, number>();
  for (const { metadata } of running)
    countByApp.set(metadata.labels?.app, (countByApp.get(metadata.labels?.app) ?? 0) + 1);
  expect(Object.fromEntries(countByApp)).toEqual({ web: 6, agent: 3, db: 2 });
  const nodes = await box.list<Node>(nodeResource);
  expect(nodes.map(node => [node.metadata.name, isReady(node), node.spec.taints ?? []])).toEqual([
    ["a", true, []],
    ["b", true, []],
    ["d", true, []],
  ]);
  expect(box.failures).toEqual([]);
});

test("a day in which nothing happens writes nothing and asks for few timers", async () => {
  const box = new LivingBox();
  for (let i = 0; i < 50; i++) box.join(`node-${i}`);
  await box.run(10);
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: workload("web", { replicas: 200 }) });
  await box.run(60);
  expect((await box.list<Pod>(podResource)).filter(isReady)).toHaveLength(200);
  const writes = box.journal.length;
  let timers = 0;
  const after = box.clock.after.bind(box.clock);
  box.clock.after = (delayMs, run) => {
    timers++;
    return after(delayMs, run);
  };
  await box.run(24 * 3600);
  expect(box.journal.length - writes).toBe(0);
  // A bookmark a minute for each of nine kinds, and a watch opened anew now and then; nothing by node or pod.
  expect(timers / (24 * 60)).toBeLessThan(25);
});

test("what is stopped stays stopped", async () => {
  const box = new LivingBox();
  box.join("a");
  await box.run(10);
  box.world.stop();
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: workload("web") });
  const writes = box.journal.length;
  await box.run(3600);
  expect(box.journal.slice(writes)).toEqual([]);
  expect(box.clock.now()).toBeGreaterThan(startedAt + 3600_000);
});
