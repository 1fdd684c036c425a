// Why a pod cannot go anywhere, as a tree: for each pool and each group of nodes with the same trouble, which constraint
// removed what. The short form is one sentence for an event.

/** `count` nodes or instance types fell to `what`; branches say how they divide. */
export type Reason = { what: string; count?: number; branches?: readonly Reason[] };

/** As kube-scheduler words it: the total, then the troubles, most frequent first. */
export function shortForm(reason: Reason): string {
  const parts = (reason.branches ?? []).map(branch => shortBranch(branch));
  return parts.length === 0 ? reason.what : `${reason.what}: ${parts.join("; ")}`;
}

function shortBranch({ what, branches = [] }: Reason): string {
  if (branches.length === 0) return what;
  const troubles = branches.map(branch =>
    branch.count === undefined ? branch.what : `${branch.count} ${branch.what}`,
  );
  return `${what} (${troubles.join(", ")})`;
}

export function reasonText(reason: Reason, indent = ""): string {
  const count = reason.count === undefined ? "" : `${reason.count} × `;
  const lines = [`${indent}${count}${reason.what}`];
  for (const branch of reason.branches ?? []) lines.push(reasonText(branch, `${indent}  `));
  return lines.join("\n");
}
