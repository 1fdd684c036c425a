import { expect, test } from "vitest";
import { VirtualClock } from "../clock.ts";
import { Worker } from "./worker.ts";

function working(sync: (key: string) => Promise<void>, after = Promise.resolve(), parallelMax = 1) {
  const clock = new VirtualClock(0);
  const failures: string[] = [];
  const failed = (error: unknown, key: string) => failures.push(`${key} ${String(error)} ${clock.now()}`);
  return { clock, failures, worker: new Worker({ clock, after, sync, failed, parallelMax }) };
}

test("each key is worked on once, however often it was added, in the order in which it came", async () => {
  const done: string[] = [];
  const { clock, worker } = working(async key => void done.push(key));
  for (const key of ["b", "a", "b", "c", "a"]) worker.add(key);
  await clock.runFor(0);
  expect(done).toEqual(["b", "a", "c"]);
});

test("nothing is worked on before the picture is whole", async () => {
  const done: string[] = [];
  let open = () => {};
  const { clock, worker } = working(async key => void done.push(key), new Promise(resolve => (open = resolve)));
  worker.add("a");
  await clock.runFor(1000);
  expect(done).toEqual([]);
  open();
  await clock.runFor(0);
  expect(done).toEqual(["a"]);
});

test("a key that is added while it is worked on is worked on again, and never twice at a time", async () => {
  const said: string[] = [];
  const { clock, worker } = working(
    key =>
      new Promise(resolve => {
        said.push(`${key} begins`);
        clock.after(10, () => {
          said.push(`${key} ends`);
          resolve();
        });
      }),
    Promise.resolve(),
    4,
  );
  worker.add("a");
  await clock.runFor(5);
  worker.add("a");
  worker.add("b");
  await clock.runFor(50);
  expect(said).toEqual(["a begins", "b begins", "a ends", "a begins", "b ends", "a ends"]);
});

test("what fails is tried again later and later, and a success forgets that", async () => {
  let fails = 3;
  const { clock, failures, worker } = working(async () => {
    if (fails-- > 0) throw new Error("no");
  });
  worker.add("a");
  await clock.runFor(60_000);
  fails = 1;
  worker.add("a");
  await clock.runFor(60_000);
  expect(failures).toEqual(["a Error: no 0", "a Error: no 1000", "a Error: no 3000", "a Error: no 60000"]);
  expect(fails).toBe(-1);
});

test("of two instants the earlier counts", async () => {
  const times: number[] = [];
  const { clock, worker } = working(async () => void times.push(clock.now()));
  worker.addAt("a", 500);
  worker.addAt("a", 300);
  worker.addAt("a", 400);
  await clock.runFor(1000);
  expect(times).toEqual([300]);
  worker.addAt("b", 2000);
  worker.forget("b");
  worker.addAt("c", 2000);
  worker.stop();
  await clock.runFor(5000);
  expect(times).toEqual([300]);
});
