import { expect, test } from "vitest";
import { Box } from "../../test/sim/box.ts";

const events = { resource: "events", namespace: "default" };
const minute = 60_000;

function record(box: Box, name: string): void {
  const metadata = { name, namespace: "default" };
  box.create(events, { metadata, involvedObject: { kind: "Pod", name: "web", namespace: "default" }, reason: "Told" });
}

function names(box: Box): string[] {
  const answer = box.send("list", events);
  if (answer.kind !== "list") throw new Error(`answered with a ${answer.kind}`);
  return answer.items.map(({ object }) => object.metadata.name);
}

test("events go an hour after they were last written, when others come", async () => {
  const box = new Box();
  record(box, "first");
  record(box, "told-again");
  await box.clock.runFor(30 * minute);
  box.patch({ ...events, name: "told-again" }, { count: 2 });
  await box.clock.runFor(30 * minute - 1);
  record(box, "too-early");
  await box.clock.runFor(1);
  expect(names(box)).toEqual(["first", "told-again", "too-early"]);
  record(box, "new");
  await box.clock.runFor(0);
  expect(names(box)).toEqual(["new", "told-again", "too-early"]);
});

test("who watches hears of the new one before the old ones are gone", async () => {
  const box = new Box();
  const heard: string[] = [];
  record(box, "old");
  await box.clock.runFor(60 * minute);
  box.server.store.onChange(({ name }, { type, key }) => {
    if (name === "events") heard.push(`${type} ${key}`);
  });
  record(box, "new");
  await box.clock.runFor(0);
  expect(heard).toEqual(["ADDED default/new", "DELETED default/old"]);
});

test("one of the same name that was made since stays", async () => {
  const box = new Box();
  record(box, "again");
  await box.clock.runFor(30 * minute);
  box.send("delete", { ...events, name: "again" });
  record(box, "again");
  await box.clock.runFor(30 * minute);
  record(box, "new");
  await box.clock.runFor(0);
  expect(names(box)).toEqual(["again", "new"]);
});

test("events without end are not kept without end", async () => {
  const box = new Box();
  for (let i = 0; i < 600; i++) {
    record(box, `e${i}`);
    await box.clock.runFor(minute);
  }
  expect(names(box).length).toBeLessThanOrEqual(61);
});
