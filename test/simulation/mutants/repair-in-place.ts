// A rule in the place of repair, small enough to see what joins what: a node with KernelDeadlock=True goes, and what is on
// it goes by force ten minutes later.

import { formatTime, minuteMs } from "../../../src/api/time.ts";
import { nothing, type Rule } from "../../../src/decide/decision.ts";
import type { Change } from "./change.ts";

const repair: Rule = {
  name: "repair-in-place",
  controller: "ledger",
  kind: "node",
  decide(name, { picture }) {
    const node = picture.node(name);
    const sick = node?.conditions.find(({ type, status }) => type === "KernelDeadlock" && status === "True");
    const claim = node && picture.claimOf(node);
    if (node === undefined || claim === undefined || sick?.since === undefined) return nothing;
    const { since } = sick;
    const evidence = [
      {
        kind: "Condition",
        conditionType: sick.type,
        conditionStatus: sick.status,
        since: formatTime(since),
        message: "The kernel hangs.",
      },
    ] as const;
    return {
      ...nothing,
      proposals: [
        {
          node: { name, uid: node.uid },
          claim: { name: claim.name, uid: claim.uid },
          action: "Repair",
          method: "Terminate",
          askedBy: { kind: "Controller", name: "repair-in-place" },
          message: `Node ${name} is sick since ${formatTime(since)}.`,
          evidence,
          dueAt: since,
          deadline: since + 10 * minuteMs,
        },
      ],
    };
  },
};

export const repairInPlace: Change = options => ({ ...options, rules: [...options.rules, repair] });
