// Which single object a list or watch is for, as authorization and audit see it, and what of a path is passed on.
import { parseRequest } from "../../../../apiserver-lite/request/request-info.ts";

const secrets = "/api/v1/namespaces/ns/secrets";

it.each<[string, string, string, string, string]>([
  ["GET", secrets, "fieldSelector=metadata.name%3Ds1", "list", "s1"],
  ["GET", secrets, "fieldSelector=metadata.name==s1", "list", "s1"],
  ["GET", secrets, "watch=1&fieldSelector=metadata.name%3Ds1", "watch", "s1"],
  [
    "GET",
    secrets,
    "fieldSelector=type%3DOpaque%2Cmetadata.name%3Ds1",
    "list",
    "s1",
  ],
  ["GET", secrets, "fieldSelector=metadata.name!%3Ds1", "list", ""],
  ["GET", secrets, "fieldSelector=metadata.namespace%3Ds1", "list", ""],
  ["GET", secrets, "fieldSelector=metadata.name%3D", "list", ""],
  // The first of two is what the list reads, too.
  [
    "GET",
    secrets,
    "fieldSelector=metadata.name%3Ds1&fieldSelector=metadata.name%3Ds2",
    "list",
    "s1",
  ],
  [
    "GET",
    secrets,
    "fieldSelector=&fieldSelector=metadata.name%3Ds2",
    "list",
    "",
  ],
  // No object can have these names; a path could not ask for them either.
  ["GET", secrets, "fieldSelector=metadata.name%3Da/b", "list", ""],
  ["GET", secrets, "fieldSelector=metadata.name%3D..", "list", ""],
  ["GET", secrets, "fieldSelector=metadata.name%3Da%2525", "list", ""],
  ["GET", secrets, "fieldSelector=metadata.name%3Da%5Cb", "list", ""],
  [
    "GET",
    secrets,
    `fieldSelector=metadata.name%3D${"a".repeat(5000)}`,
    "list",
    "",
  ],
  ["GET", `${secrets}/s2`, "fieldSelector=metadata.name%3Ds1", "get", "s2"],
  // As in the reference: never for deletes of many, nor for paths of the old form.
  [
    "DELETE",
    secrets,
    "fieldSelector=metadata.name%3Ds1",
    "deletecollection",
    "",
  ],
  [
    "GET",
    "/api/v1/watch/namespaces/ns/secrets",
    "fieldSelector=metadata.name%3Ds1",
    "watch",
    "",
  ],
  ["POST", secrets, "fieldSelector=metadata.name%3Ds1", "create", ""],
])("%s %s?%s is %s of %j", (method, path, query, verb, objectName) => {
  const info = parseRequest(method, path, new URLSearchParams(query));
  expect([info.verb, info.objectName]).toEqual([verb, objectName]);
});

it.each([
  ["/api/v1/nodes/n/proxy", ""],
  ["/api/v1/nodes/n/proxy/", "/"],
  ["/api/v1/nodes/n/proxy/a/b", "/a/b"],
  ["/api/v1/nodes/n/proxy//a//b/", "//a//b/"],
  ["/api/v1/nodes/n/proxy/a%2fb%20c", "/a%2fb%20c"],
  // Slashes that are encoded end a part, too: nothing of what was named gets lost or is passed on twice.
  ["/api/v1/nodes/n%2Fproxy/secret/x", "/secret/x"],
  ["/api/v1/nodes%2fn%2fproxy%2fsecret/x", "/secret/x"],
  ["/api/v1/nodes/n/proxy%2fa/b", "/a/b"],
  ["/api/v1/namespaces/ns%2Fpods%2Fp/proxy/x", "/x"],
  ["/api/v1/namespaces/ns/pods/p%252f/proxy/x", "/x"],
])("of %s the proxied part is %j", (path, rest) => {
  expect(parseRequest("GET", path, new URLSearchParams()).rest).toBe(rest);
});
