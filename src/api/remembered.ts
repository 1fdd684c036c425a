// What was made of a text is kept for the next time: the same few amounts, names and images stand in every object of a
// cluster. Only for what depends on the text alone.

const rememberedMax = 4096;
/** What is longer is read anew each time: anybody may write a megabyte where a duration belongs, on thousands of pods. */
const lengthMax = 256;

export function remembered<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, { result: T }>();
  return text => {
    if (text.length > lengthMax) return make(text);
    let known = made.get(text);
    if (known === undefined) {
      known = { result: make(text) };
      // All at once: which of them will be asked for again is not known.
      if (made.size >= rememberedMax) made.clear();
      made.set(text, known);
    }
    return known.result;
  };
}
