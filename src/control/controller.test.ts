import { describe, expect, test } from "vitest";
import { anAction } from "../../test/builders.ts";
import {
  aRule,
  commanding,
  hung,
  rawClaim,
  rawNode,
  refusal,
  ScriptedShell,
  scriptedProvider,
} from "../../test/scripted-shell.ts";
import type { Manifest } from "../api/meta.ts";
import { ledgerRule } from "../decide/actions.ts";
import {
  type Command,
  type Context,
  type Decision,
  type Notice,
  nothing,
  type Proposal,
  type Refusal,
} from "../decide/decision.ts";
import { vetoed } from "../decide/safety.ts";
import { runningMax } from "./lanes.ts";

const target = (name: string) => ({ name, uid: `${name}-uid` });
const labelled = (name: string, value = "yes"): Command => ({
  kind: "update-node",
  node: target(name),
  change: { labels: { seen: value } },
  why: "to be seen",
});
const deleting = (name: string): Command => ({
  kind: "delete-claim",
  claim: target(name),
  resourceVersion: "1",
  why: "surplus",
});
const creating = (name: string, pool = "p"): Command => {
  const metadata = { name, labels: { "karpenter.sh/nodepool": pool } };
  const manifest: Manifest & { metadata: { name: string } } = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata,
    spec: {},
  };
  return { kind: "create-claim", manifest, why: "wanted" };
};
const refusing = (name: string, more: Partial<Refusal> = {}): Decision => ({
  ...nothing,
  refusals: [{ subject: `claim/${name}`, code: "not-yet", message: "Not yet.", liftedBy: "time", ...more }],
});

const rawAction = (name: string, epoch: number) => ({
  ...rawNode(name),
  apiVersion: "fettle.dev/v1alpha1",
  kind: "NodeAction",
  spec: { ...anAction(name, { node: "n" }).spec, claim: undefined, epoch },
  status: { phase: "Running", startedAt: "2026-01-01T00:00:00Z" },
});
const waitingFor = { reason: "DryRun" };

const sickNode = (name: string, status: string, resourceVersion: string) => ({
  ...rawNode(name, { resourceVersion }),
  status: { conditions: [{ type: "Ready", status, lastTransitionTime: "2026-01-01T00:00:00Z" }] },
});
const repairOf = (name: string, conditionStatus = "Unknown"): Proposal => ({
  node: target(name),
  action: "Repair",
  method: "Terminate",
  askedBy: { kind: "Controller", name: "repair" },
  message: "",
  evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus }],
  dueAt: 0,
});

describe("a term", () => {
  test("begins above every epoch in the ledger, whoever wrote it: what is there is older, and adopted", async () => {
    const shell = new ScriptedShell([ledgerRule]);
    await shell.begin(rawNode("n"), rawAction("of-a-stranger", 41));
    expect(shell.controller.epoch).toBe(1);
    const [adoption] = shell.server.calls.filter(({ verb }) => verb === "patch");
    expect(adoption).toMatchObject({ name: "of-a-stranger", body: { spec: { epoch: 42 } } });
  });

  test("begins when every kind is listed, with a consistent read of actions, claims and nodes", async () => {
    const asked: string[] = [];
    const shell = new ScriptedShell([aRule(name => (asked.push(name), nothing))]);
    shell.server.hold(rawClaim("unseen"));
    shell.feed.sync("pods");
    await shell.clock.advance(60_000);
    expect([shell.server.calls, asked, shell.controller.epoch]).toEqual([[], [], undefined]);
    shell.feed.sync();
    await shell.clock.advance(50);
    expect(shell.server.calls.map(({ verb, plural, options }) => [verb, plural, Object.keys(options ?? {})])).toEqual([
      ["list", "nodeactions", ["limit", "signal"]],
      ["list", "nodeclaims", ["limit", "signal"]],
      ["list", "nodes", ["limit", "signal"]],
    ]);
    expect(asked).toEqual(["unseen"]);
    expect(shell.controller.epoch).toBe(1);
    expect(shell.said("leading")).toMatchObject([{ epoch: 1 }]);
  });

  test("reads a long list page by page", async () => {
    const shell = new ScriptedShell([]);
    shell.server.answers.push(({ plural, options }) => {
      if (plural !== "nodes") return undefined;
      const isFirst = options?.["continue"] === undefined;
      const items = [rawNode(isFirst ? "a" : "b")];
      return { items, resourceVersion: "5", ...(isFirst ? { continue: "more" } : {}) };
    });
    await shell.begin();
    expect([...shell.controller.picture.nodes()].map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("knows what is gone, also what the watch still shows; and keeps what the watch brought meanwhile", async () => {
    const shell = new ScriptedShell([]);
    const [ghost, kept, meanwhile] = [rawClaim("ghost"), rawClaim("kept"), rawClaim("meanwhile")];
    for (const claim of [ghost, kept]) shell.feed.show(claim);
    shell.server.hold(kept);
    shell.server.answers.push(({ plural }) => {
      // The list of the server has been made before this one was created.
      if (plural === "nodeclaims") shell.feed.show(meanwhile);
      return undefined;
    });
    shell.feed.sync();
    await shell.clock.advance(50);
    const names = () => [...shell.controller.picture.claims()].map(({ name }) => name);
    expect(names()).toEqual(["kept", "meanwhile"]);
    // A late event of the ghost does not bring it back.
    shell.feed.show(rawClaim("ghost", { resourceVersion: "2" }));
    expect(names()).toEqual(["kept", "meanwhile"]);
  });

  test("begins anew when its lists fail, and not more often than every two seconds", async () => {
    const shell = new ScriptedShell([]);
    shell.server.answers.push(({ verb }) =>
      verb === "list" ? Promise.reject(refusal(500, "InternalError")) : undefined,
    );
    await shell.begin();
    expect(shell.server.calls).toHaveLength(1);
    await shell.clock.advance(1900);
    expect(shell.server.calls).toHaveLength(1);
    shell.server.answers.length = 0;
    await shell.clock.advance(200);
    expect(shell.controller.epoch).toBe(1);
  });

  test("begins anew when its lists hang", async () => {
    const shell = new ScriptedShell([]);
    shell.server.answers.push(({ verb }) => (verb === "list" ? hung() : undefined));
    await shell.begin();
    shell.server.answers.length = 0;
    await shell.clock.advance(59_000);
    expect(shell.controller.epoch).toBeUndefined();
    await shell.clock.advance(4_000);
    expect(shell.controller.epoch).toBe(1);
  });

  test("is not begun by whoever does not lead; the picture is kept all the same", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))], { epoch: undefined });
    await shell.begin(rawClaim("a"));
    await shell.clock.advance(60_000);
    expect([shell.server.calls, shell.controller.counts.turns]).toEqual([[], 0]);
    expect(shell.controller.picture.claim("a")?.uid).toBe("a-uid");
    const idle = shell.controller.whenIdle();
    await shell.clock.advance(10);
    await idle;
  });

  test("ends with the lead: standing decisions go, nothing more is begun, and a second write of a command is not sent", async () => {
    const seen: number[] = [];
    const shell = new ScriptedShell([
      aRule((name, { epoch, picture }: Context) => {
        seen.push(epoch);
        const claim = picture.claim(name);
        if (claim === undefined) return nothing;
        const metadata = { annotations: { a: "b" } };
        const command: Command = {
          kind: "update-claim",
          claim: target(name),
          resourceVersion: claim.resourceVersion,
          metadata,
          status: { nodeName: "n" },
          why: "",
        };
        return { ...refusing(name), commands: epoch === 1 ? [command] : [] };
      }),
    ]);
    let answer: (value: unknown) => void = () => {};
    shell.server.answers.push(({ verb }) =>
      verb === "patch" ? new Promise(resolve => (answer = resolve)) : undefined,
    );
    await shell.begin(rawClaim("a"));
    expect(shell.server.writes).toEqual(["patch nodeclaims a"]);

    shell.leadership.become(undefined);
    answer(rawClaim("a", { resourceVersion: "7" }));
    await shell.clock.advance(120_000);
    expect(shell.server.writes).toEqual(["patch nodeclaims a"]);
    expect(shell.controller.refusals()).toEqual([]);
    expect(shell.said("following")).toMatchObject([{ epoch: 1 }]);

    shell.leadership.become(3);
    await shell.clock.advance(50);
    expect(seen.at(-1)).toBe(3);
    expect(shell.controller.epoch).toBe(3);
    expect(shell.controller.refusals("claim/a")).toHaveLength(1);
  });

  test("begins with the outbreaks that were seen in waiting, and with none that only a part of a list looked like", async () => {
    const seen: (string | undefined)[] = [];
    const rule = aRule((_, context) => (seen.push(vetoed(repairOf("n0"), context.vetoes, context)?.code), nothing));
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const shell = new ScriptedShell([rule], { epoch: undefined });
    const show = (status: string, version: string, ...those: string[]) => {
      for (const name of those) shell.feed.show(sickNode(name, status, version));
    };
    show("Unknown", "1", ...names.slice(0, 5));
    await shell.clock.advance(50);
    show("True", "1", ...names.slice(5));
    await shell.begin(rawClaim("a"));
    const lead = async (epoch: number | undefined) => {
      shell.leadership.become(epoch);
      await shell.clock.advance(50);
    };
    await lead(1);
    expect(seen).toEqual(["settling"]);
    await lead(undefined);
    show("Unknown", "2", ...names.slice(5, 10));
    await shell.clock.advance(50);
    show("True", "3", ...names.slice(1, 10));
    await shell.clock.advance(60_000);
    shell.feed.bookmark();
    await lead(2);
    expect(seen).toEqual(["settling", "correlated-failure"]);
  });

  test("begins with no outbreak of nodes that only boot, whichever of node and claim was seen first", async () => {
    const seen: (string | undefined)[] = [];
    const rule = aRule((name, context) => {
      if (name === "a") seen.push(vetoed(repairOf("n0", "False"), context.vetoes, context)?.code);
      return nothing;
    });
    const shell = new ScriptedShell([rule], { epoch: undefined });
    const names = Array.from({ length: 5 }, (_, index) => `n${index}`);
    for (const name of names) shell.feed.show({ ...sickNode(name, "False", "1"), spec: { providerID: name } });
    await shell.clock.advance(50);
    for (const name of names)
      shell.feed.show({ ...rawClaim(`c-${name}`), status: { providerID: name, nodeName: name } });
    await shell.clock.advance(50);
    await shell.begin(rawClaim("a"));
    await shell.clock.advance(60_000);
    shell.feed.bookmark();
    shell.leadership.become(1);
    await shell.clock.advance(50);
    expect(seen).toEqual([undefined]);
  });

  test("that follows another without a pause is a new one all the same", async () => {
    const seen: number[] = [];
    const shell = new ScriptedShell([aRule((_, { epoch }) => (seen.push(epoch), nothing))]);
    await shell.begin(rawClaim("a"));
    shell.leadership.become(2);
    await shell.clock.advance(50);
    expect(seen).toEqual([1, 2]);
  });
});

describe("a turn", () => {
  test("asks about what changed, once, however often it did", async () => {
    const asked: string[] = [];
    const shell = new ScriptedShell([aRule(name => (asked.push(name), nothing))]);
    await shell.begin(...Array.from({ length: 20 }, (_, index) => rawClaim(`c-${index}`)));
    asked.length = 0;
    const { turns } = shell.controller.counts;
    for (let version = 2; version < 100; version++) {
      shell.feed.show(rawClaim("c-7", { resourceVersion: `${version}`, labels: { version: `${version}` } }));
    }
    await shell.clock.advance(100);
    expect([asked, shell.controller.counts.turns - turns]).toEqual([["c-7"], 1]);
  });

  test("is not made for what no rule sees", async () => {
    const shell = new ScriptedShell([aRule(() => nothing)]);
    await shell.begin(rawNode("n"), rawClaim("c"));
    await shell.clock.advance(1_000);
    const { turns } = shell.controller.counts;
    // A pod that nobody has placed and nobody waits for.
    const metadata = {
      name: "done",
      namespace: "default",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    shell.feed.show({ apiVersion: "v1", kind: "Pod", metadata, spec: {}, status: { phase: "Succeeded" } });
    await shell.clock.advance(1_000);
    expect(shell.controller.counts.turns).toBe(turns);
    shell.feed.show(rawClaim("c", { resourceVersion: "8", labels: { a: "b" } }));
    await shell.clock.advance(1_000);
    expect(shell.controller.counts.turns).toBe(turns + 1);
  });

  test("comes at the instant that a decision asked for, not a millisecond before", async () => {
    const asked: number[] = [];
    const dueAt = Date.parse("2026-11-15T12:10:00Z");
    const shell = new ScriptedShell([
      aRule((_, { now }) => {
        asked.push(now);
        return now < dueAt ? { ...nothing, wakeAt: dueAt } : nothing;
      }),
    ]);
    const conditions = [{ type: "Registered", status: "True" }];
    await shell.begin({ ...rawClaim("a"), status: { conditions } });
    await shell.clock.advance(dueAt - shell.clock.now() - 1);
    expect(asked).toHaveLength(1);
    await shell.clock.advance(1);
    expect(asked.at(-1)).toBe(dueAt);
    await shell.clock.advance(600_000);
    expect(asked).toHaveLength(2);
  });

  test("asks only the rules of controllers that are switched on", async () => {
    const rules = [
      aRule(() => refusing("a", { code: "on" })),
      aRule(() => refusing("a", { code: "off" }), { name: "other", controller: "garbage" }),
    ];
    const shell = new ScriptedShell(rules, { controllers: new Set(["lifecycle"] as const) });
    await shell.begin(rawClaim("a"));
    expect(shell.controller.refusals().map(({ code }) => code)).toEqual(["on"]);
  });

  test("keeps refusals by subject, and journals each when it comes and when it is lifted", async () => {
    const shell = new ScriptedShell([
      aRule((name, { picture }) => (picture.claim(name)?.labels["ok"] ? nothing : refusing(name))),
    ]);
    await shell.begin(rawClaim("a"), rawClaim("b"));
    expect(shell.controller.refusals("claim/a")).toMatchObject([{ code: "not-yet" }]);
    expect(shell.controller.refusals()).toHaveLength(2);
    expect(shell.controller.decisionOf("scripted", "claim/a")?.refusals).toHaveLength(1);
    expect(shell.controller.counts.refusals.get("not-yet")).toBe(2);
    // Asked again, it says the same: no news.
    shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { other: "1" } }));
    await shell.clock.advance(50);
    expect(shell.said("refused")).toHaveLength(2);
    shell.feed.show(rawClaim("a", { resourceVersion: "3", labels: { ok: "1" } }));
    await shell.clock.advance(50);
    expect(shell.controller.refusals("claim/a")).toEqual([]);
    expect(shell.said("lifted")).toMatchObject([{ refusal: { subject: "claim/a" } }]);
  });

  test("forgets what it decided about a subject that is gone", async () => {
    const shell = new ScriptedShell([aRule((name, { picture }) => (picture.claim(name) ? refusing(name) : nothing))]);
    const claim = rawClaim("a");
    await shell.begin(claim);
    shell.feed.gone(claim);
    await shell.clock.advance(50);
    expect([shell.controller.refusals(), shell.controller.verify()]).toEqual([[], []]);
  });

  test("in which a rule fails sends nothing at all, says so, and is tried again after ten seconds", async () => {
    let isBroken = true;
    const shell = new ScriptedShell([
      aRule(name => {
        if (name === "b" && isBroken) throw new Error("b makes no sense");
        return commanding(labelled(name));
      }),
    ]);
    shell.server.hold(rawNode("a"), rawNode("b"));
    await shell.begin(rawClaim("a"), rawClaim("b"));
    expect(shell.server.writes).toEqual([]);
    expect(shell.controller.refusals("cluster")).toMatchObject([
      { code: "rule-failed", message: "A rule failed, so nothing is begun: b makes no sense" },
    ]);
    shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { changed: "1" } }));
    await shell.clock.advance(9_900);
    expect(shell.controller.counts).toMatchObject({ ruleFailures: 1 });
    isBroken = false;
    await shell.clock.advance(200);
    expect(shell.server.writes).toEqual(["patch nodes a", "patch nodes b"]);
    expect(shell.controller.refusals("cluster")).toEqual([]);
  });

  test("is checked against a look from scratch: a rule that keeps a secret is found out", async () => {
    let secret = "x";
    const shell = new ScriptedShell([aRule(name => refusing(name, { message: secret }))]);
    await shell.begin(rawClaim("a"));
    expect(shell.controller.verify()).toEqual([]);
    secret = "y";
    expect(shell.controller.verify()).toEqual([expect.stringMatching(/^scripted of claim\/a: .*x.* stands, but .*y/)]);
    // What is to be asked anew anyhow does not claim to stand.
    shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { changed: "1" } }));
    expect(shell.controller.verify()).toEqual([]);
  });

  test("hears what the provider has to say", async () => {
    let changed = () => {};
    const asked: string[] = [];
    const provider = scriptedProvider({ onChange: tell => (changed = tell) });
    const shell = new ScriptedShell([aRule(name => (asked.push(name), nothing))], { provider });
    await shell.begin(rawClaim("a"));
    changed();
    await shell.clock.advance(50);
    expect(asked).toEqual(["a", "a"]);
  });

  test("says its notices once, however often they are decided", async () => {
    const about = { kind: "NodeClaim", name: "a", uid: "a-uid" } as const;
    const notices = [{ about, type: "Normal", reason: "Told", message: "Once." }] as const;
    const shell = new ScriptedShell([aRule(() => ({ ...nothing, notices }))]);
    await shell.begin(rawClaim("a"));
    shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { changed: "1" } }));
    await shell.clock.advance(50);
    expect(shell.said("noticed")).toHaveLength(1);
    expect(shell.server.writes).toHaveLength(1);
  });
});

describe("a command", () => {
  test("that hangs stops nobody else, and no turn", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))]);
    shell.server.hold(rawNode("a"), rawNode("b"));
    shell.server.answers.push(({ verb, name }) => (verb === "patch" && name === "a" ? hung() : undefined));
    await shell.begin(rawClaim("a"));
    await shell.clock.advance(1000);
    shell.feed.show(rawClaim("b"));
    await shell.clock.advance(100);
    expect(shell.said("ended")).toMatchObject([{ command: { node: { name: "b" } }, outcome: { result: "done" } }]);
    await shell.clock.advance(20_000);
    expect(shell.said("ended").at(-1)).toMatchObject({ outcome: { result: "retry", reason: "", unknown: true } });
    expect(shell.controller.picture.failure("node/a")).toMatchObject({ count: 1, reason: "" });
  });

  test("for which there was no room is sent as it stands when there is, and decided anew only if it is otherwise", async () => {
    const asked: string[] = [];
    const shell = new ScriptedShell([aRule(name => (asked.push(name), commanding(labelled(name))))]);
    const names = Array.from({ length: runningMax + 2 }, (_, index) => `c-${String(index).padStart(2, "0")}`);
    const [lastButOne = "", last = ""] = names.slice(-2);
    shell.server.hold(...names.map(name => rawNode(name)));
    const answers: (() => void)[] = [];
    shell.server.answers.push(({ verb }) =>
      verb === "patch" ? new Promise(resolve => answers.push(() => resolve(undefined))) : undefined,
    );
    await shell.begin(...names.map(name => rawClaim(name)));
    expect([asked, answers.length, shell.controller.waitingCount]).toEqual([names, runningMax, 2]);
    // Of the two that wait one changes.
    shell.feed.show(rawClaim(last, { resourceVersion: "2", generation: 2 }));
    await shell.clock.advance(60);
    asked.length = 0;
    for (const answer of answers.splice(0, 2)) answer();
    await shell.clock.advance(100);
    expect(answers).toHaveLength(runningMax);
    expect(shell.said("decided").slice(-2)).toMatchObject([
      { command: { node: { name: lastButOne } } },
      { command: { node: { name: last } } },
    ]);
    expect(asked).not.toContain(lastButOne);
  });

  test("that fails is decided anew when its lane is free, with what the server asked for heeded; the picture says why", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))]);
    shell.server.hold(rawNode("a"));
    const details = { retryAfterSeconds: 5 };
    shell.server.answers.push(({ verb }) =>
      verb === "patch" ? Promise.reject(refusal(429, "TooManyRequests", details)) : undefined,
    );
    await shell.begin(rawClaim("a"));
    const failure = shell.controller.picture.failure("node/a");
    expect(failure).toMatchObject({ reason: "TooManyRequests", count: 1 });
    expect(failure && failure.retryAt - failure.at).toBe(5000);
    await shell.clock.advance(4_900);
    expect(shell.server.writes).toHaveLength(1);
    shell.server.answers.length = 0;
    await shell.clock.advance(200);
    expect(shell.server.writes).toHaveLength(2);
    expect(shell.controller.picture.failure("node/a")).toBeUndefined();
  });

  test("whose effect is not seen is not sent again and again", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))]);
    shell.server.hold(rawNode("a"));
    await shell.begin(rawClaim("a"));
    await shell.clock.advance(60_000);
    // At 0, 1, 3, 7, 15 and 31 s.
    expect(shell.server.writes).toHaveLength(6);
  });

  test("counts from the moment it is sent, whatever the watch shows", async () => {
    const counts: number[] = [];
    const shell = new ScriptedShell([
      aRule(
        (_, { picture }) => {
          counts.push(picture.claimCountOfPool("p"));
          return picture.claimCountOfPool("p") < 1 ? commanding(creating("p-1")) : nothing;
        },
        { kind: "cluster" },
      ),
    ]);
    shell.server.answers.push(({ verb }) => (verb === "create" ? hung() : undefined));
    await shell.begin();
    await shell.clock.advance(100);
    expect(counts).toEqual([0, 1]);
    expect(shell.controller.picture.claim("p-1")?.isProvisional).toBe(true);
  });

  test("with an unknown result is sent again as it was until the answer is definite, and counts all the while", async () => {
    const shell = new ScriptedShell([
      aRule((_, { picture }) => (picture.claimCountOfPool("p") < 1 ? commanding(creating("p-1")) : nothing), {
        kind: "cluster",
      }),
    ]);
    const replies = [new Error("reset"), refusal(500, "InternalError"), refusal(409, "AlreadyExists")];
    shell.server.answers.push(({ verb }) => (verb === "create" ? Promise.reject(replies.shift()) : undefined));
    shell.server.hold(rawClaim("p-1", { labels: { "karpenter.sh/nodepool": "p" } }));
    shell.server.answers.push(({ verb, plural }) => {
      // It landed, and no watch or list has shown it yet.
      return verb === "list" && plural === "nodeclaims" ? { items: [], resourceVersion: "1" } : undefined;
    });
    await shell.begin();
    expect(shell.server.writes).toEqual(["create nodeclaims p-1"]);
    for (let second = 0; second < 10; second++) {
      await shell.clock.advance(1000);
      expect(shell.controller.picture.claimCountOfPool("p")).toBe(1);
    }
    expect(shell.server.writes).toEqual(Array.from({ length: 3 }, () => "create nodeclaims p-1"));
    expect(shell.said("ended").at(-1)).toMatchObject({ outcome: { result: "already-so" } });
    expect(shell.controller.picture.claim("p-1")?.isProvisional).toBeUndefined();
  });

  test("that has definitely failed counts no longer", async () => {
    let isWanted = true;
    const shell = new ScriptedShell([
      aRule(
        (_, { picture }) => (isWanted && picture.claimCountOfPool("p") < 1 ? commanding(creating("p-1")) : nothing),
        { kind: "cluster" },
      ),
    ]);
    shell.server.answers.push(({ verb }) =>
      verb === "create" ? Promise.reject(refusal(403, "Forbidden")) : undefined,
    );
    await shell.begin();
    isWanted = false;
    await shell.clock.advance(50);
    expect(shell.said("ended")).toMatchObject([{ outcome: { result: "refused", reason: "Forbidden" } }]);
    expect(shell.controller.picture.claimCountOfPool("p")).toBe(0);
  });

  test("of an earlier term whose result never came counts no longer: the lists of the new one tell", async () => {
    const shell = new ScriptedShell([
      aRule(
        (_, { picture, epoch }) =>
          epoch === 1 && picture.claimCountOfPool("p") < 1 ? commanding(creating("p-1")) : nothing,
        { kind: "cluster" },
      ),
    ]);
    shell.server.answers.push(({ verb }) => (verb === "create" ? Promise.reject(new Error("reset")) : undefined));
    await shell.begin();
    expect(shell.controller.picture.claimCountOfPool("p")).toBe(1);
    shell.leadership.become(2);
    await shell.clock.advance(60_000);
    expect(shell.controller.picture.claimCountOfPool("p")).toBe(0);
    expect(shell.server.writes).toHaveLength(1);
  });

  test("of an earlier term that ends without a result in the next one is not sent again, and counts no longer", async () => {
    const wanted = aRule(
      (_, { picture, epoch }) =>
        epoch === 1 && picture.claimCountOfPool("p") < 1 ? commanding(creating("p-1")) : nothing,
      { kind: "cluster" },
    );
    const shell = new ScriptedShell([wanted]);
    shell.server.answers.push(({ verb }) => (verb === "create" ? hung() : undefined));
    await shell.begin();
    shell.leadership.become(2);
    await shell.clock.advance(1000);
    expect(shell.controller.epoch).toBe(2);
    await shell.clock.advance(60_000);
    expect(shell.said("ended")).toMatchObject([{ outcome: { result: "retry", unknown: true } }]);
    expect(shell.server.writes).toHaveLength(1);
    expect(shell.controller.picture.claimCountOfPool("p")).toBe(0);
  });

  test("is finished when the shell stops, and none is begun after", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))]);
    let answer: (value: unknown) => void = () => {};
    shell.server.answers.push(({ verb }) =>
      verb === "patch" ? new Promise(resolve => (answer = resolve)) : undefined,
    );
    shell.server.hold(rawNode("a"), rawNode("b"));
    await shell.begin(rawClaim("a"));
    let isStopped = false;
    const stopping = shell.controller.stop().then(() => (isStopped = true));
    shell.feed.show(rawClaim("b"));
    await shell.clock.advance(1000);
    expect(isStopped).toBe(false);
    answer(rawNode("a"));
    await stopping;
    await shell.clock.advance(60_000);
    expect(shell.server.writes).toEqual(["patch nodes a"]);
    expect(shell.said("ended")).toHaveLength(1);
  });

  test("leaves the shell idle when it has ended and nothing follows", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)), { name: "once" })]);
    shell.server.hold(rawNode("a"));
    let answer: (value: unknown) => void = () => {};
    shell.server.answers.push(({ verb }) =>
      verb === "patch" ? new Promise(resolve => (answer = resolve)) : undefined,
    );
    await shell.begin(rawClaim("a"));
    let isIdle = false;
    void shell.controller.whenIdle().then(() => (isIdle = true));
    await shell.clock.advance(100);
    expect([isIdle, shell.controller.runningCount]).toEqual([false, 1]);
    answer(rawNode("a"));
    await shell.clock.advance(100);
    expect([isIdle, shell.controller.runningCount]).toEqual([true, 0]);
  });
});

describe("a stale picture", () => {
  const both = aRule(name => commanding(deleting(name), labelled(name)));

  test("begins nothing destructive, says so on the cluster, and goes on when the watch has caught up", async () => {
    const shell = new ScriptedShell([both]);
    shell.server.hold(rawNode("a"));
    shell.feed.sync();
    await shell.clock.advance(50);
    await shell.clock.advance(70_000);
    shell.feed.bookmark("pods");
    await shell.clock.advance(6_000);
    expect(shell.controller.refusals("cluster")).toMatchObject([
      { code: "picture-stale", message: expect.stringContaining("pods") },
    ]);
    shell.server.hold(rawClaim("a"));
    shell.feed.show(rawClaim("a"));
    await shell.clock.advance(500);
    expect(shell.server.writes).toEqual(["patch nodes a"]);
    shell.feed.bookmark();
    await shell.clock.advance(1_100);
    expect(shell.server.writes).toContain("delete nodeclaims a");
    expect(shell.controller.refusals("cluster")).toEqual([]);
    expect(shell.said("lifted")).toMatchObject([{ refusal: { code: "picture-stale" } }]);
  });

  test("is one with a kind that is being listed anew, too", async () => {
    const shell = new ScriptedShell([both]);
    await shell.begin();
    shell.feed.lose("nodes");
    shell.server.hold(rawNode("a"), rawClaim("a"));
    shell.feed.show(rawClaim("a"));
    await shell.clock.advance(100);
    expect(shell.server.writes).toEqual(["patch nodes a"]);
    shell.feed.sync();
    await shell.clock.advance(1_100);
    expect(shell.server.writes).toContain("delete nodeclaims a");
  });

  test("does not send again what is destructive and has an unknown result", async () => {
    const shell = new ScriptedShell([
      aRule((name, { picture }) => (picture.claim(name)?.deletingSince ? nothing : commanding(deleting(name)))),
    ]);
    shell.server.answers.push(({ verb }) => (verb === "delete" ? Promise.reject(new Error("reset")) : undefined));
    await shell.begin(rawClaim("a"));
    expect(shell.server.writes).toHaveLength(1);
    shell.feed.lose("nodes");
    await shell.clock.advance(10_000);
    expect(shell.server.writes).toHaveLength(1);
    shell.feed.sync();
    await shell.clock.advance(2_500);
    expect(shell.server.writes).toHaveLength(2);
  });
});

describe("a dry run", () => {
  const settings = { cluster: "test", dryRun: true, foreignClaims: "ignore" } as const;
  const every = aRule(name => commanding(deleting(name), labelled(name)));

  test("shows each decision once and writes nothing", async () => {
    const shell = new ScriptedShell([every], { settings });
    shell.server.hold(rawNode("a"));
    await shell.begin(rawClaim("a"));
    shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { changed: "1" } }));
    await shell.clock.advance(60_000);
    expect(shell.server.writes).toEqual([]);
    expect(shell.said("decided")).toMatchObject([
      { command: { kind: "delete-claim" } },
      { command: { kind: "update-node" } },
    ]);
    expect(shell.said("ended")).toEqual([]);
    expect(shell.controller.picture.claim("a")?.deletingSince).toBeUndefined();
  });

  test("tells nobody that a pod was asked to leave; once it is over, it is asked and told", async () => {
    const pod = { namespace: "default", name: "web", uid: "web-uid" };
    const told = (about: Notice["about"], reason: string): Notice => ({ about, type: "Normal", reason, message: "." });
    const notices = [
      told({ kind: "Pod", ...pod }, "Evicted"),
      told({ kind: "Pod", ...pod, name: "held" }, "InvalidDoNotDisruptAnnotation"),
      told({ kind: "Node", ...target("n") }, "FailedDraining"),
    ];
    const evict: Command = { kind: "evict-pod", pod, why: "its node goes" };
    const shell = new ScriptedShell([aRule(() => ({ ...commanding(evict), notices }))]);
    const rival = { holder: "karpenter-0", namespace: "kube-system" };
    shell.controller.setRival(rival);
    await shell.begin(rawClaim("a"));
    const [ofPod, ofAnother, ofNode] = notices;
    expect(shell.said("noticed")).toMatchObject([{ notice: ofAnother }, { notice: ofNode }]);
    shell.controller.setRival(undefined);
    await shell.clock.advance(50);
    expect(shell.said("noticed")).toMatchObject([{ notice: ofAnother }, { notice: ofNode }, { notice: ofPod }]);
    expect(shell.said("ended")).toMatchObject([{ command: evict }]);
  });

  test("shows again what was decided otherwise in between", async () => {
    const rule = aRule((name, { picture }) =>
      picture.claim(name)?.labels["off"] ? nothing : commanding(labelled(name)),
    );
    const shell = new ScriptedShell([rule], { settings });
    await shell.begin(rawClaim("a"));
    for (const labels of [{ off: "1" }, {}]) {
      shell.feed.show(rawClaim("a", { resourceVersion: JSON.stringify(labels).length.toString(), labels }));
      await shell.clock.advance(50);
    }
    expect(shell.said("decided")).toHaveLength(2);
  });

  test("writes its own records, and asks the provider: nothing of that is real", async () => {
    const node = { name: "n", uid: "n-uid" };
    const spec = {
      node,
      action: "Repair",
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "p" },
      message: "sick",
      evidence: [],
      decidedAt: "",
      epoch: 1,
      dryRun: true,
    } as const;
    const listed: string[] = [];
    const provider = scriptedProvider({ list: cluster => (listed.push(cluster), Promise.resolve([])) });
    const rule = aRule(
      (_, { picture }) => {
        const shown = picture.action("repair-n");
        if (shown === undefined) {
          const open: Command = {
            kind: "open-action",
            name: "repair-n",
            spec: { ...spec, evidence: [] },
            phase: "DryRun",
            why: "",
          };
          const real: Command = { ...open, name: "real-n", phase: "Pending" };
          return commanding(open, real, { kind: "list-instances", why: "" });
        }
        if (shown.isProvisional || shown.status.phase !== "DryRun") return nothing;
        const { name, uid, resourceVersion } = shown;
        return commanding({
          kind: "update-action",
          action: { name, uid },
          resourceVersion,
          progress: { phase: "Abandoned" },
          why: "",
        });
      },
      { kind: "cluster" },
    );
    const shell = new ScriptedShell([rule], { settings, provider });
    await shell.begin();
    await shell.clock.advance(500);
    expect(shell.server.writes.slice(0, 3)).toEqual([
      "create nodeactions repair-n",
      "patch nodeactions/status repair-n",
      "patch nodeactions/status repair-n",
    ]);
    expect(listed).toEqual(["test"]);
  });

  const policy = (dryRun: boolean, resourceVersion: string) => ({
    ...rawNode("default", { resourceVersion, generation: Number(resourceVersion) }),
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    spec: { dryRun },
  });

  test("that the SafetyPolicy asks for is said on an action that runs, and nothing else is written on it", async () => {
    const shell = new ScriptedShell([ledgerRule]);
    await shell.begin(rawNode("n"), rawAction("repair-n", 1), policy(true, "1"));
    await shell.clock.advance(1000);
    const writes = shell.server.calls.filter(({ verb, plural }) => verb === "patch" && plural === "nodeactions");
    expect(writes).toMatchObject([{ options: { subresource: "status" }, body: { status: { waitingFor } } }]);
    expect(shell.controller.refusals("action/repair-n")).toMatchObject([{ code: "dry-run" }]);
  });

  test("that the SafetyPolicy asks for ends when it no longer does", async () => {
    const shell = new ScriptedShell([aRule(name => commanding(labelled(name)))]);
    shell.server.hold(rawNode("a"));
    await shell.begin(rawClaim("a"), policy(true, "1"));
    await shell.clock.advance(1000);
    expect(shell.server.writes.filter(write => write.includes("nodes"))).toEqual([]);
    shell.feed.show(policy(false, "2"));
    await shell.clock.advance(100);
    expect(shell.server.writes.filter(write => write.includes("nodes"))).toEqual(["patch nodes a"]);
  });
});

test("since when something is refused is known while it is, whatever the sentence says by then", async () => {
  let message = "Not yet.";
  let isRefused = true;
  const shell = new ScriptedShell([aRule(name => (isRefused ? refusing(name, { message }) : nothing))]);
  await shell.begin(rawClaim("a"));
  const [first] = shell.controller.refusals("claim/a");
  const since = first && shell.controller.refusedSince(first);
  expect(since).toBeLessThanOrEqual(shell.clock.now());
  await shell.clock.advance(5000);
  message = "Still not.";
  shell.feed.show(rawClaim("a", { resourceVersion: "2", labels: { touched: "once" } }));
  await shell.clock.advance(100);
  const [second] = shell.controller.refusals("claim/a");
  expect([second?.message, second && shell.controller.refusedSince(second)]).toEqual(["Still not.", since]);
  isRefused = false;
  shell.feed.show(rawClaim("a", { resourceVersion: "3", labels: { touched: "twice" } }));
  await shell.clock.advance(100);
  expect(first && shell.controller.refusedSince(first)).toBeUndefined();
});
