// The whole corpus: every table, in the order of the documentation.

import type { Table } from "./entry.ts";
import { files } from "./files.ts";
import { metadata } from "./metadata.ts";
import { nodeAction } from "./node-action.ts";
import { nodeClaim } from "./node-claim.ts";
import { nodeHealthCheck } from "./node-health-check.ts";
import { nodePool } from "./node-pool.ts";
import { nodePoolBudgets } from "./node-pool-budgets.ts";
import { refusedOffline } from "./offline.ts";
import { remediation } from "./remediation.ts";
import { safetyPolicy } from "./safety-policy.ts";
import { simulatedNodeClass } from "./simulated-node-class.ts";
import { strict } from "./strict.ts";
import { yaml } from "./yaml.ts";

export const corpus: readonly Table[] = [
  ...files,
  ...nodePool,
  ...nodePoolBudgets,
  ...nodeClaim,
  ...nodeHealthCheck,
  ...nodeAction,
  ...safetyPolicy,
  ...simulatedNodeClass,
  ...remediation,
  ...metadata,
  ...strict,
  ...yaml,
  refusedOffline,
];
