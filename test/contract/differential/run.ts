// Runs one sequence on two servers, operation by operation, and says where they first disagree.

import { type Difference, firstDifference } from "./difference.ts";
import type { Names } from "./names.ts";
import { Normaliser } from "./normalise.ts";
import type { Json, Sequence } from "./operation.ts";
import type { HttpApi, Request } from "./server.ts";
import { Side } from "./side.ts";

export type Servers = { real: HttpApi; box: HttpApi };

export type Disagreement = Difference & {
  /** Which operation, from 0; the number of operations when a watch disagrees. */
  at: number;
  request: Request;
  saidByReal: Json;
  saidByBox: Json;
};

type Said = { request: Request; said: Json };

export async function disagreement(
  servers: Servers,
  names: Names,
  { operations }: Sequence,
): Promise<Disagreement | undefined> {
  const sides = [new Side(servers.real, names), new Side(servers.box, names)] as const;
  const normalisers = [new Normaliser(names), new Normaliser(names)] as const;
  await both(index => sides[index].begin());
  try {
    for (const [at, operation] of operations.entries()) {
      const [real, box] = await both(async index => {
        const exchanges = await sides[index].run(operation);
        return exchanges.map(one => ({ request: one.request, said: normalisers[index].exchange(one) }));
      });
      const found = compare(real, box);
      if (found !== undefined) return { at, ...found };
    }
    const [real, box] = await both(async index => {
      const records = await sides[index].end();
      return records.map(one => ({ request: one.request, said: normalisers[index].watch(one) }));
    });
    const found = compare(real, box);
    return found && { at: operations.length, ...found };
  } finally {
    await both(index => sides[index].cleanUp(operations.map(({ subject }) => subject)));
  }
}

async function both<T>(of: (index: 0 | 1) => Promise<T>): Promise<[T, T]> {
  return Promise.all([of(0), of(1)]);
}

function compare(real: readonly Said[], box: readonly Said[]): Omit<Disagreement, "at"> | undefined {
  for (let index = 0; index < Math.max(real.length, box.length); index++) {
    const [one, other] = [real[index], box[index]];
    const found = firstDifference(one?.said, other?.said);
    if (found === undefined) continue;
    // One of the two exists: the loop ends with the longer list.
    const { request } = (one ?? other)!;
    return { ...found, request, saidByReal: one?.said ?? null, saidByBox: other?.said ?? null };
  }
  return undefined;
}

/** For a person who has to find out which of the two is wrong. */
export function described({ at, request, path, real, box, saidByReal, saidByBox }: Disagreement): string {
  const line = (value: unknown) => JSON.stringify(value) ?? "nothing";
  return [
    `operation ${at}: ${request.method} ${request.path} ${line(request.query)}`,
    ...(request.body === undefined ? [] : [`  body: ${line(request.body)}`]),
    `  differs at ${path}`,
    `    real: ${line(real)}`,
    `    box:  ${line(box)}`,
    `  real said: ${line(saidByReal)}`,
    `  box said:  ${line(saidByBox)}`,
  ].join("\n");
}
