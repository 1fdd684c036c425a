import { expect, test } from "vitest";
import { aCheck, aCheckContext, apiVersion } from "../../test/check-builders.ts";
import { CheckFeeds } from "./check-feeds.ts";

const kind = "FenceRemediation";

test("what the watch brings after an answer has shown it is nobody's news; what comes later is", () => {
  const web = aCheck("web");
  const { checks } = aCheckContext({ checks: [web] });
  const feeds = new CheckFeeds(checks);
  const owner = { apiVersion: "remediation.medik8s.io/v1alpha1", kind: "NodeHealthCheck", name: "web", uid: web.uid };
  const raw = (resourceVersion: string, annotations = {}) => ({
    apiVersion,
    kind,
    metadata: {
      name: "n",
      namespace: "fencing",
      uid: "u",
      resourceVersion,
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations,
      ownerReferences: [owner],
    },
  });
  const kept = feeds.kind({ apiVersion, kind });
  // Of remediations; the kind's name says so.
  const watched = (object: ReturnType<typeof raw>) => kept.handlers.added(kept.project(object, undefined) as never);

  kept.answered(raw("5"));
  expect([...checks.takeDirty()]).toEqual(expect.arrayContaining(["node/n", "check/web"]));
  watched(raw("5"));
  expect([...checks.takeDirty()]).toEqual([]);
  watched(raw("6", { "remediation.medik8s.io/nhc-timed-out": "2026-01-01T00:10:00Z" }));
  expect([...checks.takeDirty()]).toEqual(expect.arrayContaining(["node/n", "check/web"]));
  expect(checks.remediationsBy(web)).toMatchObject([{ name: "n", timedOut: "2026-01-01T00:10:00Z" }]);
});
