// docs/metrics.md: every metric, what it means and by what it is told apart. Made from the metrics themselves.

import { type Described, described } from "./metrics.ts";

const head = `# Metrics

<!-- Written by npm run generate from src/web; change it there. -->

\`fettle run\` serves them in Prometheus' text at \`/metrics\` of \`--metrics-bind-address\` (by default port 8080), beside
\`/healthz\` and \`/readyz\`. Each replica tells what it sees and does itself: \`fettle_leader\` says which one leads, and only
that one counts what is done to nodes. A counter begins anew with its process.

Names under \`karpenter_\` are Karpenter's (v1) and mean what they mean there, so that boards and alerts made for it go on
working; those under \`nodehealthcheck_\` are medik8s', by the remediation's kind and not by the node's name. Ours are under
\`fettle_\`. A scrape reads what is kept anyway and pauses again and again: at 5,000 nodes it holds no decision up for more
than a few milliseconds at a time.
`;

const absent = `
## What is not there

Of Karpenter's: \`karpenter_pods_state\` and the other series of single pods (150,000 series help nobody; \`fettle_pods\`
counts them by phase), \`karpenter_nodes_total_pod_requests\` and its like, the scheduler's,
costs, and \`operator_*\` of conditions (\`fettle_nodeclaims_reached_seconds\`
has the three that matter).
`;

export function metricsPage(): string {
  const all = described();
  const table = (prefix: string) => all.filter(({ name }) => name.startsWith(prefix)).map(row);
  const heading = "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  return [
    head,
    "\n## Karpenter's\n\n",
    heading,
    ...table("karpenter_"),
    "\n## medik8s'\n\n",
    heading,
    ...table("nodehealthcheck_"),
    "\n## Ours\n\n",
    heading,
    ...table("fettle_"),
    absent,
  ].join("");
}

function row({ name, type, labels, help }: Described): string {
  return `| \`${name}\` | ${type} | ${labels.map(label => `\`${label}\``).join(", ")} | ${help} |\n`;
}
