// The manifests that we show people: good ones are good, refused ones are refused.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { checkManifest } from "../src/api/check.ts";

const folder = join(import.meta.dirname, "../examples");
const examples = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(path => path.endsWith(".yaml"));

describe("examples", () => {
  test.each(examples)("%s", path => {
    const { findings } = checkManifest(parse(readFileSync(join(folder, path), "utf8")));
    const errors = findings.filter(({ severity }) => severity === "error");
    if (path.startsWith("refused")) expect(errors).not.toEqual([]);
    else expect(findings).toEqual([]);
  });
});
