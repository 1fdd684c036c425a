import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, PatternError } from "./pattern.ts";

const matches = (pattern: string, text: string): boolean => compilePattern(pattern).test(text);

describe("a pattern means what it means to Go", () => {
  test.each<[string, string, boolean]>([
    ["^a.b$", "a\u2028b", true],
    ["^a.b$", "a\nb", false],
    ["(?s)^a.b$", "a\nb", true],
    ["^\\s$", "\u00a0", false],
    ["^\\s$", "\v", false],
    ["^\\w+$", "é", false],
    ["^.$", "😀", true],
    ["a$", "a\n", false],
    ["(?m)a$", "a\nb", true],
    ["(?m)^b", "a\nb", true],
    ["(?i)straße", "STRAßE", true],
    ["(?i:a)b", "Ab", true],
    ["(?i:a)b", "AB", false],
    ["a(?i)b", "aB", true],
    ["(a(?i)b)c", "aBC", false],
    ["(?i)^[k-m]$", "\u212a", true],
    ["(?U)^a+", "aaa", true],
    ["^[[:alpha:]_-]+$", "a_-", true],
    ["^[[:^alpha:]]$", "a", false],
    ["^[^\\d\\D]$", "a", false],
    ["^\\pL\\p{Lu}\\P{Greek}$", "éÄa", true],
    ["^\\p{^Greek}$", "α", false],
    ["\\Qa.b*\\E", "a.b*", true],
    ["\\Qa.b", "aXb", false],
    ["^\\x{1F600}\\x41\\101$", "😀AA", true],
    ["^a{2}$", "aa", true],
    ["^a{,2}$", "a{,2}", true],
    ["^a{x}$", "a{x}", true],
    ["^[]a]$", "]", true],
    ["^[a-]$", "-", true],
    ["(?P<x>a)(?<y>b)", "ab", true],
    ["\\Aab\\z", "ab", true],
    ["^(|a)$", "", true],
    ["\\bfoo\\b", "a foo b", true],
    ["^\\-\\/$", "-/", true],
  ])("%s on %j: %s", (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  test("a lazy and a greedy quantifier swap under (?U)", () => {
    expect(compilePattern("(?U)a+").exec("aaa")?.[0]).toBe("a");
    expect(compilePattern("(?U)a+?").exec("aaa")?.[0]).toBe("aaa");
  });

  test("plain text matches itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), text => {
        expect(matches(`^\\Q${text.replaceAll("\\E", "")}\\E$`, text.replaceAll("\\E", ""))).toBe(true);
      }),
    );
  });
});

describe("what Go refuses is refused, in its words", () => {
  test.each([
    ["a(?=b)", "invalid or unsupported Perl syntax: `(?=`"],
    ["a(?!b)", "invalid or unsupported Perl syntax: `(?!`"],
    ["(?<=a)b", "invalid named capture: `(?<=a)b`"],
    ["(?P<a b>c)", "invalid named capture: `(?P<a b>`"],
    ["(a)\\1", "invalid escape sequence: `\\1`"],
    ["\\y", "invalid escape sequence: `\\y`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["a+*", "invalid nested repetition operator: `+*`"],
    ["*a", "missing argument to repetition operator: `*`"],
    ["a|*", "missing argument to repetition operator: `*`"],
    ["(?i)*", "missing argument to repetition operator: `*`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["a{2,1}", "invalid repeat count: `{2,1}`"],
    ["(a", "missing closing ): `(a`"],
    ["a)", "unexpected ): `a)`"],
    ["[a", "missing closing ]: `[a`"],
    ["[z-a]", "invalid character class range: `z-a`"],
    ["[[:nope:]]", "invalid character class range: `[:nope:]`"],
    ["\\p{Nope}", "invalid character class range: `\\p{Nope}`"],
    ["a\\", "trailing backslash at end of expression: ``"],
  ])("%s", (pattern, complaint) => {
    expect(() => compilePattern(pattern)).toThrow(new PatternError(`error parsing regexp: ${complaint}`));
  });
});
