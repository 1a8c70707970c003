import {
  LinkRewriter,
  proxiedLink,
  type ProxyPlace,
} from "../../../../apiserver-lite/proxy/links.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const place: ProxyPlace = {
  prefix: "/api/v1/namespaces/ns/pods/p:80/proxy",
  backendHost: "10.0.0.7:80",
  requestHost: "localhost:8001",
};

it.each([
  ["/a", "/api/v1/namespaces/ns/pods/p:80/proxy/a"],
  ["/a/b/?x=/y#/z", "/api/v1/namespaces/ns/pods/p:80/proxy/a/b/?x=/y#/z"],
  ["/a//b", "/api/v1/namespaces/ns/pods/p:80/proxy/a/b"],
  ["http://10.0.0.7:80/a", "/api/v1/namespaces/ns/pods/p:80/proxy/a"],
  ["//10.0.0.7:80/a", "/api/v1/namespaces/ns/pods/p:80/proxy/a"],
  [
    "http://localhost:8001/a",
    "http://localhost:8001/api/v1/namespaces/ns/pods/p:80/proxy/a",
  ],
  [
    "/api/v1/namespaces/ns/pods/p:80/proxy/a",
    "/api/v1/namespaces/ns/pods/p:80/proxy/a",
  ],
  ["a/b", "a/b"],
  ["", ""],
  ["#top", "#top"],
  ["mailto:a@b", "mailto:a@b"],
  ["javascript:/x/", "javascript:/x/"],
  ["https://elsewhere.example/a", "https://elsewhere.example/a"],
])("leads %s through the proxy", (link, expected) => {
  expect(proxiedLink(link, place)).toBe(expected);
});

const pages: [string, string, string][] = [
  ["a link", '<a href="/x">t</a>', '<a href="[/x]">t</a>'],
  ["other quotes", "<A class=x HREF='/x'>", "<A class=x HREF='[/x]'>"],
  ["no quotes", "<img src=/x alt=/y>", '<img src="[/x]" alt=/y>'],
  [
    "several",
    '<img longdesc="/a" src = "/b"/>',
    '<img longdesc="[/a]" src = "[/b]"/>',
  ],
  [
    "other attributes",
    '<a title="/x" data-href="/y">',
    '<a title="/x" data-href="/y">',
  ],
  [
    "signs in values",
    '<a title="a>b" href="/x">',
    '<a title="a>b" href="[/x]">',
  ],
  ["a comment", '<!-- <a href="/x"> -->', '<!-- <a href="/x"> -->'],
  [
    "a script's text",
    '<script src="/s">if (a<b) w(\'<a href="/x">\')</script><a href="/y">',
    '<script src="[/s]">if (a<b) w(\'<a href="/x">\')</script><a href="[/y]">',
  ],
  ["no markup", "1 < 2 <3 <", "1 < 2 <3 <"],
  ["markup without an end", '<a href="/x', '<a href="/x'],
  ["a title", '<title><a href="/x"></title>', '<title><a href="/x"></title>'],
];

describe.each(pages)("in a page with %s", (_, page, expected) => {
  it.each([1, 3, 1000])("in pieces of %i", (size) => {
    const links = new LinkRewriter((link) => `[${link}]`);
    let text = "";
    for (let at = 0; at < page.length; at += size)
      text += links.push(page.slice(at, at + size));
    expect(text + links.end()).toBe(expected);
  });
});

it("takes one pass over a page that never ends its markup", () => {
  const links = new LinkRewriter((link) => link);
  const piece = "<a<".repeat(30_000);
  let taken = 0;
  for (let i = 0; i < 20; i++) taken += links.push(piece).length;
  taken += links.end().length;
  expect(taken).toBe(20 * piece.length);
});

describe("hostile pages", () => {
  const through = (pieces: readonly string[]): string => {
    const links = new LinkRewriter((link) => proxiedLink(link, place));
    return pieces.map((piece) => links.push(piece)).join("") + links.end();
  };
  const piecesOf = (text: string, length: number): string[] =>
    Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
      text.slice(at * length, (at + 1) * length),
    );

  it.each([
    ["one long attribute name", `<a ${"x".repeat(64_000)}>`.repeat(4), 65_536],
    ["many text elements", "<title>x</title>".repeat(16_384), 262_144],
    [
      "a text element that never ends",
      `<title>${"</titlx".repeat(40_000)}`,
      4096,
    ],
    ["a tag that never ends, in small pieces", `<a ${"b ".repeat(32_000)}`, 16],
    ["a comment that never ends", `<!--${"--".repeat(32_000)}`, 16],
    ["quotes that never end", `<a ${`x='"' `.repeat(12_000)}`, 64],
    ["blanks before an equals sign", `<a x${" ".repeat(64_000)}y>`, 65_536],
    ["tags that begin again and again", "<a ".repeat(20_000), 1024],
  ])("%s: the time is bound by the length", (_what, page, length) => {
    const pieces = piecesOf(page, length);
    let shown = "";
    expect(cpuMsOf(() => (shown = through(pieces)))).toBeLessThan(300);
    expect(shown).toBe(page);
  });

  it("is read the same in pieces of any length", () => {
    const page =
      '<!DOCTYPE html><HTML manifest=/m><!-- <a href="/no"> --><Title></titl</TITLE ><a  HREF = "/a>b" x=\'"\'>1 < 2</a></><script src=/s.js>"<a href=/no>"</ScRipt><img src=\'/i\' longdesc=\'\'><p don\'t="/x">';
    const whole = through([page]);
    expect(whole).toContain(`${place.prefix}/a>b`);
    expect(whole).toContain(`${place.prefix}/s.js`);
    expect(whole).toContain(`${place.prefix}/i`);
    expect(whole).not.toContain(`${place.prefix}/no`);
    for (let length = 1; length < page.length; length++)
      expect(through(piecesOf(page, length))).toBe(whole);
  });
});
