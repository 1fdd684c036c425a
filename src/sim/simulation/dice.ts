// Chance as the makers of random worlds ask for it.

import { seededRandom } from "../random.ts";

export type Dice = {
  /** From least to most, both included. */
  whole(least: number, most: number): number;
  one<T>(choices: readonly T[]): T;
  /** True in so many of a hundred cases. */
  isLucky(percent: number): boolean;
};

export function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  return {
    whole: (least, most) => least + (random() % (most - least + 1)),
    // Nobody asks for one of nothing.
    one: choices => choices[random() % choices.length] as (typeof choices)[number],
    isLucky: percent => random() % 100 < percent,
  };
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
