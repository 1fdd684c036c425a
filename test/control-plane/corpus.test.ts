// The corpus on a real API server: it says of each manifest what we say, of the same fields, in the same words, and
// makes of each that it takes the object that we make of it.

import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodePools } from "../../src/api/node-pool.ts";
import { manifestsByChance } from "../corpus/by-chance.ts";
import { corpus } from "../corpus/corpus.ts";
import { embeddedServer } from "../corpus/embedded.ts";
import type { Entry } from "../corpus/entry.ts";
import { type Judgement, judge, type Server } from "../corpus/judge.ts";
import { unknownKinds } from "../corpus/metadata.ts";
import { defaulted, onlineOutcome, servedOutcome, withoutGeneratedName, writtenOutcome } from "../corpus/outcome.ts";
import { realServer } from "../corpus/real.ts";
import { unreadable } from "../corpus/yaml.ts";
import { isUnavailable } from "./binaries.ts";
import { established } from "./established.ts";
import { type ControlPlane, controlPlane } from "./start.ts";

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kubectl"))("on a real API server", () => {
  let plane: ControlPlane;
  let real: Server;
  const embedded = embeddedServer();

  // Its own: there can be only one SafetyPolicy, and other suites have theirs.
  beforeAll(async () => {
    plane = await controlPlane();
    real = realServer(plane);
    await kubectl(plane, ["create", "-f", join(import.meta.dirname, "../../deploy/crds")]);
    await established(plane);
  });
  afterAll(() => plane.stop());

  test.each(corpus)("$title", async ({ entries }) => {
    const theirs = await judgeAll(real, entries);
    expect(theirs.map(({ entry, judgement }) => servedOutcome(entry, judgement))).toEqual(
      entries.map(entry => writtenOutcome(entry, "server")),
    );
    expect(answersOf(await judgeAll(embedded, entries))).toEqual(answersOf(theirs));
    for (const { entry, judgement } of theirs) {
      if (entry.stored !== undefined || !judgement.accepted) continue;
      const object = withoutGeneratedName(judgement.object);
      expect({ title: entry.title, object }).toEqual({ title: entry.title, object: defaulted(entry) });
    }
  });

  test("manifests by chance: the same verdict, fields, words and defaults from all three", async () => {
    const agree = fc.asyncProperty(manifestsByChance(), async manifest => {
      const entry: Entry = { title: "by chance", manifest, verdict: { kind: "accepted" } };
      const [theirs, ours] = await Promise.all([judge(real, entry), judge(embedded, entry)]);
      expect(ours).toEqual(theirs);
      expect(onlineOutcome(entry)).toEqual(servedOutcome(entry, theirs));
      if (theirs.accepted) expect(defaulted(entry)).toEqual(theirs.object);
    });
    await fc.assert(agree, { numRuns: 1500 });
  });

  test.each(unknownKinds)("kubectl knows no such thing: $title", async ({ manifest }) => {
    const { code } = await plane.kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(manifest));
    expect(code).toBe(1);
  });

  test.each(unreadable)("nobody can read $title", async ({ yaml }) => {
    const { resource } = nodePools;
    expect(await real.send({ verb: "create", resource, dryRun: true, body: yaml })).toMatchObject({ code: 400 });
  });
});

type Judged = { entry: Entry; judgement: Judgement };

/** What is new at once; changes one after the other, because each stores an object first. */
async function judgeAll(server: Server, entries: readonly Entry[]): Promise<Judged[]> {
  const judged = async (entry: Entry): Promise<Judged> => ({ entry, judgement: await judge(server, entry) });
  const outcomes = await Promise.all(entries.filter(({ stored }) => stored === undefined).map(judged));
  for (const entry of entries.filter(({ stored }) => stored !== undefined)) outcomes.push(await judged(entry));
  return entries.flatMap(entry => outcomes.find(outcome => outcome.entry === entry) ?? []);
}

const answersOf = (judged: readonly Judged[]) => judged.map(({ entry, judgement }) => [entry.title, judgement]);

async function kubectl(plane: ControlPlane, args: readonly string[]): Promise<void> {
  const { code, stderr } = await plane.kubectl(args);
  if (code !== 0) throw new Error(stderr);
}
