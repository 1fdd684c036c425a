import { X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { serverCertificate } from "./certificate.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const made = serverCertificate(now);
const ca = new X509Certificate(made.ca);
const cert = new X509Certificate(made.cert);

test("the server's certificate is signed by the authority, and the authority by itself", () => {
  expect(cert.verify(ca.publicKey)).toBe(true);
  expect(cert.checkIssued(ca)).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(ca.ca).toBe(true);
  expect(cert.ca).toBe(false);
});

test("it names the loopback in each of its spellings and nothing else", () => {
  expect(cert.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
  expect(cert.checkHost("localhost")).toBe("localhost");
  expect(cert.checkHost("example.org")).toBeUndefined();
  expect(cert.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(cert.checkIP("10.0.0.1")).toBeUndefined();
});

test("it holds from a day before now for a year", () => {
  expect(Date.parse(cert.validFrom)).toBe(Date.parse("2026-11-14T12:00:00Z"));
  expect(Date.parse(cert.validTo)).toBe(Date.parse("2027-11-15T12:00:00Z"));
});

test("after 2049 the years are written with four digits", () => {
  const late = new X509Certificate(serverCertificate(Date.parse("2049-06-01T00:00:00Z")).cert);
  expect(Date.parse(late.validTo)).toBe(Date.parse("2050-06-01T00:00:00Z"));
});

test("two runs share neither keys nor serial numbers", () => {
  const other = new X509Certificate(serverCertificate(now).cert);
  expect(other.serialNumber).not.toBe(cert.serialNumber);
  expect(other.verify(ca.publicKey)).toBe(false);
});

test("a TLS client that trusts the authority trusts the server", async () => {
  // TLS judges the dates by the machine's own clock.
  const made = serverCertificate(Date.now());
  const server = createServer({ cert: made.cert, key: made.key }).listen(0, "127.0.0.1");
  await new Promise(resolve => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const client = connect({ port, host: "127.0.0.1", ca: made.ca, servername: "localhost" }, () => resolve(client));
    client.once("error", reject);
  });
  expect(socket.authorized).toBe(true);
  socket.destroy();
  await new Promise(resolve => server.close(resolve));
});
