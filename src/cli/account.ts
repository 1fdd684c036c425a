// A live account of a controller in the terminal. What happens to many at once is told in one line, a wait that is over
// in a moment not at all, and every instant as the time of the story: its clock is not the reader's.

import pc from "picocolors";
import { type Instant, type Millis, minuteMs, parseTime, secondMs } from "../api/time.ts";
import type { Clock } from "../control/ports.ts";
import type { JournalEntry, Refusal } from "../decide/decision.ts";
import { elapsed } from "../sim/simulation/journal.ts";
import type { Picture } from "../snapshot/picture.ts";
import { type AccountLine, accountLine } from "../view/account-line.ts";
import type { Io } from "./io.ts";

const togetherMs: Millis = 2 * secondMs;
const patienceMs: Millis = 45 * secondMs;
const sumEveryMs: Millis = 5 * minuteMs;
const namedMax = 3;

type Group = { readonly tone: AccountLine["tone"]; readonly message: string; readonly objects: Set<string> };

export class Account {
  readonly #clock: Clock;
  readonly #io: Pick<Io, "out" | "colour">;
  readonly #startedAt: Instant;
  readonly #groupByKey = new Map<string, Group>();
  /** What is refused now, by subject and code, as it was last put. */
  readonly #waits = new Map<string, AccountLine>();
  /** Who has come and gone: an eviction that is sent twice is one. */
  readonly #told = new Set<string>();
  #sum = "";

  constructor(clock: Clock, io: Pick<Io, "out" | "colour">) {
    this.#clock = clock;
    this.#io = io;
    this.#startedAt = clock.now();
  }

  record(entry: JournalEntry): void {
    if (entry.event === "lifted") this.#waits.delete(keyOf(entry.refusal));
    const line = accountLine(entry);
    if (line === undefined) return;
    if (entry.event === "refused") this.#tellIfItLasts(entry.refusal, line);
    else this.#tell(line);
  }

  /** What people and the world do. */
  say(text: string): void {
    this.#flush();
    this.#print(this.#colours.bold(`▶ ${text}`));
  }

  /** Now and then how many there are, where that has changed; the returned function ends it. */
  sumUp(picture: Picture): () => void {
    let cancel = () => {};
    const next = () => {
      const waits = this.#waits.size === 0 ? "nothing waits" : `${this.#waits.size} waiting`;
      const nodes = `${picture.nodeCount} ${picture.nodeCount === 1 ? "node" : "nodes"}`;
      const sum = `${nodes}, ${picture.departureCount} going away, ${waits}`;
      if (sum !== this.#sum) this.#print(this.#colours.dim(`  ${sum}`));
      this.#sum = sum;
      cancel = this.#clock.after(sumEveryMs, next);
    };
    cancel = this.#clock.after(sumEveryMs, next);
    return () => cancel();
  }

  #tellIfItLasts(refusal: Refusal, line: AccountLine): void {
    const key = keyOf(refusal);
    this.#waits.set(key, line);
    this.#clock.after(patienceMs, () => {
      if (this.#waits.get(key) === line) this.#tell(line);
    });
  }

  #tell({ tone, object, message }: AccountLine): void {
    const isOfLife = tone === "comes" || tone === "goes";
    if (isOfLife && this.#told.has(`${object} ${message}`)) return;
    if (isOfLife) this.#told.add(`${object} ${message}`);
    const key = `${tone} ${message}`;
    const group = this.#groupByKey.get(key) ?? { tone, message, objects: new Set() };
    group.objects.add(object);
    this.#groupByKey.set(key, group);
    if (this.#groupByKey.size === 1 && group.objects.size === 1) this.#clock.after(togetherMs, () => this.#flush());
  }

  #flush(): void {
    const groups = [...this.#groupByKey.values()];
    this.#groupByKey.clear();
    const { green, yellow, red, magenta, dim } = this.#colours;
    const paint = { comes: green, goes: magenta, held: yellow, failed: red, plain: dim };
    const mark = { comes: "+", goes: "-", held: "…", failed: "!", plain: " " };
    for (const { tone, message, objects } of groups) {
      this.#print(`${paint[tone](`${mark[tone]} ${namesOf([...objects])}`)}: ${message}`);
    }
  }

  #print(text: string): void {
    this.#io.out(`${this.#colours.dim(this.#timeOf(this.#clock.now()))}  ${this.#inTimesOfTheStory(text)}\n`);
  }

  #inTimesOfTheStory(text: string): string {
    return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, time => {
      const at = parseTime(time);
      return at.ok ? this.#timeOf(at.value) : time;
    });
  }

  #timeOf(at: Instant): string {
    // Times in objects are whole seconds: one that was written at the start is not before it.
    return elapsed(Math.max(0, at - this.#startedAt));
  }

  get #colours() {
    return pc.createColors(this.#io.colour);
  }
}

function keyOf({ subject, code }: Refusal): string {
  return `${subject} ${code}`;
}

function namesOf(objects: readonly string[]): string {
  const more = objects.length - namedMax;
  return more <= 1 ? objects.join(", ") : `${objects.slice(0, namedMax).join(", ")} and ${more} more`;
}
