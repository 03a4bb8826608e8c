import { BlockList, isIPv6 } from 'node:net';

const blocked = new BlockList();
// RFC 6890: private, shared, local, reserved and test networks.
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  blocked.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  blocked.addSubnet(network, prefix, 'ipv6');

/** Whether an address lies in a network that is not public. An IPv4 address within an IPv6 address counts as that IPv4 address. */
export function isPrivateAddress(address: string): boolean {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return blocked.check(mapped, 'ipv4');
  return blocked.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
