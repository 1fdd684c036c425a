import { expect, test } from "vitest";
import { aNode, anAction, aSafetyPolicy, aWorld } from "../../test/builders.ts";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { Command } from "../decide/decision.ts";
import { zeroCounts } from "./counts.ts";
import { Dispatch } from "./dispatch.ts";
import { runningMax } from "./lanes.ts";
import type { InstanceProvider, KubeApi } from "./ports.ts";

/** All room is taken by questions that a provider does not answer yet; then a start comes into line. */
function crowded() {
  const spec = { action: "Repair", askedBy: { kind: "NodePool", name: "pool" } } as const;
  const node = aNode("n");
  const picture = aWorld({ nodes: [node], actions: [anAction("repair-n", { node, phase: "Pending", spec })] });
  const answers: (() => void)[] = [];
  const asked: string[] = [];
  const provider = { get: () => new Promise(resolve => answers.push(() => resolve("gone"))) };
  const api = new Proxy({}, { get: (_, verb) => () => (asked.push(String(verb)), Promise.reject(new Error("no"))) });
  const dispatch = new Dispatch({
    api: api as KubeApi,
    provider: provider as unknown as InstanceProvider,
    clock: new ManualClock(),
    picture,
    settings: { cluster: "test", foreignClaims: "ignore", dryRun: false },
    leadership: { epoch: 1, onChange: () => {} },
    counts: zeroCounts(),
    journal: () => {},
    random: () => 0.5,
    remembering: context => context,
    changed: () => {},
  });
  const offer = (command: Command) => dispatch.lanes.offer({ command, rule: "rule", subject: "cluster", epoch: 1 });
  for (let index = 0; index < runningMax; index++) offer({ kind: "look-up-instance", providerID: `${index}`, why: "" });
  const { name, uid } = picture.action("repair-n") ?? { name: "", uid: "" };
  expect(offer({ kind: "start-action", action: { name, uid }, why: "" })).toBe(true);
  const makeRoom = async () => {
    answers[0]?.();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { picture, asked, makeRoom };
}

test("a start that has waited in line begins when there is room, with a look at its node and lease", async () => {
  const { asked, makeRoom } = crowded();
  await makeRoom();
  expect(asked).toEqual(["get", "get"]);
});

test("a start that has waited in line does not begin under a freeze that came meanwhile", async () => {
  const { asked, makeRoom, picture } = crowded();
  picture.put("safety-policy", aSafetyPolicy({ freeze: { reason: "somebody is nervous", scope: "Everything" } }));
  await makeRoom();
  expect(asked).toEqual([]);
});
