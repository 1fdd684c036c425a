// The one place that knows the CEL library: it gives us the syntax tree of an expression. Checking and evaluation are
// our own (check.ts), because the API server's types, libraries and messages go beyond what the library can be told.

import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";

export type Ast = ASTNode;

const environment = new Environment({
  enableOptionalTypes: true,
  // The server bounds the length of an expression only by the size of a request.
  limits: { maxAstNodes: 100_000, maxDepth: 250, maxListElements: 10_000, maxMapEntries: 10_000, maxCallArguments: 32 },
});

/** The tree, or what is wrong and where; the words of a syntax error are the library's, not the server's. */
export function parse(source: string): Ast | { at: number; message: string } {
  try {
    return environment.parse(source).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { at: error.range?.start ?? 0, message: `Syntax error: ${error.summary}` };
  }
}
