import { beforeEach, describe, expect, test } from "vitest";
import { ControlledBox } from "../../test/controlled-box.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { nodePools } from "../api/node-pool.ts";
import { ApiError } from "../api/status.ts";
import { formatMicroTime, minuteMs, secondMs } from "../api/time.ts";
import type { KubeApi, ListOptions } from "../control/ports.ts";
import { VirtualClock } from "../sim/clock.ts";
import type { Rival } from "../snapshot/picture.ts";
import { actBeside, RivalWatch, showBeside } from "./rival.ts";

const t0 = Date.parse("2026-01-01T00:00:00Z");

const refusal = (code: number, message: string) =>
  new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, message });

type LeaseTimes = { holderIdentity?: string; renewTime?: string };
let clock: VirtualClock;
/** By namespace; a function: what the cluster answers instead. */
let leases: Record<string, LeaseTimes> | (() => never);
let asked: ListOptions[];
beforeEach(() => {
  clock = new VirtualClock(t0);
  leases = {};
  asked = [];
});

const list = async (_: unknown, options: ListOptions = {}) => {
  asked.push(options);
  if (typeof leases === "function") return leases();
  const items = Object.entries(leases).map(([namespace, spec]) => ({
    metadata: { name: "karpenter-leader-election", namespace },
    spec,
  }));
  return { items, resourceVersion: "1" };
};
const api = { list } as unknown as Pick<KubeApi, "list">;

const renewed = (agoMs: number) => ({ holderIdentity: "karpenter-0", renewTime: formatMicroTime(clock.now() - agoMs) });
const rival: Rival = { holder: "karpenter-0", namespace: "karpenter" };

/** Looks from now on; `found` is what it has told since. */
async function watching() {
  const watch = await RivalWatch.start({ api, clock });
  const found: (Rival | undefined)[] = [];
  watch.onChange(each => found.push(each));
  return { watch, found };
}

describe("at the start", () => {
  test.each(["kube-system", "karpenter", "anywhere"])(
    "one that renewed its lease in %s lately is alive",
    async place => {
      leases = { [place]: renewed(59_999) };
      expect((await watching()).watch.rival).toEqual({ holder: "karpenter-0", namespace: place });
    },
  );

  test.each<[string, () => Record<string, LeaseTimes>]>([
    ["there is no lease", () => ({})],
    ["it was renewed a minute ago", () => ({ karpenter: renewed(60_000) })],
    ["it was given back", () => ({ karpenter: { renewTime: formatMicroTime(t0) } })],
    ["it says no time", () => ({ karpenter: { holderIdentity: "karpenter-0" } })],
  ])("nobody is alive if %s", async (_, given) => {
    leases = given();
    expect((await watching()).watch.rival).toBeUndefined();
  });

  test("one that is dead in one place may be alive in another", async () => {
    leases = { "kube-system": renewed(3_600_000), karpenter: renewed(1_000) };
    expect((await watching()).watch.rival).toEqual(rival);
  });

  test("a cluster that does not say is not taken for one without", async () => {
    leases = () => {
      throw refusal(403, "you may not");
    };
    await expect(watching()).rejects.toThrow("you may not");
  });

  test("only leases of that name are asked for, as the role allows", async () => {
    await watching();
    expect(asked[0]).toMatchObject({ fieldSelector: "metadata.name=karpenter-leader-election" });
    expect(asked[0]?.namespace).toBeUndefined();
  });
});

describe("from then on", () => {
  test("one that appears is found at the next look", async () => {
    const { found } = await watching();
    await clock.runFor(5 * secondMs);
    leases = { karpenter: renewed(0) };
    await clock.runFor(5 * secondMs - 1);
    expect(found).toEqual([]);
    await clock.runFor(1);
    expect(found).toEqual([rival]);
  });

  test("one that goes is gone two minutes after it was last seen alive", async () => {
    leases = { karpenter: renewed(0) };
    const { watch, found } = await watching();
    leases = { karpenter: { renewTime: formatMicroTime(t0) } };
    await clock.runFor(2 * minuteMs - 1);
    expect(found).toEqual([]);
    await clock.runFor(1);
    expect(found).toEqual([undefined]);
    expect(watch.rival).toBeUndefined();
  });

  test("a restart in between is no end, and another holder is told", async () => {
    leases = { karpenter: renewed(0) };
    const { found } = await watching();
    leases = { karpenter: { renewTime: formatMicroTime(t0) } };
    await clock.runFor(minuteMs);
    leases = { karpenter: { ...renewed(0), holderIdentity: "karpenter-1" } };
    await clock.runFor(10 * secondMs);
    expect(found).toEqual([{ holder: "karpenter-1", namespace: "karpenter" }]);
  });

  test("one whose clock is an hour behind is known by its renewals", async () => {
    leases = { karpenter: renewed(3_600_000) };
    const { watch, found } = await watching();
    expect(watch.rival).toBeUndefined();
    leases = { karpenter: renewed(3_600_000 - 2_000) };
    await clock.runFor(10 * secondMs);
    expect(found).toEqual([rival]);
  });

  test("while nothing can be read, what is known stays", async () => {
    leases = { karpenter: renewed(0) };
    const { watch, found } = await watching();
    leases = () => {
      throw new Error("cut off");
    };
    await clock.runFor(60 * minuteMs);
    expect(found).toEqual([]);
    expect(watch.rival).toEqual(rival);
    leases = {};
    await clock.runFor(10 * secondMs);
    expect(found).toEqual([undefined]);
  });

  test("a server that hangs does not end the looking", async () => {
    const { watch, found } = await watching();
    const hanging = { list: (_: unknown, { signal }: ListOptions) => untilAborted(signal) };
    Object.assign(api, hanging);
    await clock.runFor(15 * secondMs);
    Object.assign(api, { list });
    leases = { karpenter: renewed(0) };
    await clock.runFor(20 * secondMs);
    expect(found).toHaveLength(1);
    watch.stop();
  });

  test("nobody looks after the end", async () => {
    const { watch } = await watching();
    watch.stop();
    await clock.runFor(minuteMs);
    expect(asked).toHaveLength(1);
  });
});

const untilAborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(new Error("too late"))));

describe("a controller beside it", () => {
  const settings = { cluster: "box", dryRun: false, foreignClaims: "ignore" } as const;

  /** A pool that wants two nodes, and who is alive. */
  async function beside(dryRun = false) {
    const box = new ControlledBox();
    ({ clock } = box);
    const said: string[] = [];
    const say = { warn: (_: object, text: string) => void said.push(text) };
    const watch = await RivalWatch.start({ api, clock });
    const controller = box.start({ settings: { ...settings, dryRun } });
    showBeside(watch, { controller, settings: { ...settings, dryRun }, say });
    await box.create(nodePools.resource, { metadata: { name: "web" }, spec: { replicas: 2 } });
    const claims = async () => (await box.list(nodeClaims.resource)).length;
    return { box, said, claims, controller };
  }

  test("shows from its appearance and acts from its end, and says both", async () => {
    const { box, said, claims, controller } = await beside();
    await box.run(60);
    expect(await claims()).toBe(2);
    const renewing = () => void (leases = { karpenter: renewed(0) });
    renewing();
    await box.run(20);
    await box.patch(nodePools.resource, "web", { spec: { replicas: 3 } });
    await box.run(60);
    expect(await claims()).toBe(2);
    expect(controller.verify()).toEqual([]);
    expect(said).toEqual([
      "Another controller of the karpenter.sh kinds is alive (karpenter-0, lease in karpenter): dry run until it is gone, or this is started with --take-over.",
    ]);
    leases = {};
    await box.run(180);
    expect(await claims()).toBe(3);
    expect(said.slice(1)).toEqual([
      "The other controller of the karpenter.sh kinds has been silent for 2m0s: what is decided is carried out from now on.",
    ]);
  });

  test("of one that is there at the start nothing is done, and its end does not end --dry-run", async () => {
    clock = new VirtualClock(t0);
    leases = { karpenter: renewed(0) };
    const { box, said, claims } = await beside(true);
    leases = {};
    await box.run(300);
    expect(await claims()).toBe(0);
    expect(said[0]).toContain("is alive (karpenter-0, lease in karpenter): dry run");
    expect(said.slice(1)).toEqual([
      "The other controller of the karpenter.sh kinds has been silent for 2m0s. It is still a dry run, because the controller runs with --dry-run.",
    ]);
  });

  test("--take-over says it once and looks no more", async () => {
    leases = { karpenter: renewed(0) };
    const said: string[] = [];
    const watch = await RivalWatch.start({ api, clock });
    actBeside(watch, { warn: (_: object, text: string) => void said.push(text) });
    await clock.runFor(minuteMs);
    expect(said).toEqual([
      "Another controller of the karpenter.sh kinds is alive (karpenter-0, lease in karpenter): acting beside it, as --take-over says. Stop it, or both end nodes.",
    ]);
    expect(asked).toHaveLength(1);
  });
});
