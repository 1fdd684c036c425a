// Defaults that a CRD cannot carry: the server fills in defaults before it validates, so a field with another name, a
// second place or an exclusive partner would be set twice. They are supplied by effective-*.ts and shown in docs/api.

export const nodePoolDefaults = {
  "spec.template.spec.expireAfter": "720h",
  "spec.template.spec.readinessTTL": "15m",
  "spec.disruption.consolidationPolicy": "WhenUnderutilized",
  "spec.disruption.consolidateAfter": "15s",
  "spec.disruption.budgets[].action": "All",
  "spec.disruption.budgets[].nodes": "10%",
  "spec.disruption.budgets[].timeZone": "UTC",
  "spec.disruption.budgetPrecedence": "MostRestrictive",
  "spec.disruption.minSavings": "0%",
  "spec.weight": 0,
  "spec.podPlacement": "Scheduler",
  "spec.dryRun": false,
} as const;

export const nodeHealthCheckDefaults = {
  "spec.maxUnhealthy": "49%",
  "spec.healthyDelay": "0s",
  "spec.stormCooldownDuration": "0s",
  "spec.dryRun": false,
} as const;

export const effectiveDefaults: Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>> = {
  NodePool: {
    ...nodePoolDefaults,
    "spec.disruption.actionControls.All.budgets[].nodes": nodePoolDefaults["spec.disruption.budgets[].nodes"],
    "spec.disruption.actionControls.All.budgets[].timeZone": nodePoolDefaults["spec.disruption.budgets[].timeZone"],
  },
  NodeHealthCheck: nodeHealthCheckDefaults,
};
