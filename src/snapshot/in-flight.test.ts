import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPod, at, aWorld, t0 } from "../../test/builders.ts";
import type { KubeObject } from "../api/meta.ts";
import { formatTime } from "../api/time.ts";
import type { ClusterPicture } from "./cluster-picture.ts";
import type { Sent } from "./sent.ts";
import type { ClaimView, NodeView } from "./views.ts";

const version = (claim: ClaimView, resourceVersion: string, more: Partial<ClaimView> = {}): ClaimView => ({
  ...claim,
  resourceVersion,
  ...more,
});
const rawClaim = (resourceVersion: string, uid = aClaim("a").uid): KubeObject => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name: "a", uid, resourceVersion, creationTimestamp: formatTime(t0) },
  spec: {},
});
const shown = (picture: ClusterPicture, name: string) => picture.claim(name)?.resourceVersion;

describe("the answer to our own write", () => {
  const claim = aClaim("a", { resourceVersion: "10" });
  const written = version(claim, "12", { annotations: { ours: "yes" } });

  test("is seen at once, and stands until the watch has caught up", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wrote("claim", written);
    expect(shown(picture, "a")).toBe("12");
    picture.put("claim", version(claim, "11"));
    expect(shown(picture, "a")).toBe("12");
    picture.put("claim", version(claim, "13"));
    expect(shown(picture, "a")).toBe("13");
  });

  test("is the view of the event, too, that brings it: it is read once", () => {
    const picture = aWorld({ claims: [claim] });
    const raw = rawClaim("12");
    picture.answered("claim", raw);
    const answered = picture.claim("a");
    const { project } = picture.feed("claim");
    expect(project(structuredClone(raw), claim)).toBe(answered);
    expect(project(rawClaim("13"), claim)).not.toBe(answered);
    expect(project(rawClaim("12", "another"), claim)).toMatchObject({ uid: "another" });
  });

  test("and what is to become of it is not taken for what has become of it", () => {
    const picture = aWorld({ claims: [claim] });
    picture.answered("claim", rawClaim("12"));
    picture.expect({ kind: "delete-claim", claim: { name: "a", uid: claim.uid } }, at("1s"));
    expect(picture.claim("a")?.deletingSince).toBeDefined();
    expect(picture.feed("claim").project(rawClaim("12"), claim).deletingSince).toBeUndefined();
  });

  test("an event older than it moves nothing and wakes nobody", () => {
    const picture = aWorld({ claims: [claim], nodes: [aNode("a")] });
    picture.wrote("claim", written);
    picture.takeDirty();
    picture.put("claim", version(claim, "11", { annotations: { somebody: "else" } }));
    expect(picture.claim("a")).toBe(written);
    expect(picture.takeDirty()).toEqual(new Set());
  });

  test("is nothing new when the watch was faster", () => {
    const picture = aWorld({ claims: [version(claim, "13")] });
    picture.wrote("claim", written);
    expect(shown(picture, "a")).toBe("13");
    picture.put("claim", version(claim, "14"));
    expect(shown(picture, "a")).toBe("14");
  });

  test("shows what we have made before the watch does; an older object of the name does not come back", () => {
    const picture = aWorld();
    picture.wrote("claim", written);
    expect(shown(picture, "a")).toBe("12");
    const earlier = version(claim, "9", { uid: "earlier" });
    picture.put("claim", earlier);
    expect(shown(picture, "a")).toBe("12");
    picture.remove("claim", earlier);
    expect(shown(picture, "a")).toBe("12");
    picture.put("claim", written);
    expect(shown(picture, "a")).toBe("12");
  });

  test("does not bring back what the watch has seen go", () => {
    const picture = aWorld({ claims: [claim] });
    picture.remove("claim", claim);
    picture.wrote("claim", written);
    expect(picture.claim("a")).toBeUndefined();
  });

  test("is followed by our next one, also by one that takes the first back", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wrote("claim", written);
    picture.wrote("claim", version(claim, "14"));
    expect(shown(picture, "a")).toBe("14");
    picture.put("claim", written);
    expect(shown(picture, "a")).toBe("14");
  });

  test("goes with the object", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wrote("claim", written);
    picture.remove("claim", version(claim, "15"));
    expect(picture.claim("a")).toBeUndefined();
  });

  test("that is being deleted and held by nobody says that it is gone", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wrote("claim", version(claim, "12", { deletingSince: t0, finalizers: [] }));
    expect(picture.claim("a")).toBeUndefined();
    picture.put("claim", version(claim, "11", { deletingSince: t0 }));
    expect(picture.claim("a")).toBeUndefined();
  });

  test("which cannot be ordered gives way to the stream", () => {
    const picture = aWorld({ claims: [version(claim, "abc")] });
    picture.wrote("claim", version(claim, "def", { annotations: { ours: "yes" } }));
    expect(shown(picture, "a")).toBe("abc");
    picture.put("claim", version(claim, "abd"));
    expect(shown(picture, "a")).toBe("abd");
  });
});

describe("what the server told us is gone", () => {
  const claim = aClaim("a", { resourceVersion: "10" });

  test("is gone at once, and late events do not bring it back", () => {
    const picture = aWorld({ claims: [claim], nodes: [aNode("a")] });
    picture.wroteGone("claim", "a", claim.uid);
    expect(picture.claim("a")).toBeUndefined();
    picture.takeDirty();
    picture.put("claim", version(claim, "11"));
    expect(picture.claim("a")).toBeUndefined();
    expect(picture.takeDirty()).toEqual(new Set());
    picture.remove("claim", version(claim, "11"));
    expect(picture.claim("a")).toBeUndefined();
  });

  test("is not another object of that name", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wroteGone("claim", "a", "another");
    expect(picture.claim("a")).toBe(claim);
    const successor = version(claim, "12", { uid: "successor" });
    picture.wroteGone("claim", "a", claim.uid);
    picture.put("claim", successor);
    expect(picture.claim("a")).toBe(successor);
  });

  test("has outlived earlier objects of that name, whatever the watch still brings of them", () => {
    const picture = aWorld();
    const ours = version(claim, "20", { uid: "ours" });
    picture.wrote("claim", ours);
    picture.wroteGone("claim", "a", "ours");
    picture.put("claim", claim);
    expect(picture.claim("a")).toBeUndefined();
    picture.remove("claim", claim);
    picture.put("claim", ours);
    expect(picture.claim("a")).toBeUndefined();
    picture.remove("claim", ours);
    picture.put("claim", version(claim, "30", { uid: "next" }));
    expect(shown(picture, "a")).toBe("30");
  });

  test("is there again if a later list has it: etcd was restored from a backup", () => {
    const picture = aWorld({ claims: [claim] });
    picture.wroteGone("claim", "a", claim.uid);
    const { handlers } = picture.feed("claim");
    handlers.added(version(claim, "5"));
    expect(picture.claim("a")).toBeUndefined();
    handlers.synced();
    expect(shown(picture, "a")).toBe("5");
  });

  test("in a namespace is the one in that namespace", () => {
    const [one, other] = [aPod("x"), aPod("x", { namespace: "other" })];
    const picture = aWorld({ pods: [one, other] });
    picture.wroteGone("pod", "x", other.uid, "other");
    expect(picture.pod("default", "x")).toBe(one);
    expect(picture.pod("other", "x")).toBeUndefined();
  });
});

describe("kinds whose version is not kept in the view", () => {
  const raw = (resourceVersion: string, label: string, beat = "0"): KubeObject => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a", uid: "a-uid", resourceVersion, creationTimestamp: formatTime(t0), labels: { label } },
    status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: beat }] },
  });

  // What the watch cache does.
  function watching(picture: ClusterPicture) {
    const { project, handlers } = picture.feed("node");
    let previous: NodeView | undefined;
    return (event: KubeObject) => {
      const view = project(event, previous);
      if (previous === undefined) handlers.added(view);
      else if (view !== previous) handlers.updated(view);
      previous = view;
    };
  }

  test("a heartbeat shows nobody anything", () => {
    const picture = aWorld();
    const event = watching(picture);
    event(raw("1", "x"));
    picture.takeDirty();
    event(raw("2", "x", "later"));
    expect(picture.takeDirty()).toEqual(new Set());
    expect(picture.node("a")?.resourceVersion).toBe("1");
  });

  test("a write that changes nothing visible lies over nothing", () => {
    const picture = aWorld();
    const event = watching(picture);
    event(raw("1", "x"));
    picture.takeDirty();
    picture.answered("node", raw("5", "x"));
    expect(picture.takeDirty()).toEqual(new Set());
    event(raw("2", "y"));
    expect(picture.node("a")?.labels).toEqual({ label: "y" });
  });

  test("the watch has caught up also by an event in which nothing visible changed", () => {
    const picture = aWorld();
    const event = watching(picture);
    event(raw("1", "x"));
    picture.answered("node", raw("5", "ours"));
    event(raw("2", "x", "later"));
    expect(picture.node("a")?.labels).toEqual({ label: "ours" });
    // Somebody took our label away again, and the watch skipped what lay between.
    event(raw("6", "x", "later still"));
    expect(picture.node("a")?.labels).toEqual({ label: "x" });
  });

  test("a pod's version comes with the answer and with the event", () => {
    const picture = aWorld();
    const pod = (resourceVersion: string, deleted: boolean): KubeObject => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "x",
        namespace: "n",
        uid: "x-uid",
        resourceVersion,
        creationTimestamp: formatTime(t0),
        labels: { seen: resourceVersion },
        ...(deleted ? { deletionTimestamp: formatTime(at("30s")) } : {}),
      },
    });
    const { project, handlers } = picture.feed("pod");
    const first = project(pod("1", false), undefined);
    handlers.added(first);
    picture.answered("pod", pod("3", true));
    const second = project(pod("2", false), first);
    handlers.updated(second);
    expect(picture.pod("n", "x")?.deletionAt).toBe(at("30s"));
    handlers.updated(project(pod("4", true), second));
    expect(picture.pod("n", "x")?.labels).toEqual({ seen: "4" });
  });
});

describe("a command under way", () => {
  const open: Sent = { kind: "open-action", name: "drift-a", spec: anAction("x").spec, phase: "Pending" };

  test("an action that is being opened counts before it is there, and nothing may be built on it", () => {
    const picture = aWorld({ nodes: [aNode("a")], claims: [aClaim("a")] });
    picture.expect(open, at("1m"));
    expect(picture.openActionOn("a-uid")).toMatchObject({
      name: "drift-a",
      isProvisional: true,
      uid: "",
      createdAt: at("1m"),
    });
    expect(picture.departureCount).toBe(1);
  });

  test("is followed by what the server made of it, counted once", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect(open, at("1m"));
    const real = anAction("drift-a", { phase: "Pending" });
    picture.wrote("action", real);
    expect(picture.openActionOn("a-uid")).toBe(real);
    picture.put("action", real);
    picture.unexpect(open);
    expect(picture.openActionOn("a-uid")).toBe(real);
    expect(picture.departureCount).toBe(1);
  });

  test("that has come to nothing leaves nothing", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect(open, at("1m"));
    picture.takeDirty();
    picture.unexpect(open);
    expect(picture.action("drift-a")).toBeUndefined();
    expect(picture.departureCount).toBe(0);
    expect(picture.takeDirty()).toEqual(new Set(["cluster", "action/drift-a", "node/a"]));
  });

  test("is over once its effect was seen: what goes after that does not come back", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect(open, at("1m"));
    const real = anAction("drift-a", { phase: "Pending" });
    picture.put("action", real);
    picture.remove("action", real);
    expect(picture.action("drift-a")).toBeUndefined();
    expect(picture.departureCount).toBe(0);
  });

  test("may be sent twice", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect(open, at("1m"));
    picture.expect(open, at("2m"));
    expect(picture.departureCount).toBe(1);
    picture.unexpect(open);
    expect(picture.departureCount).toBe(0);
  });

  test("a dry run is seen and not counted", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect({ ...open, phase: "DryRun" }, at("1m"));
    expect(picture.dryRunsOn("a-uid")).toHaveLength(1);
    expect(picture.departureCount).toBe(0);
  });

  test("a claim that is being made counts for its pool", () => {
    const picture = aWorld();
    const metadata = { name: "p-1", labels: { "karpenter.sh/nodepool": "p" } };
    const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec: {} };
    picture.expect({ kind: "create-claim", manifest }, at("1m"));
    expect(picture.claimCountOfPool("p")).toBe(1);
    expect(picture.claim("p-1")).toMatchObject({ isProvisional: true, uid: "", pool: "p", createdAt: at("1m") });
    picture.put("claim", aClaim("p-1", { pool: "p" }));
    expect(picture.claim("p-1")?.isProvisional).toBeUndefined();
    expect(picture.claimCountOfPool("p")).toBe(1);
  });

  describe("a claim that is being deleted", () => {
    const claim = aClaim("a", { resourceVersion: "10" });
    const command: Sent = { kind: "delete-claim", claim: { name: "a", uid: claim.uid } };

    test("is deleting, through any event that does not know it yet", () => {
      const picture = aWorld({ claims: [claim], nodes: [aNode("a")] });
      picture.expect(command, at("1m"));
      expect(picture.claim("a")?.deletingSince).toBe(at("1m"));
      picture.put("claim", version(claim, "11"));
      expect(picture.claim("a")).toMatchObject({ resourceVersion: "11", deletingSince: at("1m") });
      expect(picture.departureCount).toBe(1);
    });

    test("has the server's time once that is known", () => {
      const picture = aWorld({ claims: [claim] });
      picture.expect(command, at("1m"));
      picture.put("claim", version(claim, "12", { deletingSince: at("61s") }));
      expect(picture.claim("a")?.deletingSince).toBe(at("61s"));
      picture.unexpect(command);
      expect(picture.claim("a")?.deletingSince).toBe(at("61s"));
    });

    test("is not another claim of that name", () => {
      const picture = aWorld({ claims: [version(claim, "20", { uid: "other" })] });
      picture.expect(command, at("1m"));
      expect(picture.claim("a")?.deletingSince).toBeUndefined();
    });

    test("stays if the server refuses", () => {
      const picture = aWorld({ claims: [claim] });
      picture.expect(command, at("1m"));
      picture.unexpect(command);
      expect(picture.claim("a")).toBe(claim);
    });
  });

  describe("an action that starts", () => {
    const start: Sent = { kind: "start-action", action: { name: "x", uid: "x-action-uid" } };
    const world = (method: "Terminate" | "Reboot") =>
      aWorld({
        claims: [aClaim("a")],
        nodes: [aNode("a")],
        actions: [anAction("x", { phase: "Pending", spec: { method } })],
      });

    test("deletes its claim", () => {
      const picture = world("Terminate");
      picture.expect(start, at("1m"));
      expect(picture.claim("a")?.deletingSince).toBe(at("1m"));
      picture.unexpect(start);
      expect(picture.claim("a")?.deletingSince).toBeUndefined();
    });

    test("by a reboot deletes nothing", () => {
      const picture = world("Reboot");
      picture.expect(start, at("1m"));
      expect(picture.claim("a")?.deletingSince).toBeUndefined();
    });

    test("that nobody knows changes nothing", () => {
      const picture = aWorld({ claims: [aClaim("a")] });
      picture.expect(start, at("1m"));
      expect(picture.claim("a")?.deletingSince).toBeUndefined();
    });
  });

  test("whose effect nobody has to count waits for the watch", () => {
    const picture = aWorld({ nodes: [aNode("a")] });
    picture.expect({ kind: "delete-node" }, at("1m"));
    picture.unexpect({ kind: "delete-node" });
    expect(picture.takeDirty()).toEqual(new Set());
  });
});
