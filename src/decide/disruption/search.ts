// Where the pods of nodes that may go would run: the answers to all that is asked at once, each beside those before it, so
// that no room is promised twice. It reads the picture when it begins; what changes meanwhile undoes what rests on it.

import { type Pod, podKey } from "../../api/pod.ts";
import { type Instant, type Millis, minuteMs } from "../../api/time.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { FoundMove, Move, MoveScore, MovesFound, Stay } from "../../snapshot/moves.ts";
import { type PlannedClaim, poolVersion } from "../../snapshot/placement.ts";
import type { ActionView } from "../../snapshot/views.ts";
import { claimFor, claimNames, isNameTaken } from "../claim-manifest.ts";
import type { Context } from "../decision.ts";
import { fingerprintOf } from "../fingerprint.ts";
import { servedClass } from "../node-class.ts";
import type { NewNode } from "../packing/answer.ts";
import type { Effort } from "../packing/effort.ts";
import type { Picture as Packing } from "../packing/picture.ts";
import { shortForm } from "../packing/reasons.ts";
import { Trial } from "../packing/trial.ts";
import type { Offers } from "../provisioning/offers.ts";
import { plannedClaim } from "../provisioning/plan.ts";
import { consolidate } from "./consolidation/consolidate.ts";
import type { KnownStays } from "./consolidation/known-stays.ts";
import type { Saving } from "./consolidation/question.ts";
import type { KnownStuck } from "./known-stuck.ts";
import { Promises } from "./search-promises.ts";
import { type DueNode, gather, type Questions } from "./search-questions.ts";
import { Prices } from "./search-prices.ts";
import { pricesOf, unpaidBy } from "./search-worth.ts";
import { nextOf } from "../termination-step.ts";

/** As upstream looks again at what it had found consolidated: so late at most is noticed what no room that grew tells of. */
const completeEveryMs: Millis = 5 * minuteMs;

export type MoveSearchInput = {
  readonly picture: ClusterPicture;
  /** As it was brought up to date right before. */
  readonly packing: Packing;
  readonly offers: Offers;
  /** Pods that want a node and have none. */
  readonly waiting: readonly Pod[];
  readonly context: Context;
  readonly effort: Effort;
  /** Somebody else needs the packing picture: what was found so far is the answer. */
  readonly isStopped: () => boolean;
  readonly known: KnownStays;
  readonly stuck: KnownStuck;
};

export function* searchMoves(input: MoveSearchInput): Generator<void, MovesFound> {
  const run = new MoveRun(input);
  try {
    return yield* run.answers();
  } finally {
    run.undo();
  }
}

class MoveRun {
  readonly #input: MoveSearchInput;
  readonly #prices: Prices;
  readonly #gone = new Set<number>();
  readonly #trials: Trial[] = [];
  readonly #promises: Promises;
  readonly #found: FoundMove[] = [];
  readonly #taken = new Set<string>();
  /** Nodes onto which pods would go: they do not go themselves for money. */
  readonly #targets = new Set<string>();
  readonly #at: Instant;
  /** When those that are put off by a wave of pods may be judged. */
  #calmAt: Instant | undefined;
  #scores: readonly MoveScore[] = [];
  /** When those that were not judged now will be. */
  #completeAt: Instant | undefined;

  constructor(input: MoveSearchInput) {
    this.#input = input;
    this.#at = input.context.now;
    this.#prices = new Prices(input.picture.provider);
    this.#promises = new Promises(input.packing, this.#gone);
  }

  *answers(): Generator<void, MovesFound> {
    const { picture, context, effort } = this.#input;
    const questions = yield* gather({ picture, context, prices: this.#prices }, effort);
    const isAsked = askedAgain(questions);
    for (const found of picture.standingMoves().all()) {
      if (found.move.stuck.length > 0 || found.move.nodes.some(({ name }) => isAsked.has(name))) continue;
      this.#promises.keep(found);
      for (const name of found.places.values()) this.#targets.add(name);
      effort.work += 5 + 2 * found.move.podCount;
      yield;
    }
    const unanswered: string[] = [];
    for (const [batch, actions] of questions.plans) yield* this.#judgeAgain(batch, actions, questions);
    for (const actions of questions.comingPlans.values()) yield* this.#reserve(actions, questions);
    yield* this.#placeAll(questions, unanswered);
    const stays = new Map<string, Stay>();
    for (const { uid } of questions.unpriced) stays.set(uid, this.#stay(uid, "nobody knows what it costs"));
    yield* this.#consolidated(questions, { stays, unanswered });
    const lookAgainAt = nextOf(this.#at, [this.#input.offers.lookAgainAt, this.#completeAt, this.#calmAt]);
    return { at: this.#at, moves: this.#found, stays, unanswered, lookAgainAt, scores: this.#scores };
  }

  undo(): void {
    for (const trial of this.#trials.splice(0).toReversed()) trial.undo();
    this.#promises.undo();
    this.#input.packing.hosts.sort();
  }

  /**
   * Only onto nodes that are there, as it was planned: each pod where it was to go, if it still may. Found anew in another
   * order, what is made to measure may not hold all, and machines would have come for nothing.
   */
  *#judgeAgain(batch: string, actions: readonly ActionView[], questions: Questions): Generator<void, void> {
    const nodes = actions.map(({ spec }) => spec.node);
    const [first] = actions;
    if (first === undefined) return;
    const stayers = new Set(lasting(questions));
    const leavers = questions.targets.filter(name => !stayers.has(name));
    const targets = [...stayers, ...(questions.reserved.get(batch) ?? []), ...leavers];
    this.#arrange(targets, nodes);
    const planned = this.#plannedPlaces(nodes, new Set(targets));
    const trial = this.#trial();
    yield* trial.takeAway(this.#hostsOf(nodes));
    const left = yield* trial.ontoHosts(() => false, planned);
    const stuck = left.map(pod => ({ pod: podKey(pod), short: "no node that is there has room for it" }));
    const action = first.spec.action as Move["action"];
    const { podCount } = trial;
    const price = pricesOf(actions, { picture: this.#input.picture, prices: this.#prices });
    const unpaid = unpaidBy(actions, price, { podCount, termsByPool: questions.termsByPool });
    const answer = { batch, action, nodes, claims: [], stuck, places: trial.places(), podCount };
    this.#note({ ...answer, ...(unpaid === undefined ? {} : { unpaid }) }, price.after);
  }

  /** By the pods' names; whoever leads since then knows of none. */
  #plannedPlaces(nodes: readonly { readonly name: string }[], targets: ReadonlySet<string>): Map<string, number> {
    const { picture, packing } = this.#input;
    const moves = picture.standingMoves();
    const planned = new Map<string, number>();
    for (const pod of nodes.flatMap(({ name }) => [...picture.podsOn(name)])) {
      const place = moves.plannedPlaceOf(pod) ?? "";
      const index = targets.has(place) ? packing.hosts.indexByName.get(place) : undefined;
      if (index !== undefined) planned.set(`${pod.namespace}/${pod.name}`, index);
    }
    return planned;
  }

  /** Who will not fit onto what is there goes onto what was launched for them. */
  *#reserve(actions: readonly ActionView[], questions: Questions): Generator<void, void> {
    const nodes = actions.map(({ spec }) => spec.node);
    this.#arrange(lasting(questions), nodes);
    const trial = this.#trial();
    yield* trial.takeAway(this.#hostsOf(nodes));
    yield* trial.ontoHosts(() => false);
    for (const name of trial.places().values()) this.#targets.add(name);
  }

  /** Who had no place, and to whom nothing that has come since could be of use, is not tried again. */
  *#placeAll(questions: Questions, unanswered: string[]): Generator<void, void> {
    const { packing, picture, effort, isStopped, stuck } = this.#input;
    if (questions.due.length === 0) return;
    if (this.#at >= stuck.completeAt + completeEveryMs) stuck.forget(this.#at);
    yield* stuck.begin(
      packing,
      questions.targets.filter(name => this.#isFree(name)),
      effort,
    );
    for (const one of questions.due) {
      const { name, uid } = one.candidate.node;
      if (isStopped()) unanswered.push(name);
      else if (picture.moveOf(uid) !== undefined && stuck.isStill(name, packing, effort)) {
        this.#completeAt = stuck.completeAt + completeEveryMs;
      } else yield* this.#place(one, questions);
      yield;
    }
    stuck.end(packing, this.#gone);
  }

  /** Others that are due as well take its pods only if nobody else can: they would have to move again. */
  *#place({ candidate, reason }: DueNode, questions: Questions): Generator<void, void> {
    const { node, pool } = candidate;
    const common = { batch: this.#batch(reason.action, [node]), action: reason.action, nodes: [node] };
    if (pool.effective.replicas !== undefined) {
      this.#note({ ...common, claims: this.#oneForOne(candidate), stuck: [], places: new Map(), podCount: 0 });
      return;
    }
    const trial = this.#trial();
    yield* trial.takeAway(this.#hostsOf([node]));
    this.#arrange(lasting(questions), [node]);
    let answer = yield* trial.anywhere();
    if (answer.unplaced.length > 0) {
      this.#arrange(questions.targets, [node]);
      answer = yield* trial.anywhere();
    }
    const { podCount } = trial;
    const stuck = answer.unplaced.map(({ pod, reason: why }) => ({ pod: podKey(pod), short: shortForm(why) }));
    if (stuck.length > 0) {
      this.#dropLast();
      this.#input.stuck.note(node.name, this.#input.packing);
      // It rests on no place: those that others of its pods would have had may come and go.
      this.#note({ ...common, claims: [], stuck, places: new Map(), podCount });
      return;
    }
    const claims = answer.newNodes.map(one => this.#planned(one));
    this.#note({ ...common, claims, stuck, places: trial.places(), podCount });
    trial.keep();
  }

  *#consolidated(
    questions: Questions,
    { stays, unanswered }: { stays: Map<string, Stay>; unanswered: string[] },
  ): Generator<void, void> {
    const { packing, picture, context, effort, isStopped, waiting, known } = this.#input;
    const { termsByPool, targets, youngOnes } = questions;
    const savers = this.#notPutOff(questions, stays);
    if (savers.length === 0) return;
    const takers = savers.filter(({ name }) => this.#targets.has(name));
    for (const { uid } of takers.flatMap(({ name }) => picture.node(name) ?? [])) {
      stays.set(uid, this.#stay(uid, "it takes pods of other nodes"));
    }
    const question = {
      candidates: savers.filter(({ name }) => this.#isFree(name) && !this.#targets.has(name)),
      termsByPool,
      targets: targets.filter(name => this.#isFree(name) && !youngOnes.has(name)),
      spotToSpot: context.settings.spotToSpot === true,
      waiting,
    };
    if (this.#at >= known.completeAt + completeEveryMs) known.forget(this.#at);
    const verdict = yield* consolidate(packing, question, { effort, isStopped, known });
    if (verdict.judgedCount < question.candidates.length) {
      const completeAt = known.completeAt + completeEveryMs;
      this.#completeAt = Math.min(this.#completeAt ?? completeAt, completeAt);
    }
    this.#scores = verdict.scores;
    for (const saving of verdict.savings) this.#noteSaving(saving);
    for (const [name, short] of verdict.stays) {
      const node = picture.node(name);
      if (node !== undefined) stays.set(node.uid, this.#stay(node.uid, short));
    }
    unanswered.push(...verdict.unanswered);
  }

  /** Not on its way out by what was found before. */
  #isFree(name: string): boolean {
    return !this.#gone.has(this.#input.packing.hosts.indexByName.get(name) ?? -1);
  }

  /** Who is due before the wave is over waits with the others; the last of them asks for the search that judges all. */
  #notPutOff({ savers, soon, unrest }: Questions, stays: Map<string, Stay>): Questions["savers"] {
    const { picture } = this.#input;
    const { endsAt } = unrest;
    const isPutOff = (uid: string) => {
      const stay = unrest.puttingOff(uid, { picture, now: this.#at });
      if (stay === undefined) return false;
      stays.set(uid, stay);
      this.#calmAt = endsAt;
      return true;
    };
    if (endsAt !== undefined) for (const { uid, dueAt } of soon) if (dueAt < endsAt) isPutOff(uid);
    return savers.filter(({ name }) => !isPutOff(picture.node(name)?.uid ?? ""));
  }

  /** What is said again is no news: nobody need look at it. */
  #stay(uid: string, short: string): Stay {
    const before = this.#input.picture.stayOf(uid);
    return before?.short === short ? before : { short, at: this.#at };
  }

  #noteSaving({ nodes: names, newNodes, places, podCount, price }: Saving): void {
    const nodes = names.flatMap(name => this.#input.picture.node(name) ?? []);
    const batch = this.#batch("Consolidation", nodes);
    const claims = newNodes.map(one => this.#planned(one));
    this.#note({ batch, action: "Consolidation", nodes, claims, stuck: [], places, podCount }, price.after);
  }

  #note(answer: Omit<Move, "price" | "at"> & Pick<FoundMove, "places">, after = 0): void {
    const { picture } = this.#input;
    const { places, ...rest } = answer;
    const nodes = rest.nodes.map(({ name, uid }) => ({ name, uid }));
    const views = nodes.flatMap(({ name }) => picture.node(name) ?? []);
    const claims = views.flatMap(view => picture.claimOf(view) ?? []);
    const before = claims.reduce((sum, claim) => sum + (this.#prices.of(claim) ?? 0), 0);
    const pools = new Set([...claims.flatMap(({ pool }) => pool ?? []), ...rest.claims.map(({ pool }) => pool)]);
    const versions = [...pools].flatMap(name => {
      const pool = picture.pool(name);
      return pool === undefined ? [] : [[name, poolVersion(pool)] as const];
    });
    const move = { ...rest, nodes, price: { before, after }, at: this.#at };
    this.#found.push({ move, places, poolVersions: new Map(versions) });
    for (const name of places.values()) this.#targets.add(name);
  }

  #planned(node: NewNode): PlannedClaim {
    const offered = this.#input.offers.offeredByName.get(node.pool);
    if (offered === undefined) throw new Error(`Pool ${node.pool} was not among those asked about.`);
    const isTaken = (name: string) => this.#taken.has(name) || isNameTaken(name, this.#input.picture);
    const claim = plannedClaim(node, offered, { now: this.#at, isTaken });
    this.#taken.add(claim.name);
    return claim;
  }

  /** A pool with `replicas` has its node replaced by one as its template says, whatever runs there. */
  #oneForOne({ node, pool }: DueNode["candidate"]): readonly PlannedClaim[] {
    const nodeClass = servedClass(pool.effective.template.nodeClassRef, this.#input.picture.provider);
    if (nodeClass === undefined) return [];
    const isTaken = (name: string) => this.#taken.has(name) || isNameTaken(name, this.#input.picture);
    const [name = pool.name] = claimNames(pool, { count: 1, salt: `${this.#at} ${node.uid}`, isTaken });
    this.#taken.add(name);
    const manifest = claimFor(pool, name, nodeClass);
    return [{ name, pool: pool.name, poolVersion: poolVersion(pool), manifest, pods: [], capacity: {}, at: this.#at }];
  }

  #batch(action: Move["action"], nodes: readonly { readonly uid: string }[]): string {
    return `${action.toLowerCase()}-${fingerprintOf([this.#at, ...nodes.map(({ uid }) => uid)])}`;
  }

  #trial(): Trial {
    const { packing: picture, effort } = this.#input;
    const trial = new Trial({ picture, gone: this.#gone, effort });
    this.#trials.push(trial);
    return trial;
  }

  #dropLast(): void {
    this.#trials.pop()?.undo();
  }

  #arrange(targets: readonly string[], leaving: readonly { readonly name: string }[]): void {
    const { hosts } = this.#input.packing;
    const out = new Set(leaving.map(({ name }) => name));
    const names = targets.filter(name => !out.has(name));
    hosts.arrange(names.flatMap(name => hosts.indexByName.get(name) ?? []));
    this.#input.effort.work += targets.length * 0.2;
  }

  #hostsOf(nodes: readonly { readonly name: string }[]): readonly number[] {
    return nodes.flatMap(({ name }) => this.#input.packing.hosts.indexByName.get(name) ?? []);
  }
}

/** Targets that are not due to go themselves. */
function lasting({ targets, due }: Questions): readonly string[] {
  const isDue = new Set(due.map(({ candidate }) => candidate.node.name));
  return targets.filter(name => !isDue.has(name));
}

/** Whose earlier answer, if any, is not what is wanted. */
function askedAgain({ plans, comingPlans, due, savers }: Questions): ReadonlySet<string> {
  const planned = [...plans.values(), ...comingPlans.values()].flatMap(actions =>
    actions.map(({ spec }) => spec.node.name),
  );
  return new Set([...planned, ...due.map(({ candidate }) => candidate.node.name), ...savers.map(({ name }) => name)]);
}
