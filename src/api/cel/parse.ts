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

/** Where the server says an expression is: at its operator, dot or bracket, else at its beginning. */
export function placeOf(ast: Ast): number {
  const { input } = ast;
  switch (ast.op) {
    case "value":
    case "id":
    case "list":
    case "map":
    case "!_":
    case "-_":
      return ast.start;
    case ".":
    case ".?":
      return input.indexOf(".", ast.args[0].end);
    case "[]":
    case "[?]":
      return input.indexOf("[", ast.args[0].end);
    case "call":
      return input.indexOf("(", ast.start);
    case "rcall":
      return input.indexOf("(", input.indexOf(ast.args[0], ast.args[1].end));
    case "?:":
      return input.indexOf("?", ast.args[0].end);
    default:
      return input.indexOf(ast.op, ast.args[0].end);
  }
}

/** "a.b.c" of a chain of plain selections, which may also name a type or a function. */
export function dotted(ast: Ast): string | undefined {
  if (ast.op === "id") return ast.args;
  if (ast.op !== ".") return undefined;
  const [operand, field] = ast.args;
  const head = dotted(operand);
  return head === undefined ? undefined : `${head}.${field}`;
}

export function partsOf(ast: Ast): readonly Ast[] {
  switch (ast.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [ast.args[0]];
    case "call":
      return ast.args[1];
    case "rcall":
      return [ast.args[1], ...ast.args[2]];
    case "map":
      return ast.args.flat();
    case "!_":
    case "-_":
      return [ast.args];
    default:
      return ast.args;
  }
}
