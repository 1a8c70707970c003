// The booleans of the managers' policy options, with the texts that the reference takes.
const booleans: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ "0": false, f: false, F: false, false: false, FALSE: false },
  False: false,
};

/** @throws Error that names the option; its text is the reference's */
export function policyBoolean(option: string, text: string): boolean {
  const value = Object.hasOwn(booleans, text) ? booleans[text] : undefined;
  if (value === undefined)
    throw new Error(
      `bad value for option "${option}": strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return value;
}
