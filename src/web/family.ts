// A family of metrics that is read when somebody asks, and its text as Prometheus reads it. It may be long: what is read
// pauses again and again, so that nobody else waits for a scrape.

export type Sample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };

/** In between: work has been done, and there is no sample of it yet. */
export const breath = Symbol("breath");

export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labels?: readonly string[];
  /** Read when somebody asks. Each step costs little. */
  readonly samples: () => Iterable<Sample | typeof breath>;
};

/** Some ten microseconds each: a millisecond or two together. */
const stepsMax = 100;

/** `pause` lets others run. */
export async function textOf(families: readonly Family[], pause: () => Promise<void>): Promise<string> {
  // Joined piece by piece: a text of megabytes put together at the end would hold everybody up.
  const pieces: string[] = [];
  let lines: string[] = [];
  let steps = 0;
  for (const { name, help, type, samples } of families) {
    lines.push(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    for (const sample of samples()) {
      if (sample !== breath) lines.push(lineOf(name, sample));
      if (++steps % stepsMax !== 0) continue;
      pieces.push(lines.join(""));
      lines = [];
      await pause();
    }
  }
  return [...pieces, ...lines].join("");
}

function lineOf(name: string, { labels = {}, value }: Sample): string {
  const told = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${told.length === 0 ? "" : `{${told.join(",")}}`} ${value}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, character => (character === "\n" ? "\\n" : `\\${character}`));
}

/** How many there are of each key; keys hold a word for each label, parted by spaces. */
export function* tally(keys: Iterable<string>, labels: readonly string[]): Generator<Sample | typeof breath> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    yield breath;
  }
  yield* labelled(counts, labels);
}

export function* labelled(counts: Iterable<readonly [string, number]>, labels: readonly string[]): Generator<Sample> {
  for (const [key, value] of counts) {
    const words = key.split(" ");
    yield { labels: Object.fromEntries(labels.map((label, index) => [label, words[index] ?? ""])), value };
  }
}
