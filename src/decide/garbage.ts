// What is left over: instances that no claim knows, and claims whose instance is no more. Both are looked for in the
// provider's list, and both are held, all of them, when there are too many to believe: then it is not them that are wrong.

import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import type { FailureView } from "../snapshot/picture.ts";
import type { InstanceListView } from "../snapshot/views.ts";
import { type Context, type Decision, nothing, type Refusal, type Rule, together } from "./decision.ts";
import { lostInstances } from "./lost-instances.ts";
import { strayInstances } from "./stray-instances.ts";

const listEveryMs = 2 * minuteMs;

export const garbage: Rule = {
  name: "garbage",
  controller: "garbage",
  kind: "cluster",
  decide(_name, context) {
    const listing = list(context);
    const { instanceList } = context.picture;
    if (instanceList === undefined) return listing;
    return together([listing, strayInstances(instanceList, context), lostInstances(instanceList, context)]);
  },
};

function list({ picture, now }: Context): Decision {
  const failure = picture.failure("instances");
  // A provider that cannot list will not learn it.
  if (failure?.reason === "NotSupported") return nothing;
  const dueAt = dueSince(picture.instanceList);
  const nextAt = Math.max(dueAt, failure?.retryAt ?? dueAt);
  if (now < nextAt) return { ...nothing, refusals: failure ? [notListed(failure, nextAt)] : [], wakeAt: nextAt };
  return { ...nothing, commands: [{ kind: "list-instances", why: "It is time to compare instances and claims." }] };
}

function notListed({ message: why }: FailureView, until: Instant): Refusal {
  const message = `The provider could not list its instances: ${why}; the next try is at ${formatTime(until)}.`;
  return { subject: "cluster", code: "instances-not-listed", message, until, liftedBy: "a list of all instances" };
}

function dueSince(listed: InstanceListView | undefined): Instant {
  return listed === undefined ? Number.NEGATIVE_INFINITY : listed.at + listEveryMs;
}
