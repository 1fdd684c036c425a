// Where kubectl may say something else in the box than on a real server, each with its reason: what the box refuses,
// and what must still be equal where it answers.

import type { Outcome } from "./run.ts";

export type AcceptedDifference = {
  /** The command line of the step, as far as it identifies it. */
  step: RegExp;
  reason: string;
} & (
  | { same(outcome: Outcome): Outcome }
  /** What the box says instead: on either stream, with exit code 1. */
  | { refusedWith: RegExp }
);

const without =
  (pattern: RegExp) =>
  (outcome: Outcome): Outcome => ({
    ...outcome,
    stdout: outcome.stdout.replaceAll(pattern, ""),
    stderr: outcome.stderr.replaceAll(pattern, ""),
  });

export const acceptedDifferences: readonly AcceptedDifference[] = [
  {
    step: /^kubectl apply --server-side/,
    reason: "The box has no server-side apply; kubectl says so.",
    refusedWith: /Server-side apply not available on the server: .* use kubectl apply without --server-side/,
  },
  {
    step: /^kubectl (logs|exec)/,
    reason: "The box runs no containers.",
    refusedWith: /the cluster in the box runs no containers: pods\/(log|exec) is not served/,
  },
  {
    step: /^kubectl create token/,
    reason: "The box has one token and no users.",
    refusedWith: /the cluster in the box knows one token and no users: serviceaccounts\/token is not served/,
  },
  {
    step: /^kubectl auth whoami/,
    reason: "The box has one token and no users.",
    refusedWith: /the selfsubjectreviews API is not enabled in the cluster/,
  },
  {
    step: /^kubectl auth can-i/,
    reason: "The box has no RBAC.",
    refusedWith: /does not serve authorization\.k8s\.io: .* whoever holds its token may do everything/,
  },
  {
    step: /^kubectl get clusterroles/,
    reason: "The box has no RBAC.",
    refusedWith: /the server doesn't have a resource type "clusterroles"/,
  },
  {
    step: /^kubectl (get services|cluster-info)/,
    reason: "Services are not served, and cluster-info insists on listing them.",
    refusedWith: /the server doesn't have a resource type "services"/,
  },
  {
    step: /^kubectl version/,
    reason: "The box names the release that it follows, and that it is not that release.",
    same: without(/ "(git\w+|goVersion|compiler|platform|emulation\w+|minCompat\w+)": .*\n/g),
  },
  {
    step: /^kubectl describe namespace/,
    reason: "There are no quotas and limits in the box, so that nothing is said about them.",
    same: without(/\n(No resource quota\.|No LimitRange resource\.)\n/g),
  },
  {
    step: /^kubectl explain nodepool --/,
    reason: "The descriptions of apiVersion, kind and metadata are the server's own: here in our words.",
    same: without(/^ (apiVersion|kind|metadata) .*\n( .*\n)+?\n/gm),
  },
];
