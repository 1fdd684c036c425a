import { expect, test } from "vitest";
import type { InstanceProvider } from "../../control/ports.ts";
import { VirtualClock } from "../clock.ts";
import { seededRandom } from "../random.ts";
import { ActiveFaults } from "./active-faults.ts";
import { type ProviderFault, withProviderFaults } from "./provider-faults.ts";

function bad(fault: Partial<ProviderFault> & Pick<ProviderFault, "fault">) {
  const clock = new VirtualClock(0);
  const faults = new ActiveFaults<ProviderFault>(clock, seededRandom(1));
  const ended: string[] = [];
  const own = {
    get: () => Promise.resolve("gone"),
    list: () => Promise.resolve(ended.map(providerID => ({ providerID, createdAt: 0 }))),
    delete: (id: string) => {
      ended.push(id);
      return Promise.resolve("terminating");
    },
  };
  faults.add({ until: 60_000, ...fault });
  // Only what these tests call.
  const provider = withProviderFaults(own as unknown as InstanceProvider, faults);
  return { clock, provider, ended, faults };
}

test("an error is an answer, and nothing is done", async () => {
  const { provider, ended } = bad({ fault: "Throttled" });
  expect(await provider.delete("i")).toMatchObject({ error: "Throttled" });
  expect(ended).toEqual([]);
});

test("a lost answer reads as Unknown, and it is done", async () => {
  const { provider, ended } = bad({ fault: "LostAnswer" });
  expect(await provider.delete("i")).toMatchObject({ error: "Unknown" });
  expect(ended).toEqual(["i"]);
});

test("a call that hangs ends with its signal", async () => {
  const { provider } = bad({ fault: "Hang" });
  const abort = new AbortController();
  const answer = provider.get("i", { signal: abort.signal });
  abort.abort();
  await expect(answer).rejects.toThrow("no answer in time");
});

test("only the calls that are named, a share of them, and only for a time", async () => {
  const { clock, provider } = bad({ fault: "Unknown", calls: ["get"], share: 0.5 });
  expect(await provider.delete("i")).toBe("terminating");
  const answers = await Promise.all(Array.from({ length: 200 }, () => provider.get("i")));
  const gone = answers.filter(answer => answer === "gone").length;
  expect(gone).toBeGreaterThan(60);
  expect(gone).toBeLessThan(140);
  await clock.runFor(60_000);
  expect(await provider.get("i")).toBe("gone");
});

test("an old list is the one before it began, and nothing else is struck", async () => {
  const { clock, provider, faults } = bad({ fault: "Throttled", until: 0 });
  await provider.delete("i");
  expect(await provider.list("c")).toHaveLength(1);
  faults.add({ fault: "OldList", until: 60_000 });
  expect(await provider.delete("j")).toBe("terminating");
  expect(await provider.list("c")).toHaveLength(1);
  await clock.runFor(60_000);
  expect(await provider.list("c")).toHaveLength(2);
});
