import { asGo, goSyntax } from "../../../api/go-syntax.ts";

test.each<[string, unknown, string]>([
  ["map[string]string", undefined, "map[string]string(nil)"],
  [
    "map[string]string",
    { b: "2", a: "1" },
    'map[string]string{"a":"1", "b":"2"}',
  ],
  ["[]string", ["a", 'b"'], '[]string{"a", "b\\""}'],
  [
    "v1.LabelSelector",
    { matchExpressions: [{ key: "k", operator: "In", values: ["v"] }] },
    'v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"k", Operator:"In", Values:[]string{"v"}}}}',
  ],
  [
    "v1.OwnerReference",
    { apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true },
    'v1.OwnerReference{APIVersion:"v1", Kind:"Pod", Name:"p", UID:"u", Controller:(*bool)(0xc000000000), BlockOwnerDeletion:(*bool)(nil)}',
  ],
  [
    "apps.DeploymentStrategy",
    { type: "Other" },
    'apps.DeploymentStrategy{Type:"Other", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}',
  ],
  [
    "intstr.IntOrString",
    "5%",
    'intstr.IntOrString{Type:1, IntVal:0, StrVal:"5%"}',
  ],
  ["intstr.IntOrString", 5, 'intstr.IntOrString{Type:0, IntVal:5, StrVal:""}'],
])("%s %j", (type, value, expected) => {
  expect(goSyntax(type, value)).toBe(expected);
});

test("a pointer is shown as what it points at", () => {
  expect(String(asGo("*v1.LabelSelector", undefined))).toBe('"null"');
  expect(String(asGo("*intstr.IntOrString", 1))).toContain("IntVal:1");
});
