// The one form of a sysctl's name: segments parted by dots. Users may part them by slashes, as files below /proc/sys are;
// then a dot belongs to a segment (net/ipv4/conf/eno2.100/rp_filter), and becomes a slash (sysctl.d(5)).
export function sysctlName(name: string): string {
  return /[./]/.exec(name)?.[0] === "/"
    ? name.replace(/[./]/g, (separator) => (separator === "." ? "/" : "."))
    : name;
}
