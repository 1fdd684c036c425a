// Numbers for texts: the values of labels, the names of hosts. 0 stands for no text at all.

export class Texts {
  readonly #texts: string[] = [""];
  readonly #idByText = new Map<string, number>();

  id(text: string | undefined): number {
    if (text === undefined) return 0;
    let id = this.#idByText.get(text);
    if (id === undefined) {
      id = this.#texts.push(text) - 1;
      this.#idByText.set(text, id);
    }
    return id;
  }

  /** The number of a text that nobody has: the name of a node that does not exist yet. */
  fresh(): number {
    return this.#texts.push("") - 1;
  }

  text(id: number): string {
    return this.#texts[id] ?? "";
  }
}
