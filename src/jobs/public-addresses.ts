import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** @see IANA IPv4 and IPv6 Special-Purpose Address Registries; 168.63.129.16 is Azure's own. */
const refused4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
/** Within 2000::/3, those that stand for IPv4 addresses and for documents. */
const refused6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const refused = new BlockList()
for (const [net, prefix] of refused4) refused.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of refused6) refused.addSubnet(net, prefix, 'ipv6')
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** Whether an address belongs to the internet: not to this machine, its network, or its cloud. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !refused.check(address, 'ipv4')
  return global6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}

/** The address that a connection would go to is refused. */
export class AddressRefused extends Error {}

/** Whether the host of a URL is an address, and a refused one: sockets look up names alone. */
export function isRefusedHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) !== 0 && !isPublicAddress(host)
}

/** `lookup` for sockets: fails if a name has an address that is refused, when the connection is made. */
export const lookupPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return done(error, '')
    const bad = addresses.find(({ address }) => !isPublicAddress(address))
    if (bad !== undefined)
      return done(new AddressRefused(`${hostname} is at ${bad.address}, which is not public`), '')
    if (options.all) done(null, addresses)
    else done(null, addresses[0].address, addresses[0].family)
  })
}
