import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, at, aWorld } from "../../test/builders.ts";
import { settings } from "../../test/termination-world.ts";
import type { Evidence } from "../api/node-action.ts";
import { formatTime } from "../api/time.ts";
import { launchRecordKey } from "../api/well-known.ts";
import type { ActionView } from "../snapshot/views.ts";
import type { Proposal } from "./decision.ts";
import { successorsVeto } from "./successors.ts";

const now = at("2h");
const seen = (kind: Evidence["kind"]): Evidence => ({ kind, seenAt: formatTime(at("1h")) });

const time = formatTime(at("1h"));
const gone: ActionView["status"] = { phase: "Done", startedAt: time, finishedAt: time };
const going: ActionView["status"] = { phase: "Running", startedAt: time };
const written: ActionView["status"] = { phase: "Pending" };
const givenUp: ActionView["status"] = { phase: "Abandoned", finishedAt: time };

const repairOf = (node: string, more: Partial<ActionView["spec"]> = {}, status = gone) => ({
  ...anAction(`repair-${node}`, {
    node,
    spec: { action: "Repair", method: "Terminate", nodePool: "web", evidence: [seen("Condition")], ...more },
  }),
  status,
});

const proposal = (more: Partial<Proposal> = {}): Proposal => ({
  node: { name: "a", uid: "a-uid" },
  claim: { name: "a", uid: "a-claim-uid" },
  action: "Repair",
  method: "Terminate",
  askedBy: { kind: "NodePool", name: "web" },
  message: "",
  evidence: [seen("Condition")],
  dueAt: now,
  ...more,
});

/** How launches ended, each as `1h bad`; `after`: what another template came to. */
function held(results: readonly string[], actions: readonly ActionView[], asked = proposal(), after = "-") {
  const record = results.map(result => {
    const [when = "", word] = result.split(" ");
    return `${formatTime(at(when))} ${word} u-${when}`;
  });
  const annotations = { [launchRecordKey]: ["of", after, ...record].join("; ") };
  const world = { pools: [aPool("web", { annotations })], claims: [aClaim("a", { pool: "web" })], nodes: [aNode("a")] };
  const picture = aWorld({ ...world, actions });
  return successorsVeto(picture)(asked, { picture, now, settings, epoch: 1 })?.code;
}

const failing = "successors-failing";

describe("the next repair of a pool", () => {
  test.each<[string, readonly string[], readonly ActionView[], string | undefined]>([
    ["waits after a launch that failed since a node went", ["61m bad"], [repairOf("b")], failing],
    ["goes while the latest launch was good", ["61m bad", "62m good"], [repairOf("b")], undefined],
    ["goes where nothing is known of a launch", [], [repairOf("b")], undefined],
    ["goes where nobody went by repair", ["61m bad"], [], undefined],
    [
      "goes where the last to go went a second before the last good launch",
      ["3601s good", "61m bad"],
      [repairOf("b")],
      undefined,
    ],
    ["waits where it went in the second of that launch", ["60m good", "61m bad"], [repairOf("b")], failing],
    ["waits while the one before is still going", ["61m good", "62m bad"], [repairOf("b", {}, going)], failing],
    ["goes where the one before is only written down", ["61m bad"], [repairOf("b", {}, written)], undefined],
    ["goes where the one before was given up at its start", ["61m bad"], [repairOf("b", {}, givenUp)], undefined],
    ["goes after a reboot, which takes no node", ["61m bad"], [repairOf("b", { method: "Reboot" })], undefined],
    ["goes whatever another pool lost", ["61m bad"], [repairOf("b", { nodePool: "other" })], undefined],
    [
      "goes where what went was never Ready: that was no node to follow",
      ["61m bad"],
      [repairOf("b", { evidence: [seen("NeverReady")] })],
      undefined,
    ],
    ["does not wait for its own action", ["61m bad"], [repairOf("a", {}, going)], undefined],
  ])("%s", (_, results, actions, code) => {
    expect(held(results, actions)).toBe(code);
  });

  test.each<[string, Partial<Proposal>]>([
    ["of one that was never Ready", { evidence: [seen("NeverReady")] }],
    ["by a reboot", { method: "Reboot" }],
    ["of no pool", { claim: { name: "none", uid: "none" } }],
  ])("goes on if it is %s", (_, more) => {
    expect(held(["61m bad"], [repairOf("b")], proposal(more))).toBeUndefined();
  });

  test("counts from the change of the template", () => {
    const changed = (when: string) => `${formatTime(at(when))} bad u0`;
    expect(held(["62m bad"], [repairOf("b")], proposal(), changed("60m"))).toBe(failing);
    expect(held(["62m bad"], [repairOf("b")], proposal(), changed("3601s"))).toBeUndefined();
    expect(held([], [repairOf("b")], proposal(), changed("60m"))).toBeUndefined();
  });

  test("names the pool, the launch and what went", () => {
    const annotations = { [launchRecordKey]: `of; -; ${formatTime(at("61m"))} bad u1` };
    const world = {
      pools: [aPool("web", { annotations })],
      claims: [aClaim("a", { pool: "web" })],
      actions: [repairOf("b")],
    };
    const picture = aWorld(world);
    expect(successorsVeto(picture)(proposal(), { picture, now, settings, epoch: 1 })?.message).toBe(
      "The latest launch of NodePool web brought no node that was Ready (2026-01-01T01:01:00Z), and since its last good one it lost node b to repair (NodeAction repair-b).",
    );
  });
});
