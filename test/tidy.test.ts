// The rules of the house that a machine can hold. Each message names what to do instead.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root })
  .toString()
  .split("\n")
  .filter(path => path !== "" && existsSync(join(root, path)));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const product = tracked.filter(path => /^src\/.*\.ts$/.test(path) && !path.endsWith(".test.ts"));

type Ban = { what: RegExp; instead: string; allowedIn: RegExp };

/** A comment may name what the code may not use. */
const withoutComment = (line: string) => line.replace(/(^|\s)(\/\/|\*|\/\*\*).*$/, "");

const bans: Ban[] = [
  { what: /\bDate\.now\(/, instead: "take an instant or a Clock", allowedIn: /^src\/(cli|kube)\// },
  { what: /\bnew Date\(\)/, instead: "take an instant or a Clock", allowedIn: /^src\/(cli|kube)\// },
  { what: /\bperformance\.now\(/, instead: "take a Clock (monotonic)", allowedIn: /^src\/(cli|kube)\// },
  { what: /\b(setTimeout|setInterval)\(/, instead: "use Clock.after", allowedIn: /^src\/(cli|kube)\// },
  { what: /\bMath\.random\(/, instead: "take a source of randomness", allowedIn: /^src\/(cli|kube)\// },
  {
    what: /\bprocess\.(env|argv|exit|stdout|stderr|stdin)\b/,
    instead: "use Io (src/cli/io.ts)",
    allowedIn: /^src\/cli\//,
  },
  { what: /\bconsole\./, instead: "return a value, or write through Io", allowedIn: /^$/ },
  { what: /@ts-(ignore|nocheck|expect-error)/, instead: "fix the type", allowedIn: /^$/ },
  { what: /\bas any\b|: any\b|<any>/, instead: "use unknown and narrow it", allowedIn: /^$/ },
];

describe("product code", () => {
  test.each(bans)("has no $what: $instead", ({ what, instead, allowedIn }) => {
    const found = product
      .filter(path => !allowedIn.test(path))
      .flatMap(path =>
        read(path)
          .split("\n")
          .flatMap((line, index) => (what.test(withoutComment(line)) ? [`${path}:${index + 1}: ${instead}`] : [])),
      );
    expect(found).toEqual([]);
  });

  test("leaves nothing open in a comment: do it, or file an issue", () => {
    expect(product.filter(path => /\b(TODO|FIXME|XXX|HACK)\b/.test(read(path)))).toEqual([]);
  });

  test("has no drawer for leftovers: a function lives with the concept it serves", () => {
    expect(tracked.filter(path => /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/.test(path))).toEqual([]);
  });

  test("has no file longer than a reader holds in the head", () => {
    const long = product.map(path => [path, read(path).split("\n").length] as const).filter(([, lines]) => lines > 450);
    expect(long).toEqual([]);
  });

  test("says at the head of each module what it is for", () => {
    expect(product.filter(path => !read(path).startsWith("//"))).toEqual([]);
  });
});

describe("documents", () => {
  const pages = tracked.filter(path => path.endsWith(".md"));

  test("link only to what exists", () => {
    const dead = pages.flatMap(page =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].flatMap(([, target]) => {
        const path = normalize(join(dirname(page), target ?? ""));
        return existsSync(join(root, path)) ? [] : [`${page} → ${target}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  test("record each decision with its context, its choice and its price, numbered without a gap", () => {
    const records = tracked.filter(path => path.startsWith("docs/decisions/")).sort();
    expect(records.map(path => Number(path.slice("docs/decisions/".length, "docs/decisions/".length + 4)))).toEqual(
      records.map((_, index) => index + 1),
    );
    const incomplete = records.filter(
      path => !/\*\*Context\.\*\*[^]*\*\*Choice\.\*\*[^]*\*\*Price\.\*\*/.test(read(path)),
    );
    expect(incomplete).toEqual([]);
  });

  test("show the two commands that do everything on a fresh machine", () => {
    const readme = read("README.md");
    expect(readme).toContain("npm ci && npm start");
    expect(readme).toContain("npm ci && npm test");
  });
});

test("the lockfile names no registry host", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved":/);
});
