import { beforeEach, describe, expect, test } from "vitest";
import { aProvider } from "../../test/builders.ts";
import { aCheck } from "../../test/check-builders.ts";
import type { KubeObject } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Feed } from "./ports.ts";
import { RemediationFeeds } from "./remediation-feeds.ts";

type Fake = { options: Parameters<Feed>[0]; synced: boolean; lastError?: Error; isStopped: boolean };

let fakes: Map<string, Fake>;
let picture: ClusterPicture;
let feeds: RemediationFeeds;

const feed: Feed = options => {
  const fake: Fake = { options: options as unknown as Fake["options"], synced: false, isStopped: false };
  fakes.set(options.resource.plural, fake);
  return {
    get synced() {
      return fake.synced;
    },
    get lastError() {
      return fake.lastError;
    },
    ageMs: () => 0,
    stop: () => {
      fake.isStopped = true;
    },
  };
};

beforeEach(() => {
  fakes = new Map();
  picture = new ClusterPicture(aProvider());
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
  const api = { create: () => Promise.reject(new Error("nobody answers")) };
  feeds = new RemediationFeeds({ api, feed, clock, picture, isLeading: () => true, changed: () => {} });
});

function arrives(plural: string, raw: object): void {
  const { options } = fakes.get(plural) as Fake;
  options.handlers.added(options.project(raw as KubeObject, undefined));
}

function lists(plural: string): void {
  const fake = fakes.get(plural) as Fake;
  fake.synced = true;
  fake.options.handlers.synced?.();
}

function define(group: string, kind: string, plural: string, version = "v1"): void {
  const spec = { group, scope: "Cluster", names: { kind, plural }, versions: [{ name: version, served: true }] };
  arrives("customresourcedefinitions", { metadata: { name: `${plural}.${group}` }, spec });
}

const template = { apiVersion: "test.example.org/v1", kind: "FenceRemediationTemplate" };

test("a check is watched without delay, so that its pause is seen at once", () => {
  const isUrgent = (plural: string) => fakes.get(plural)?.options.isUrgent ?? false;
  expect([isUrgent("nodehealthchecks"), isUrgent("leases")]).toEqual([true, false]);
});

test("a kind that we may not read is told with the verb that is missing", () => {
  picture.checks.replaceCheck({ before: undefined, after: aCheck("web") });
  define("test.example.org", template.kind, "fenceremediationtemplates");
  expect(picture.checks.kind(template).state).toBe("Listing");
  const message = 'fenceremediationtemplates is forbidden: User "x" cannot watch resource "fenceremediationtemplates"';
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 403,
    reason: "Forbidden",
    message,
  };
  (fakes.get("fenceremediationtemplates") as Fake).lastError = new ApiError(status as never);
  feeds.look();
  expect(picture.checks.kind(template)).toMatchObject({ state: "Forbidden", verb: "watch" });
});

test("of all leases only those on nodes are watched, not every heartbeat of a kubelet", () => {
  expect(fakes.get("leases")?.options.selection?.namespace).toBe("medik8s-leases");
});

test("until the definitions are listed nothing is said to be missing", () => {
  picture.checks.replaceCheck({ before: undefined, after: aCheck("web") });
  feeds.look();
  expect(picture.checks.kind(template).state).toBe("Listing");
  lists("customresourcedefinitions");
  expect(picture.checks.kind(template).state).toBe("NotFound");
});

test("an upgrade of OpenShift that cannot be read is told as such, and as none where there is no OpenShift", () => {
  lists("customresourcedefinitions");
  expect(picture.checks.upgrade).toEqual({ isOpenShift: false, progressing: [] });
  define("config.openshift.io", "ClusterVersion", "clusterversions");
  expect(picture.checks.upgrade.failure).toContain("not been listed");
  const conditions = [{ type: "Progressing", status: "True", message: "Working towards 4.20" }];
  const metadata = { name: "version", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  arrives("clusterversions", {
    apiVersion: "config.openshift.io/v1",
    kind: "ClusterVersion",
    metadata,
    status: { conditions },
  });
  lists("clusterversions");
  expect(picture.checks.upgrade).toEqual({
    isOpenShift: true,
    progressing: [{ name: "version", message: "Working towards 4.20" }],
  });
});

test("MachineHealthChecks of OpenShift are watched where it serves them, and forgotten where it does no longer", () => {
  lists("customresourcedefinitions");
  expect(picture.checks.machineChecks).toEqual({ conflicting: [], mindsTerminating: false });
  define("machine.openshift.io", "MachineHealthCheck", "machinehealthchecks", "v1beta1");
  expect(picture.checks.machineChecks.isPending).toBe(true);
  const metadata = {
    name: "a",
    namespace: "m",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
  arrives("machinehealthchecks", {
    apiVersion: "machine.openshift.io/v1beta1",
    kind: "MachineHealthCheck",
    metadata,
    spec: { unhealthyConditions: [{ type: "Ready", status: "False", timeout: "300s" }] },
  });
  lists("machinehealthchecks");
  expect(picture.checks.machineChecks).toEqual({ conflicting: ["m/a"], mindsTerminating: false });
});

test("OpenShift's Infrastructure is watched where it serves one, and tells how the control plane is laid out", () => {
  lists("customresourcedefinitions");
  expect(picture.checks.topology).toEqual({});
  define("config.openshift.io", "Infrastructure", "infrastructures");
  expect(picture.checks.topology).toEqual({ isPending: true });
  const metadata = { name: "cluster", uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  arrives("infrastructures", {
    apiVersion: "config.openshift.io/v1",
    kind: "Infrastructure",
    metadata,
    status: { controlPlaneTopology: "DualReplica" },
  });
  lists("infrastructures");
  expect(picture.checks.topology).toEqual({ controlPlane: "DualReplica" });
});

describe("a kind of remediations", () => {
  const remediation = { ...template, kind: "FenceRemediation" };
  const owner = { apiVersion: "remediation.medik8s.io/v1alpha1", kind: "NodeHealthCheck", name: "web" };
  const made = {
    ...remediation,
    metadata: {
      name: "n",
      uid: "u",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations: { "remediation.medik8s.io/node-name": "n" },
      ownerReferences: [{ ...owner, uid: "web-check-uid" }],
    },
  };
  const web = aCheck("web");

  beforeEach(() => {
    picture.checks.replaceCheck({ before: undefined, after: web });
    lists("customresourcedefinitions");
    define("test.example.org", remediation.kind, "fenceremediations");
    lists("fenceremediations");
  });

  test("is served once it is listed, and its objects are seen", () => {
    expect(picture.checks.kind(remediation).state).toBe("Served");
    arrives("fenceremediations", made);
    expect(picture.checks.remediationsOf(web, "n")).toHaveLength(1);
  });

  test("that no check names any more is watched until the last of its objects is gone", () => {
    arrives("fenceremediations", made);
    const after = aCheck("web", { spec: { remediationTemplate: { ...template, kind: "OtherTemplate", name: "t" } } });
    picture.checks.replaceCheck({ before: web, after });
    feeds.look();
    const fake = fakes.get("fenceremediations") as Fake;
    expect(fake.isStopped).toBe(false);
    fake.options.handlers.deleted(fake.options.project(made, undefined));
    expect(fake.isStopped).toBe(true);
  });
});

test("all watches end with it", () => {
  picture.checks.replaceCheck({ before: undefined, after: aCheck("web") });
  define("test.example.org", template.kind, "fenceremediationtemplates");
  expect(fakes.get("fenceremediationtemplates")).toMatchObject({ isStopped: false });
  feeds.stop();
  expect(fakes.get("fenceremediationtemplates")).toMatchObject({ isStopped: true });
});
