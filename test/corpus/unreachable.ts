// Bounds that no manifest can overstep, or meet exactly, each with its reason. Whatever is not listed must be covered.

export type Unreachable = { bound: RegExp; why: string };

export const neverOverstepped: readonly Unreachable[] = [
  {
    bound: /^(NodePool|SafetyPolicy) metadata\.name type$/,
    why: "a server reads metadata before it looks at a schema",
  },
  {
    bound: /^(SafetyPolicy|SimulatedNodeClass|ReplaceRemediation|RebootRemediation) spec required$/,
    why: "a default takes the place of a spec that is left out",
  },
];

export const neverMet: readonly Unreachable[] = [
  { bound: /\.(schedule|crontab) minLength$/, why: "one character is no schedule by the pattern" },
  { bound: /nodeClassRef\.apiVersion minLength$/, why: "the pattern wants a group, a slash and a version" },
  { bound: /remediationTemplate\.kind minLength$/, why: "a rule wants the kind to end in Template" },
  { bound: /budgets\[\]\.reasons maxItems$/, why: "there are four reasons and none may stand twice" },
  { bound: /^SafetyPolicy metadata\.name maxLength$/, why: "a rule wants the name to be default" },
];
