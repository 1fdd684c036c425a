// Names of a sequence. Each run has its own prefix, so that sequences share a server and never an object.

export type Names = {
  prefix: string;
  namespace: string;
};

export const sequenceLabel = "sequence";

/** "a" → the name of that object in this run. */
export function fullName({ prefix }: Names, name: string): string {
  return `${prefix}-${name}`;
}

/** Numbered, so that two servers sort what they name by chance in the same order. */
export const generateBase = ({ prefix }: Names, number: number) => `${prefix}-g${number}-`;
export const generatedName = ({ prefix }: Names) => new RegExp(`${prefix}-g\\d+-[bcdfghjklmnpqrstvwxz2456789]{5}`, "g");
export const endMarker = "zz-end";
