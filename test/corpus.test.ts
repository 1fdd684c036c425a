// The corpus without a cluster: `fettle validate` and the embedded API say of each manifest what is written beside it,
// and no bound of any kind goes untried.

import { describe, expect, test } from "vitest";
import { checkManifest } from "../src/api/check.ts";
import { kinds } from "../src/api/kinds.ts";
import { offlineCodes } from "../src/api/offline-finding.ts";
import { offlineFindings } from "../src/api/offline.ts";
import { parseManifests } from "../src/cli/manifest-text.ts";
import { type Bound, boundsOf, met, overstepped } from "./corpus/bounds.ts";
import { corpus } from "./corpus/corpus.ts";
import { embeddedServer } from "./corpus/embedded.ts";
import type { Entry } from "./corpus/entry.ts";
import { ofOtherKinds } from "./corpus/files.ts";
import { type Finding, type Judgement, judge } from "./corpus/judge.ts";
import { unknownKinds } from "./corpus/metadata.ts";
import { refusedOffline } from "./corpus/offline.ts";
import {
  defaulted,
  type Outcome,
  servedOutcome,
  validatedOutcome,
  withoutGeneratedName,
  writtenOutcome,
} from "./corpus/outcome.ts";
import { neverMet, neverOverstepped, type Unreachable } from "./corpus/unreachable.ts";
import { unreadable } from "./corpus/yaml.ts";

const entries: readonly Entry[] = corpus.flatMap(table => table.entries);

const server = embeddedServer();
const judgements = new Map<Entry, Promise<Judgement>>();

/** Asked once: several tests look at the answers. */
function judged(entry: Entry): Promise<Judgement> {
  const answer = judgements.get(entry) ?? judge(server, entry);
  judgements.set(entry, answer);
  return answer;
}

describe("fettle validate", () => {
  // What a change may be, and what a status, only a server can know.
  const written = corpus
    .map(({ title, entries }) => ({ title, entries: entries.filter(entry => entry.stored === undefined) }))
    .filter(table => table.entries.length > 0);

  test.each(written)("$title", table => {
    expect(table.entries.map(validatedOutcome)).toEqual(table.entries.map(entry => writtenOutcome(entry, "validate")));
  });

  test("leaves objects of other kinds alone", () => {
    expect(ofOtherKinds.map(({ manifest }) => checkManifest(manifest).ours)).toEqual([false, false, false, false]);
  });

  test.each(unknownKinds)("knows no such thing: $title", ({ manifest, at }) => {
    expect(checkManifest(manifest).findings.map(({ path }) => path)).toEqual([at]);
  });

  test.each(unreadable)("cannot read $title, and says so", ({ yaml }) => {
    expect(parseManifests("corpus", new TextEncoder().encode(yaml))).toMatchObject([{ problem: expect.any(String) }]);
  });
});

describe("the embedded API", () => {
  test.each(corpus)("$title", async table => {
    const outcomes: Outcome[] = [];
    for (const entry of table.entries) outcomes.push(servedOutcome(entry, await judged(entry)));
    expect(outcomes).toEqual(table.entries.map(entry => writtenOutcome(entry, "server")));
  });

  test("stores what fettle validate says that it would", async () => {
    for (const entry of entries.filter(({ stored }) => stored === undefined)) {
      const judgement = await judged(entry);
      if (!judgement.accepted) continue;
      const object = withoutGeneratedName(judgement.object);
      expect({ title: entry.title, object }).toEqual({ title: entry.title, object: defaulted(entry) });
    }
  });
});

describe.each(kinds)("of the bounds of $resource.kind", kind => {
  const bounds = boundsOf(kind);
  const own = entries.filter(({ manifest }) => manifest.kind === kind.resource.kind);
  const nameOf = ({ path, name }: Bound) => `${kind.resource.kind} ${path} ${name}`;
  const isListed = (bound: Bound, list: readonly Unreachable[]) => list.some(entry => entry.bound.test(nameOf(bound)));

  test("each is overstepped by an entry that is refused for it", async () => {
    const findings: Finding[] = [];
    for (const entry of own.filter(({ verdict }) => verdict.kind === "refused")) {
      const answer = await judged(entry);
      if (!answer.accepted) findings.push(...answer.findings);
    }
    const reached = overstepped(bounds, findings, kind.schema);
    const missed = bounds.filter(bound => !reached.has(bound));
    expect(missed.map(nameOf)).toEqual(bounds.filter(bound => isListed(bound, neverOverstepped)).map(nameOf));
  });

  test("each is met exactly by an entry that is accepted", () => {
    const manifests = own.filter(({ verdict }) => verdict.kind !== "refused").map(({ manifest }) => manifest);
    const reached = met(bounds, manifests, kind.schema);
    const missed = bounds.filter(bound => !reached.has(bound));
    expect(missed.map(nameOf)).toEqual(bounds.filter(bound => isListed(bound, neverMet)).map(nameOf));
  });
});

test("no bound is excused that there is not", () => {
  const names = kinds.flatMap(kind => boundsOf(kind).map(({ path, name }) => `${kind.resource.kind} ${path} ${name}`));
  const stale = [...neverOverstepped, ...neverMet].filter(({ bound }) => !names.some(name => bound.test(name)));
  expect(stale).toEqual([]);
});

describe("the corpus itself", () => {
  test("is large enough on both sides, and calls no two entries of a table the same", () => {
    const accepted = entries.filter(({ verdict }) => verdict.kind === "accepted").length;
    expect({ accepted: accepted >= 300, refused: entries.length - accepted >= 300 }).toEqual({
      accepted: true,
      refused: true,
    });
    const names = corpus.flatMap(({ title, entries }) => entries.map(entry => `${title}: ${entry.title}`));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("lists what only fettle validate refuses in one table, with every reason for it", () => {
    const elsewhere = corpus
      .filter(table => table !== refusedOffline)
      .filter(table => table.entries.some(({ verdict }) => verdict.kind === "refused-offline"));
    expect(elsewhere.map(({ title }) => title)).toEqual([]);
    const given = new Set(
      refusedOffline.entries.flatMap(({ manifest }) => {
        const { kind, defaulted: object = {} } = checkManifest(manifest);
        return offlineFindings(kind ?? "", object).flatMap(({ severity, code }) => (severity === "error" ? code : []));
      }),
    );
    const errors = Object.entries(offlineCodes).filter(([, { severity }]) => severity === "error");
    expect([...given].sort()).toEqual(errors.map(([code]) => code).sort());
  });
});
