import { expect, test } from "vitest";
import { ApiError } from "../../api/status.ts";
import type { KubeApi, WatchHandlers } from "../../control/ports.ts";
import { VirtualClock } from "../clock.ts";
import { Mirror } from "./mirror.ts";
import type { Pod } from "./objects.ts";
import { podResource } from "./resources.ts";

type Handlers = WatchHandlers<Pod>;

/** An API whose watch says only what the test makes it say. */
function scripted() {
  const clock = new VirtualClock(0);
  const opened: { options: object; handlers: Handlers }[] = [];
  const answers: Pod[] = [];
  const api = {
    watch: (_: unknown, options: object, handlers: Handlers) => {
      opened.push({ options, handlers });
      return { close: () => {} };
    },
    patch: async () => answers.shift(),
    create: async () => answers.shift(),
    delete: async () => answers.shift(),
  } as unknown as KubeApi;
  const mirror = new Mirror<Pod>({ api, clock, resource: podResource });
  const heard: string[] = [];
  mirror.onChange(({ object, previous, isGone }) => {
    heard.push(
      `${isGone ? "gone" : previous ? "changed" : "new"} ${object.metadata.uid}@${object.metadata.resourceVersion}`,
    );
  });
  const watch = () => opened.at(-1)?.handlers as Handlers;
  const end = () => {
    const annotations = { "k8s.io/initial-events-end": "true" };
    watch().event({ type: "BOOKMARK", object: { metadata: { resourceVersion: "9", annotations } } });
  };
  return { clock, mirror, opened, answers, heard, watch, end };
}

const pod = (uid: string, resourceVersion: string, name = "one", metadata: object = {}): Pod =>
  ({ kind: "Pod", metadata: { name, namespace: "default", uid, resourceVersion, ...metadata } }) as unknown as Pod;

test("it is synced when the first list is whole", async () => {
  const { mirror, watch, end } = scripted();
  let isSynced = false;
  void mirror.synced.then(() => (isSynced = true));
  watch().event({ type: "ADDED", object: pod("u", "5") });
  await Promise.resolve();
  expect(isSynced).toBe(false);
  end();
  await Promise.resolve();
  expect(isSynced).toBe(true);
  expect(mirror.get("default/one")?.metadata.uid).toBe("u");
});

test("what was written is read at once, and the late event for it tells nobody anything", async () => {
  const { mirror, watch, answers, heard } = scripted();
  answers.push(pod("u", "10"));
  await mirror.create(pod("u", "0"));
  watch().event({ type: "ADDED", object: pod("u", "9") });
  watch().event({ type: "MODIFIED", object: pod("u", "10") });
  watch().event({ type: "MODIFIED", object: pod("u", "11") });
  expect(heard).toEqual(["new u@10", "changed u@11"]);
});

test("what was deleted stays deleted, whichever comes first, the event or the answer", async () => {
  const { mirror, watch, answers, heard } = scripted();
  watch().event({ type: "ADDED", object: pod("u", "5") });
  // A real server answers with the object even if nothing holds it.
  answers.push(pod("u", "7", "one", { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 }));
  const deleting = mirror.delete(pod("u", "5"));
  watch().event({ type: "DELETED", object: pod("u", "7") });
  watch().event({ type: "ADDED", object: pod("v", "8") });
  await deleting;
  answers.push(pod("u", "7"));
  await mirror.patch(pod("u", "5"), { type: "merge", body: {} });
  expect(heard).toEqual(["new u@5", "gone u@7", "new v@8"]);
  expect(mirror.get("default/one")?.metadata.uid).toBe("v");
});

test("what waits for its grace period is seen so", async () => {
  const { mirror, watch, answers, heard } = scripted();
  watch().event({ type: "ADDED", object: pod("u", "5") });
  const held = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  answers.push(pod("u", "6", "one", held));
  await mirror.delete(pod("u", "5"));
  expect(heard).toEqual(["new u@5", "changed u@6"]);
});

test("a stream that ends is taken up where it ended; one that is too old begins anew and finds what went", async () => {
  const { clock, mirror, opened, watch, end, heard } = scripted();
  watch().event({ type: "ADDED", object: pod("u", "5") });
  watch().event({ type: "ADDED", object: pod("v", "6", "two") });
  end();
  watch().end(undefined);
  await clock.runFor(0);
  expect(opened[1]?.options).toMatchObject({ resourceVersion: "9" });
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 410 } as const;
  watch().end(new ApiError(status));
  await clock.runFor(1000);
  expect(opened[2]?.options).toMatchObject({ sendInitialEvents: true });
  watch().event({ type: "ADDED", object: pod("v", "6", "two") });
  end();
  expect(heard).toEqual(["new u@5", "new v@6", "gone u@5"]);
  mirror.stop();
  watch().end(undefined);
  await clock.runFor(60_000);
  expect(opened).toHaveLength(3);
});
