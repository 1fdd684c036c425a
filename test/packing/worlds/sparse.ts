// Records of which each field is there only now and then, so that a world has many different troubles and not all of
// them at once.

import fc, { type Arbitrary } from "fast-check";

type Fields = Readonly<Record<string, Arbitrary<unknown>>>;

type Sparse<F extends Fields> = { [K in keyof F]?: F[K] extends Arbitrary<infer T> ? T : never };

/** Each field is there once in `every` times. */
export function sparse<F extends Fields>(every: number, fields: F): Arbitrary<Sparse<F>> {
  const parts = Object.entries(fields).map(([name, field]) =>
    fc.oneof(
      { weight: every - 1, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: field.map(value => ({ [name]: value })) },
    ),
  );
  return fc.tuple(...parts).map(records => Object.assign({}, ...records) as Sparse<F>);
}
