// The rules of health checks, as the table of all rules names them.

import type { Rule } from "../decision.ts";
import { decideOwnRemediations } from "../remediators/remediators.ts";
import { decideCheck } from "./check.ts";
import { decideDefaultCheck } from "./default-check.ts";
import { decideCheckedNode } from "./node.ts";

const controller = "health-checks";

export const healthCheckRules: readonly Rule[] = [
  { name: "checked-node", controller, kind: "node", decide: decideCheckedNode },
  // Apart: they serve whoever makes such an object, medik8s' own controller too.
  { name: "remediators", controller: "remediators", kind: "node", decide: decideOwnRemediations },
  { name: "check", controller, kind: "check", decide: decideCheck },
  {
    name: "default-check",
    controller,
    kind: "cluster",
    decide: (_name, context) => decideDefaultCheck(context, context.settings.defaultCheck?.isWanted ?? false),
  },
];
