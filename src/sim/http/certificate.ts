// The certificates of one run: an authority of our own and, signed by it, the server's for the loopback names. Made
// from node:crypto and DER alone, in memory; the private keys never reach a disk.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from "./der.ts";

export type ServerCertificate = {
  /** PEM of the authority: what a client must trust. */
  ca: string;
  cert: string;
  key: string;
};

const dayMs = 24 * 60 * 60 * 1000;
const validForMs = 365 * dayMs;
const ecdsaWithSha256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));

type Party = { name: string; keys: { publicKey: KeyObject; privateKey: KeyObject } };

/** `now` is wall time: the certificates are valid from a day before it for a year. */
export function serverCertificate(now: number): ServerCertificate {
  const authority = party("fettle cluster in the box");
  const server = party("fettle");
  const ca = certificate({ subject: authority, issuer: authority, now, extensions: authorityExtensions() });
  const cert = certificate({ subject: server, issuer: authority, now, extensions: serverExtensions() });
  return {
    ca: pem("CERTIFICATE", ca),
    cert: pem("CERTIFICATE", cert),
    key: server.keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function party(name: string): Party {
  return { name, keys: generateKeyPairSync("ec", { namedCurve: "P-256" }) };
}

function certificate(of: { subject: Party; issuer: Party; now: number; extensions: readonly Buffer[] }): Buffer {
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    ecdsaWithSha256,
    distinguishedName(of.issuer.name),
    sequence(time(of.now - dayMs), time(of.now + validForMs)),
    distinguishedName(of.subject.name),
    subjectPublicKeyInfo(of.subject),
    explicit(
      3,
      sequence(
        ...of.extensions,
        extension("2.5.29.14", octetString(keyIdentifier(of.subject))),
        extension("2.5.29.35", sequence(implicit(0, keyIdentifier(of.issuer)))),
      ),
    ),
  );
  return sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, of.issuer.keys.privateKey)));
}

// Positive and never zero, whatever the random bytes are.
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

const distinguishedName = (commonName: string): Buffer =>
  sequence(set(sequence(objectIdentifier("2.5.4.3"), utf8String(commonName))));

const subjectPublicKeyInfo = (party: Party): Buffer => party.keys.publicKey.export({ type: "spki", format: "der" });

const keyIdentifier = (party: Party): Buffer => createHash("sha1").update(subjectPublicKeyInfo(party)).digest();

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

function authorityExtensions(): Buffer[] {
  return [
    extension("2.5.29.19", sequence(boolean(true)), true), // basicConstraints: an authority
    extension("2.5.29.15", bitString(Buffer.from([0b0000_0110]), 1), true), // keyUsage: keyCertSign, cRLSign
  ];
}

function serverExtensions(): Buffer[] {
  const dnsName = (name: string) => implicit(2, Buffer.from(name));
  const ipAddress = (...bytes: number[]) => implicit(7, Buffer.from(bytes));
  const ipv6Loopback = [...Array<number>(15).fill(0), 1];
  return [
    extension("2.5.29.19", sequence(), true),
    extension("2.5.29.15", bitString(Buffer.from([0b1000_0000]), 7), true), // keyUsage: digitalSignature
    extension("2.5.29.37", sequence(objectIdentifier("1.3.6.1.5.5.7.3.1"))), // extKeyUsage: serverAuth
    extension("2.5.29.17", sequence(dnsName("localhost"), ipAddress(127, 0, 0, 1), ipAddress(...ipv6Loopback))),
  ];
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
