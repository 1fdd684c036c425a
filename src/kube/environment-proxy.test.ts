import { describe, expect, test } from "vitest";
import { environmentProxy } from "./environment-proxy.ts";

const proxy = "http://proxy.corp:3128";
const server = "https://api.prod.example.com:6443";

describe("the proxy that the environment names", () => {
  test.each([
    ["for https", server, { HTTPS_PROXY: proxy }, proxy],
    ["in small letters", server, { https_proxy: proxy }, proxy],
    ["the capital one first", server, { HTTPS_PROXY: proxy, https_proxy: "http://other:1" }, proxy],
    ["not that of http", server, { HTTP_PROXY: proxy }, undefined],
    ["for http", "http://api.example.com", { HTTP_PROXY: proxy, HTTPS_PROXY: "http://other:1" }, proxy],
    ["without a scheme", server, { HTTPS_PROXY: "proxy.corp:3128" }, proxy],
    ["an empty one is none", server, { HTTPS_PROXY: "" }, undefined],
    ["none", server, {}, undefined],
  ])("%s", (_, url, env: Record<string, string>, expected) => {
    expect(environmentProxy(url, env)).toBe(expected);
  });

  test.each([
    ["https://localhost:6443", ""],
    ["https://127.0.0.1:6443", ""],
    ["https://127.8.0.1", ""],
    ["https://[::1]:6443", ""],
    [server, "*"],
    [server, "example.com"],
    [server, ".example.com"],
    [server, "*.example.com"],
    [server, "API.prod.example.com"],
    [server, "other.org, prod.example.com"],
    [server, "example.com:6443"],
    ["https://10.96.0.1:443", "10.96.0.1"],
    ["https://10.96.0.1:443", "10.96.0.0/12"],
    ["https://[fd00::1]:443", "fd00::1"],
    ["https://[fd00::1]:443", "fd00::/8"],
    ["https://[fd00::1]:443", "[fd00::1]:443"],
    ["https://api.example.com", "api.example.com:443"],
  ])("%s is reached without it where NO_PROXY is %o", (url, exempt) => {
    expect(environmentProxy(url, { HTTPS_PROXY: proxy, NO_PROXY: exempt })).toBeUndefined();
  });

  test.each([
    [server, "ample.com"],
    [server, "prod.example.com:443"],
    [server, "10.0.0.0/8"],
    [server, ".api.prod.example.com"],
    [server, "*.api.prod.example.com"],
    ["https://10.112.0.1", "10.96.0.0/12"],
    ["https://10.96.0.1", "0.1"],
    ["https://10.96.0.1", "10.96.0.0/40"],
    ["https://[fd00::1]", "10.0.0.0/8"],
  ])("%s goes through it where NO_PROXY is %o", (url, exempt) => {
    expect(environmentProxy(url, { HTTPS_PROXY: proxy, NO_PROXY: exempt })).toBe(proxy);
  });

  test.each(["ftp://proxy", "http://", "http://proxy:port"])("%s is refused, and not repeated", written => {
    expect(() => environmentProxy(server, { HTTPS_PROXY: written })).toThrow(
      "HTTPS_PROXY is not the URL of a proxy: write http://host:port, or unset it.",
    );
  });
});
