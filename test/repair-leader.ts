// A leader of the wired rules, on a picture that a test writes: what it sends, what it refuses, and that what stands is
// what a look from scratch says.

import type { NodePoolSpec } from "../src/api/node-pool.ts";
import { type Instant, minuteMs } from "../src/api/time.ts";
import { Turns } from "../src/control/turn.ts";
import type { Command, Refusal } from "../src/decide/decision.ts";
import { rules } from "../src/decide/rules.ts";
import type { ClusterPicture } from "../src/snapshot/cluster-picture.ts";
import type { Subject } from "../src/snapshot/picture.ts";
import type { NodeView } from "../src/snapshot/views.ts";
import { aClaim, aPool, aProvider, aWorld, type WorldOptions } from "./builders.ts";
import { settings } from "./termination-world.ts";

const bad = (conditionType: string, conditionStatus: string) => ({
  conditionType,
  conditionStatus,
  toleration: 30 * minuteMs,
});
const provider = aProvider({
  repairStatements: [bad("Ready", "False"), bad("Ready", "Unknown"), bad("NetworkUnavailable", "True")],
});

/** Leads from `at` on, and has seen the nodes then. */
export class Leader {
  readonly picture: ClusterPicture;
  readonly turns: Turns;
  readonly refused: Refusal[] = [];

  constructor(world: WorldOptions, from: Instant) {
    this.picture = aWorld({ provider, ...world });
    this.turns = new Turns(this.picture, rules, {
      refused: refusal => this.refused.push(refusal),
      lifted: () => {},
      asked: () => {},
      compared: () => {},
    });
    for (const after of this.picture.nodes()) this.turns.observe({ after }, from);
    this.turns.askAll(from);
  }

  show(after: NodeView, now: Instant): void {
    const before = this.picture.node(after.name);
    this.picture.put("node", after);
    this.turns.observe({ ...(before ? { before } : {}), after }, now);
  }

  /** What is sent. */
  decide(now: Instant): readonly Command[] {
    const standing = this.turns.decide({ picture: this.picture, now, settings, epoch: 1 });
    return standing.flatMap(({ decision }) => decision.commands);
  }

  /** The same, and what stands is what a look from scratch says. */
  turn(now: Instant): readonly Command[] {
    const sent = this.decide(now);
    const [difference] = this.turns.verify({ picture: this.picture, now, settings, epoch: 1 });
    if (difference !== undefined) throw new Error(difference);
    return sent;
  }

  repairs(now: Instant): readonly string[] {
    return repairsIn(this.turn(now));
  }

  codes(name: string): readonly string[] {
    return this.codesOf(`node/${name}`);
  }

  codesOf(subject: Subject): readonly string[] {
    return this.turns.standing.refusals(subject).map(({ code }) => code);
  }
}

export function repairsIn(commands: readonly Command[]): readonly string[] {
  return commands.flatMap(command =>
    command.kind === "open-action" && command.spec.action === "Repair" ? [command.spec.node.name] : [],
  );
}

export function pool(
  names: readonly string[],
  nodeOf: (name: string) => NodeView,
  spec: NodePoolSpec = {},
): WorldOptions {
  // Nothing runs on them: they would be taken away as empty, too.
  const disruption = { consolidateAfter: "Never", ...spec.disruption };
  return {
    pools: [aPool("web", { spec: { ...spec, disruption } })],
    claims: names.map(name => aClaim(name, { pool: "web" })),
    nodes: names.map(nodeOf),
  };
}
