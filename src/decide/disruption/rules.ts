// The rules of planned disruption, in the order in which they are asked.

import type { Rule } from "../decision.ts";
import { candidacy } from "./conditions.ts";
import { disruption } from "./disruption.ts";
import { judgeAgain, moveSearch } from "./search-rules.ts";

export const disruptionRules: readonly Rule[] = [candidacy, disruption, moveSearch, judgeAgain];
