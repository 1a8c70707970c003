// Names of signers.
import type { FieldError } from "../../api/errors.ts";
import { fieldErrors } from "../../api/field-errors.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../api/names.ts";

/** `example.com/name`: both parts are made of labels. */
export function signerProblems(field: string, name: string): FieldError[] {
  if (name === "") return [fieldErrors.required(field)];
  const [domain = "", path, ...more] = name.split("/");
  if (path === undefined || more.length > 0)
    return [
      fieldErrors.invalid(
        field,
        name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ];
  const each = (
    part: string,
    check: (label: string) => string[],
  ): FieldError[] =>
    part
      .split(".")
      .flatMap((label) =>
        check(label).map((problem) =>
          fieldErrors.invalid(
            field,
            part,
            `validating label ${JSON.stringify(label)}: ${problem}`,
          ),
        ),
      );
  return [
    ...each(domain, dnsLabelProblems),
    ...(domain.split(".").length < 2
      ? [
          fieldErrors.invalid(
            field,
            domain,
            "should be a domain with at least two segments separated by dots",
          ),
        ]
      : []),
    ...each(path, dnsSubdomainProblems),
  ];
}
