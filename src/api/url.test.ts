import { describe, expect, test } from "vitest";
import { escapedPath, type GoUrl, hostnameOf, parseUrl, portOf, queryValues, requestUriError } from "./url.ts";

const url = (text: string): GoUrl => {
  const parsed = parseUrl(text);
  return typeof parsed === "string" ? expect.fail(parsed) : parsed;
};

test.each(["http://a", "/absolute", "mailto:x@y", "http://a/%20", "http://[::1]:80/", "xyz://h", "http://é/"])(
  "%s is a request URI",
  text => {
    expect(requestUriError(text)).toBeUndefined();
  },
);

test.each([
  ["", "empty url"],
  ["relative", "invalid URI for request"],
  ["../x", "invalid URI for request"],
  [":x", "missing protocol scheme"],
  ["http://a b/", 'invalid character " " in host name'],
  ["http://h:port/", 'invalid port ":port" after host'],
  ["http://a/%zz", 'invalid URL escape "%zz"'],
  ["http://[::1/", "missing ']' in host"],
  ["http://a\n", "net/url: invalid control character in URL"],
])("%j is none: %s", (text, complaint) => {
  expect(requestUriError(text)).toContain(complaint);
});

describe("its parts", () => {
  const full = url("HTTPS://user:pw@example.com:8080/a%20b?k=1&k=2&x=y+z#frag");

  test("are the scheme in lower case, the host without the user, and no fragment", () => {
    expect(full).toEqual({ scheme: "https", host: "example.com:8080", path: "/a%20b", query: "k=1&k=2&x=y+z" });
    expect([hostnameOf(full), portOf(full)]).toEqual(["example.com", "8080"]);
    expect(hostnameOf(url("http://[::1]:80/"))).toBe("::1");
  });

  test("keep a path that is encoded and encode one that is not", () => {
    expect(escapedPath(full)).toBe("/a%20b");
    expect(escapedPath(url("http://a/b c"))).toBe("/b%20c");
  });

  test("have a query by name, unreadable pairs left out", () => {
    expect([...queryValues(full)]).toEqual([
      ["k", ["1", "2"]],
      ["x", ["y z"]],
    ]);
    expect(queryValues(url("http://a/?%zz=1&b;c=2&d")).get("d")).toEqual([""]);
    expect(queryValues(url("http://a/?%zz=1&b;c=2&d")).size).toBe(1);
  });
});
